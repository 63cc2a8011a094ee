/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys that the text of a view names: which are pressed by a click, and where. */
#include "views/data/hint_click.h"

#include "views/data/state/key_hint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define F5 0x110005u

static const struct binding rows[] = {
	{ REQ_SORT, 0, 0, false, { 's' }, "s", NULL, NULL },
	{ REQ_LEFT, 0, 0, false, { F5, 'h' }, "Left h", NULL, NULL },
	{ REQ_RIGHT, 0, 0, false, { F5 }, "F5", NULL, NULL },
	{ REQ_FREEZE, 0, 0, false, { 0 }, ":freeze", NULL, NULL },
	{ REQ_YES, 0, 0, false, { 'Y' }, "Y", NULL, NULL },
	{ REQ_COMMAND, 0, 0, false, { ':' }, ":", NULL, NULL },
	{ REQ_ROLLBACK_ASK, 0, 0, false, { 'R' }, "R", NULL, NULL },
};

static const char *name_of(const struct binding *b)
{
	return b->req == REQ_SORT	    ? "sort"
	       : b->req == REQ_LEFT	    ? "left"
	       : b->req == REQ_RIGHT	    ? "right"
	       : b->req == REQ_FREEZE	    ? "freeze"
	       : b->req == REQ_YES	    ? "yes"
	       : b->req == REQ_COMMAND	    ? "command"
	       : b->req == REQ_ROLLBACK_ASK ? "rollback"
					    : NULL;
}

static struct canvas *marked(const char *text, int w, int h)
{
	struct canvas *c = canvas_new(w, h, true);
	struct rect r = canvas_rect(c);

	key_hints_use(rows, sizeof(rows) / sizeof(rows[0]), name_of);
	hint_click_mark(c, r, 0, canvas_wrap(c, r, 1, 0, ROLE_TEXT, text));
	return c;
}

/* What a click on the first place of that word presses; the words are all on row 0. */
static uint32_t at(const char *text, const char *word)
{
	struct canvas *c = marked(text, 200, 1);
	uint32_t key = hint_click_at(c, 1 + (int)(strstr(text, word) - text), 0);

	canvas_free(c);
	return key;
}

static void a_key_and_what_it_does_are_pressed(void **state)
{
	static const char text[] = "Confirm?  s: sort now  h/F5: to a side  Enter or Y: (done)";

	(void)state;
	assert_int_equal(at(text, "Confirm"), 0);
	assert_int_equal(at(text, "s: sort"), 's');
	assert_int_equal(at(text, "now"), 's');
	assert_int_equal(at(text, "h/F5"), 'h');
	assert_int_equal(at(text, "F5: to"), F5);
	assert_int_equal(at(text, "side"), 'h');
	assert_int_equal(at(text, "Enter"), '\r');
	assert_int_equal(at(text, "Y: "), 'Y');
}

static void the_first_of_two_keys_one_after_the_other(void **state)
{
	static const char text[] = "Enter, then say the name: go.  R, then Y: roll back (s)";

	(void)state;
	assert_int_equal(at(text, "Enter"), '\r');
	assert_int_equal(at(text, "say"), '\r');
	assert_int_equal(at(text, "go."), 0);
	assert_int_equal(at(text, "R, then"), 'R');
	assert_int_equal(at(text, "Y: roll"), 'R');
	assert_int_equal(at(text, "back"), 'R');
}

static void words_are_no_keys(void **state)
{
	static const char text[] = "hosts: 5 sorts: Y h s  :freeze: no key  Entered: 3";

	(void)state;
	for (const char *c = text; *c; c++)
		assert_int_equal(at(text, c), 0);
}

/* A hint goes on where its line is broken; nothing is pressed beside it, nor what is drawn over. */
static void a_broken_line_and_what_lies_over_it(void **state)
{
	struct canvas *c = marked("s: sort by what is under the cursor", 12, 5);
	struct rect r = canvas_rect(c);

	(void)state;
	assert_int_equal(hint_click_at(c, 1, 0), 's');
	assert_int_equal(hint_click_at(c, 1, 2), 's');
	assert_int_equal(hint_click_at(c, 11, 0), 0);
	assert_int_equal(hint_click_at(c, 1, 4), 0);
	assert_int_equal(hint_click_at(c, -1, 0), 0);
	assert_int_equal(hint_click_at(c, 1, 5), 0);
	canvas_text(c, r, 1, 0, ROLE_TEXT, "menu");
	assert_int_equal(hint_click_at(c, 1, 0), 0);
	assert_int_equal(hint_click_draw(c, r, 0, 4, "right"), 2);
	assert_int_equal(hint_click_at(c, 1, 4), F5);
	assert_int_equal(hint_click_at(c, 2, 4), 0);
	canvas_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_and_what_it_does_are_pressed),
		cmocka_unit_test(the_first_of_two_keys_one_after_the_other),
		cmocka_unit_test(words_are_no_keys),
		cmocka_unit_test(a_broken_line_and_what_lies_over_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
