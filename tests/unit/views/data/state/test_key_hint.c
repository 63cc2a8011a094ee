/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys in sentences. */
#include "views/data/state/key_hint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct binding rows[] = {
	{ REQ_SORT, 0, 0, false, { 's' }, "s", NULL, NULL },
	{ REQ_SORT, 0, 0, false, { 'o' }, "o", NULL, NULL },
	{ REQ_LEFT, 0, 0, false, { 'h' }, "Left h", NULL, NULL },
	{ REQ_FREEZE, 0, 0, false, { 0 }, ":freeze", NULL, NULL },
	{ REQ_YES, 0, 0, false, { 'Y' }, "Y", NULL, NULL },
};

static const char *name_of(const struct binding *b)
{
	return b->req == REQ_SORT     ? "sort"
	       : b->req == REQ_LEFT   ? "left"
	       : b->req == REQ_FREEZE ? "freeze"
				      : NULL;
}

static void the_shortest_key_of_the_first_row_is_named(void **state)
{
	(void)state;
	key_hints_use(rows, 5, name_of);
	assert_string_equal(key_hint("sort"), "s");
	assert_string_equal(key_hint("left"), "h");
	assert_string_equal(key_hint("freeze"), ":freeze");
	assert_string_equal(key_hint("so"), "so"); /* no command of this name */
	assert_string_equal(key_hint_command(2), "freeze");
	assert_null(key_hint_command(3));
	key_hints_use(rows + 1, 1, name_of);
	assert_string_equal(key_hint("sort"), "o");
	assert_string_equal(key_hint("left"), "left");
}

static void braces_become_keys(void **state)
{
	char buf[40];

	(void)state;
	key_hints_use(rows, 5, name_of);
	assert_string_equal(key_hint_text(buf, sizeof(buf), "{sort}: sort, {left}/{freeze}"),
			    "s: sort, h/:freeze");
	assert_string_equal(key_hint_text(buf, sizeof(buf), "{nothing} { {sort {} 100%"),
			    "{nothing} { {sort {} 100%");
	assert_string_equal(key_hint_text(buf, sizeof(buf), ""), "");
}

static void what_is_too_long_is_cut(void **state)
{
	char buf[6];

	(void)state;
	key_hints_use(rows, 5, name_of);
	assert_string_equal(key_hint_text(buf, sizeof(buf), "ab{freeze}xyz"), "ab:fr");
	assert_string_equal(key_hint_text(buf, 1, "{sort}"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shortest_key_of_the_first_row_is_named),
		cmocka_unit_test(braces_become_keys),
		cmocka_unit_test(what_is_too_long_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
