/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one process of the program tells another, and what is damaged of it. */
#include "fabric/base/file/bytes_io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void what_was_put_is_taken(void **state)
{
	bytes_out out = { 0 };
	struct bytes_in in;
	uint32_t n = 7, m;
	char *text;

	(void)state;
	bytes_put(&out, NULL, 0); /* an empty array */
	bytes_put(&out, &n, sizeof(n));
	bytes_put_text(&out, "a\033b");
	bytes_put_text(&out, NULL);
	bytes_put_text(&out, "");
	in = (struct bytes_in){ .at = out.v, .left = out.n };
	bytes_take(&in, NULL, 0);
	bytes_take(&in, &m, sizeof(m));
	assert_int_equal(m, 7);
	text = bytes_take_text(&in);
	assert_string_equal(text, "a?b");
	free(text);
	assert_null(bytes_take_text(&in));
	assert_false(bytes_at_end(&in));
	text = bytes_take_text(&in);
	assert_string_equal(text, "");
	free(text);
	assert_true(bytes_at_end(&in));
	vec_free(&out);
}

static void what_is_missing_is_zero_from_there_on(void **state)
{
	const uint8_t half[] = { 5, 0, 0, 0, 'a', 'b' };
	struct bytes_in in = { .at = half, .left = sizeof(half) };
	uint32_t n = 9;
	char *text = bytes_take_text(&in);

	(void)state;
	assert_string_equal(text, "");
	assert_true(in.bad);
	free(text);
	bytes_take(&in, NULL, 0);
	bytes_take(&in, &n, sizeof(n));
	assert_int_equal(n, 0);
	assert_false(bytes_at_end(&in));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_put_is_taken),
		cmocka_unit_test(what_is_missing_is_zero_from_there_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
