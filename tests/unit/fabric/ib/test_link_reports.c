/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/ib/link_reports.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void those_since_the_last_question_are_told(void **state)
{
	struct link_reports r = { 0 };
	char text[LINK_REPORTS_TEXT];
	uint16_t lid[LINK_REPORTS];

	(void)state;
	link_reports_put(text, &r);
	assert_string_equal(text, "");
	assert_int_equal(link_reports_get(lid, text, 0, 0), 0);
	link_reports_add(&r, 12);
	link_reports_add(&r, 7);
	link_reports_add(&r, 12);
	link_reports_put(text, &r);
	assert_string_equal(text, "12 7 12");
	assert_int_equal(link_reports_get(lid, text, r.n, 1), 2);
	assert_int_equal(lid[0], 7);
	assert_int_equal(lid[1], 12);
	assert_int_equal(link_reports_get(lid, text, r.n, 3), 0);
}

static void only_the_last_ones_are_kept(void **state)
{
	struct link_reports r = { 0 };
	char text[LINK_REPORTS_TEXT];
	uint16_t lid[LINK_REPORTS];

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		link_reports_add(&r, (uint16_t)(65535 - i));
	link_reports_put(text, &r);
	assert_int_equal(strlen(text), LINK_REPORTS_TEXT - 1);
	assert_int_equal(link_reports_get(lid, text, r.n, 100 - LINK_REPORTS), LINK_REPORTS);
	assert_int_equal(lid[0], 65535 - 100 + LINK_REPORTS);
	assert_int_equal(lid[LINK_REPORTS - 1], 65535 - 99);
	assert_int_equal(link_reports_get(lid, text, r.n, 99 - LINK_REPORTS), -ENOENT);
}

/* An older plugin says none; one that began again counts from 0. */
static void what_does_not_fit_its_count_is_not_believed(void **state)
{
	static const char *const texts[] = { "", "1", "1 x", "1  2", "70000 1", "1 2 ", "-1 2" };
	uint16_t lid[LINK_REPORTS];
	char many[200] = "1";

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(link_reports_get(lid, texts[i], 2, 0),
				 strcmp(texts[i], "1 2 ") ? -ENOENT : 2);
	for (int i = 0; i < LINK_REPORTS; i++)
		strcat(many, " 1");
	assert_int_equal(link_reports_get(lid, many, 33, 32), -ENOENT);
	assert_int_equal(link_reports_get(lid, "1 2", 2, 5), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_since_the_last_question_are_told),
		cmocka_unit_test(only_the_last_ones_are_kept),
		cmocka_unit_test(what_does_not_fit_its_count_is_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
