/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What others wrote, as it may be printed. */
#include "fabric/base/message/plain.h"

#include "fabric/base/message/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void what_is_not_plain_is_replaced_byte_by_byte(void **state)
{
	static const struct {
		const char *in, *keep, *out;
	} cases[] = {
		{ "", "", "" },
		{ "H\u00f6he \u6f22\U0001f600?", "", "H\u00f6he \u6f22\U0001f600?" },
		{ "\033[2J\a\177\n", "\n", "?[2J??\n" },
		{ "\302\233m", "\n\t", "??m" },				    /* CSI */
		{ "a\u202eb\u2066c\u200fd\ufeff", "", "a???b???c???d???" }, /* direction */
		{ "\303(\342\202", "", "?(??" }, /* sequences that are not whole */
		{ "\300\257\355\240\200\364\220\200\200\377", "", "??????????" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s", cases[i].in);
		assert_ptr_equal(plain_text(text, cases[i].keep), text);
		assert_string_equal(text, cases[i].out);
	}
}

static void what_is_not_plain_is_one_character_each(void **state)
{
	static const uint32_t want[] = { 'a', 0xe9, '?', '?', '?', 0x1f600, '?', '(', '?', 0 };
	const char *text = "a\u00e9\033\302\233\u202e\U0001f600\342\202(\377";

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		assert_int_equal(plain_next(&text), want[i]);
	assert_int_equal(plain_next(&text), 0); /* stays at the end */
}

__attribute__((format(printf, 3, 4))) static const char *formatted(char *buf, size_t size,
								   const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	plain_vformat(buf, size, fmt, ap);
	va_end(ap);
	return buf;
}

static void what_is_too_long_ends_with_a_whole_character(void **state)
{
	static const char *const want[] = {
		"",
		"a",
		"a",
		"a\u00e9",
		"a\u00e9",
		"a\u00e9",
		"a\u00e9\u6f22",
		"a\u00e9\u6f22",
		"a\u00e9\u6f22",
		"a\u00e9\u6f22",
		"a\u00e9\u6f22\U0001f600",
		"a\u00e9\u6f22\U0001f600z",
	};
	struct err err;
	char buf[16], e[600];

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		assert_string_equal(formatted(buf, i + 1, "%s", "a\u00e9\u6f22\U0001f600z"),
				    want[i]);
	assert_string_equal(formatted(buf, 4, "%s", "\200\200\200\200"), "???");
	assert_string_equal(formatted(buf, 16, "a\n%s\033", "\t"), "a\n\t?");
	for (size_t i = 0; i + 2 < sizeof(e); i += 2)
		memcpy(e + i, "\u00e9", 3);
	err_set(&err, 0, "%s", e);
	assert_null(strchr(err.text, '?'));
	err_set(&err, 0, "x%s", e);
	assert_null(strchr(err.text, '?'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_plain_is_replaced_byte_by_byte),
		cmocka_unit_test(what_is_not_plain_is_one_character_each),
		cmocka_unit_test(what_is_too_long_ends_with_a_whole_character),
	};

	return cmocka_run_group_tests_name("plain", tests, NULL, NULL);
}
