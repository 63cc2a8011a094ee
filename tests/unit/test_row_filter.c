/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/row_filter.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *const fields[] = { "util", "efi", NULL };

static bool match(const char *text, const char *row, double util, double efi)
{
	double value[] = { util, efi };
	struct row_filter f;

	row_filter_parse(&f, text, fields);
	return row_filter_match(&f, row, value);
}

static void an_empty_filter_takes_every_row(void **state)
{
	(void)state;
	assert_true(match("", "leaf1", NAN, NAN));
	assert_true(match("   ", "leaf1", NAN, NAN));
}

static void text_matches_anywhere_in_any_case(void **state)
{
	(void)state;
	assert_true(match("EAF0", "leaf01/3 -> spine2/1", 0, 0));
	assert_false(match("leaf9", "leaf01/3 -> spine2/1", 0, 0));
	assert_true(match("leaf spine2", "leaf01/3 -> spine2/1", 0, 0));
	assert_false(match("leaf spine3", "leaf01/3 -> spine2/1", 0, 0));
}

static void expressions_compare_figures(void **state)
{
	(void)state;
	assert_true(match("util>80", "x", 80.1, 0));
	assert_false(match("util>80", "x", 80, 0));
	assert_true(match("util>=80", "x", 80, 0));
	assert_true(match("UTIL<80%", "x", 79, 0));
	assert_true(match("efi=0", "x", 5, 0));
	assert_true(match("efi==7 util<=5", "x", 5, 7));
	assert_false(match("efi==7 util<5", "x", 5, 7));
}

static void unknown_figures_fulfil_no_comparison(void **state)
{
	(void)state;
	assert_false(match("util<80", "x", NAN, 0));
	assert_false(match("util>=0", "x", NAN, 0));
	assert_true(match("efi>=0", "x", NAN, 0));
}

static void what_is_no_expression_is_text(void **state)
{
	(void)state;
	assert_true(match("util>", "a util> b", 0, 0));
	assert_true(match("foo>3", "a foo>3 b", 0, 0));
	assert_false(match("util>x", "leaf", 99, 0));
	assert_true(match("->", "a -> b", 0, 0));
	/* more words than there is room for are left out */
	assert_true(match("a a a a a a a a zzz", "a", 0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_filter_takes_every_row),
		cmocka_unit_test(text_matches_anywhere_in_any_case),
		cmocka_unit_test(expressions_compare_figures),
		cmocka_unit_test(unknown_figures_fulfil_no_comparison),
		cmocka_unit_test(what_is_no_expression_is_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
