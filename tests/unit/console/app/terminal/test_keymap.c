/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/app/terminal/keymap.h"
#include "console/app/terminal/keymap_scripts.h"
#include "views/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Where the same key is meant to do what is nearer there: save the plan instead of the screen, more
 * time for the update instead of faster polls.  The nearer row comes first. */
static bool meant(const struct binding *later, const struct binding *first)
{
	return !later->views && (first->req == REQ_PLAN_SAVE || first->req == REQ_APPLY_EXTEND);
}

static bool overlap(const struct binding *a, const struct binding *b)
{
	if (meant(a, b))
		return false;
	return !a->views || !b->views || (a->views & b->views);
}

static void no_key_means_two_things_in_one_view(void **state)
{
	size_t n;
	const struct binding *b = keymap_all(&n);

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			for (int x = 0; overlap(&b[i], &b[j]) && x < BINDING_KEYS; x++)
				for (int y = 0; b[i].keys[x] && y < BINDING_KEYS; y++)
					if (b[i].keys[x] == b[j].keys[y])
						fail_msg("key %u: \"%s\" and \"%s\"", b[i].keys[x],
							 b[i].help, b[j].help);
}

static void every_key_that_works_is_in_the_help(void **state)
{
	size_t n;
	const struct binding *b = keymap_all(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		assert_int_not_equal(b[i].keys[0], K_NONE);
		assert_true(b[i].help && b[i].shown && strlen(b[i].help) > 1);
	}
}

static void keys_that_change_the_fabric_need_rw(void **state)
{
	static const struct {
		uint32_t key;
		enum view_id view;
	} rw[] = { { 'A', VIEW_PREVIEW },
		   { 'R', VIEW_APPLY },
		   { 'Y', VIEW_APPLY },
		   { 'x', VIEW_APPLY },
		   { K_ENTER, VIEW_APPLY } };
	struct input in;

	(void)state;
	for (size_t i = 0; i < sizeof(rw) / sizeof(rw[0]); i++) {
		keymap_translate(&in, rw[i].key, rw[i].view, false, false);
		assert_true(in.refused_ro);
		keymap_translate(&in, rw[i].key, rw[i].view, false, true);
		assert_false(in.refused_ro);
		assert_int_not_equal(in.req, REQ_NONE);
		/* and mean nothing of the kind elsewhere */
		keymap_translate(&in, rw[i].key, VIEW_EVENTS, false, true);
		assert_true(in.req != REQ_ROLLBACK_ASK && in.req != REQ_YES &&
			    in.req != REQ_APPLY_PREPARE && in.req != REQ_APPLY_CLOSE);
	}
}

static void while_typing_keys_are_text(void **state)
{
	struct input in;

	(void)state;
	keymap_translate(&in, 'q', VIEW_LINKS, true, true);
	assert_int_equal(in.req, REQ_CHAR);
	assert_int_equal(in.ch, 'q');
	keymap_translate(&in, '3', VIEW_APPLY, true, true);
	assert_int_equal(in.req, REQ_CHAR);
	keymap_translate(&in, 0x6f22, VIEW_LINKS, true, true);
	assert_int_equal(in.req, REQ_CHAR);
	keymap_translate(&in, K_ESC, VIEW_LINKS, true, true);
	assert_int_equal(in.req, REQ_BACK);
	keymap_translate(&in, K_BACKSPACE, VIEW_LINKS, true, true);
	assert_int_equal(in.req, REQ_ERASE);
	keymap_translate(&in, K_ENTER, VIEW_APPLY, true, false);
	assert_int_equal(in.req, REQ_ENTER);
	keymap_translate(&in, K_PGDN, VIEW_LINKS, true, true);
	assert_int_equal(in.req, REQ_NONE);
}

static void digits_lead_to_views_from_everywhere(void **state)
{
	struct input in;

	(void)state;
	for (int v = VIEW_OVERVIEW; v < VIEW_COUNT; v++) {
		keymap_translate(&in, '6', (enum view_id)v, false, false);
		assert_int_equal(in.req, REQ_VIEW);
		assert_int_equal(in.view, VIEW_PREVIEW);
		assert_false(in.refused_ro);
	}
	keymap_translate(&in, K_NONE, VIEW_OVERVIEW, false, true);
	assert_int_equal(in.req, REQ_NONE);
	keymap_translate(&in, 0x1f600, VIEW_OVERVIEW, false, true);
	assert_int_equal(in.req, REQ_NONE);
}

static void every_key_has_its_way_in_scripts(void **state)
{
	size_t n;
	const struct binding *b = keymap_all(&n);

	(void)state;
	for (size_t i = 0; i < n; i++)
		if (!keymap_script(b[i].req))
			fail_msg("nobody says what does in a script what %s does", b[i].shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_key_means_two_things_in_one_view),
		cmocka_unit_test(every_key_that_works_is_in_the_help),
		cmocka_unit_test(keys_that_change_the_fabric_need_rw),
		cmocka_unit_test(while_typing_keys_are_text),
		cmocka_unit_test(every_key_has_its_way_in_scripts),
		cmocka_unit_test(digits_lead_to_views_from_everywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
