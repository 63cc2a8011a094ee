/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/text/json_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void a_string_is_plain(void **state)
{
	json_t *j = json_text("a\033[2J\302\233m\377\n\tb\342\200\256c"), *none = json_text(NULL);

	(void)state;
	assert_string_equal(json_string_value(j), "a?[2J??m?\n\tb???c");
	assert_true(json_is_null(none));
	json_decref(none);
	json_decref(j);
}

static void bytes_that_are_not_utf8_become_question_marks(void **state)
{
	static const char *const cases[][2] = {
		{ "plain", "plain" },	    { "caf\xc3\xa9", "caf\xc3\xa9" },
		{ "caf\xe9 x", "caf? x" },  { "\xff\xfe", "??" },
		{ "\xc0\xaf", "??" },	    { "\xed\xa0\x80z", "???z" },
		{ "end\xe2\x82", "end??" }, { "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		json_t *j = json_text(cases[i][0]);

		assert_string_equal(json_string_value(j), cases[i][1]);
		json_decref(j);
	}
}

static void a_missing_value_is_empty_and_a_count_fits(void **state)
{
	json_t *j = json_pack("{s:s, s:I, s:I, s:I}", "text", "x", "n", (json_int_t)7, "less",
			      (json_int_t)-1, "more", (json_int_t)UINT32_MAX + 1);

	(void)state;
	assert_string_equal(json_string_at(j, "text"), "x");
	assert_string_equal(json_string_at(j, "n"), "");
	assert_string_equal(json_string_at(NULL, "n"), "");
	assert_int_equal(json_integer_at(j, "less"), -1);
	assert_int_equal(json_integer_at(j, "text"), 0);
	assert_int_equal(json_u32_at(j, "n"), 7);
	assert_int_equal(json_u32_at(j, "less"), 0);
	assert_int_equal(json_u32_at(j, "more"), 0);
	json_decref(j);
}

/* Escapes that are ASCII in the file are control characters again behind the parser. */
static void what_was_read_is_plain_all_through(void **state)
{
	static const char in[] =
		"{\"a\":[\"x\\u001b]0;t\\u0007\",{\"k\\u009bm\":\"\\u202ey\"},1,null,true],"
		"\"b\\n\":{\"c\":\"Z\\u00fcrich \\ud83d\\ude00\"}}";
	static const char out[] = "{\"a\":[\"x?]0;t?\",{\"k??m\":\"???y\"},1,null,true],"
				  "\"b?\":{\"c\":\"Z\303\274rich \360\237\230\200\"}}";
	json_t *j = json_text_clean(json_loads(in, 0, NULL));
	char *text = json_dumps(j, JSON_COMPACT);

	(void)state;
	assert_non_null(text);
	assert_string_equal(text, out);
	free(text);
	json_decref(j);
	assert_null(json_text_clean(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_string_is_plain),
		cmocka_unit_test(bytes_that_are_not_utf8_become_question_marks),
		cmocka_unit_test(a_missing_value_is_empty_and_a_count_fits),
		cmocka_unit_test(what_was_read_is_plain_all_through),
	};

	return cmocka_run_group_tests_name("json_text", tests, NULL, NULL);
}
