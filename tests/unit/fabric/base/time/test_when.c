/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/time/when.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

static void times_with_and_without_a_zone(void **state)
{
	static const struct {
		const char *text;
		int64_t unix_s;
		bool local;
	} cases[] = {
		{ "@1795168800", 1795168800, false },
		{ "1795168800", 1795168800, false },
		{ "1795168800.5", 1795168800, false },
		{ "2026-11-20T10:00:00Z", 1795168800, false },
		{ "2026-11-20T11:00:00+01:00", 1795168800, false },
		{ "2026-11-20 04:30:00-0530", 1795168800, false },
		{ "2026-11-20T11:00+01", 1795168800, false },
		{ "2026-11-20T11:00:00", 1795168800, true }, /* winter in Berlin */
		{ "2026-11-20", 1795129200, true },
	};

	(void)state;
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool local = false;
		int64_t s;

		if (!when_parse(&s, cases[i].text, &local))
			fail_msg("%s is refused", cases[i].text);
		assert_int_equal(s, cases[i].unix_s);
		assert_int_equal(local, cases[i].local);
	}
}

static void what_is_no_time_is_refused(void **state)
{
	static const char *const bad[] = { "",
					   "x",
					   "yesterday",
					   "2026-11",
					   "2026-11-20T10:00:00X",
					   "2026-11-20T10:00:00+1",
					   "2026-11-20T10:00:00+99:00",
					   "10x",
					   "@",
					   "2026-13-01T00:00:00" };
	int64_t s;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (when_parse(&s, bad[i], NULL))
			fail_msg("%s is taken", bad[i]);
}

/* 2026-11-20 12:00:00 UTC */
#define NOON 1795176000ll

static void times_of_day_are_the_last_ones_that_were(void **state)
{
	int64_t s;

	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	assert_true(when_parse_past(&s, "11:30", NOON));
	assert_int_equal(s, NOON - 1800);
	assert_true(when_parse_past(&s, "12:00:00", NOON));
	assert_int_equal(s, NOON);
	assert_true(when_parse_past(&s, "12:00:01", NOON));
	assert_int_equal(s, NOON + 1 - 86400);
	assert_true(when_parse_past(&s, "-90m", NOON));
	assert_int_equal(s, NOON - 5400);
	assert_true(when_parse_past(&s, "2026-11-20T11:59:00Z", NOON));
	assert_int_equal(s, NOON - 60);
	assert_true(when_parse_past(&s, "@1795175999", NOON));
	/* yesterday by the calendar, also on the day of another offset */
	setenv("TZ", "Europe/Berlin", 1);
	tzset();
	assert_true(when_parse_past(&s, "23:30", 1792886400)); /* 02:00 there, an hour before summer time ends */
	assert_int_equal(s, 1792886400 - 2 * 3600 - 1800);
}

static void what_is_still_to_come_is_no_time_of_the_past(void **state)
{
	static const char *const bad[] = { "", "now", "25:00", "12:60", "1:2:3:4", "-", "-0s", "-5x",
					   "2026-11-20T12:00:01Z", "2027-01-01", "-99y", "03:10pm" };
	int64_t s = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (when_parse_past(&s, bad[i], NOON))
			fail_msg("%s is taken", bad[i]);
		assert_int_equal(s, 0);
	}
}

static void spans(void **state)
{
	int64_t s;

	(void)state;
	assert_true(when_parse_span(&s, "30d"));
	assert_int_equal(s, 30 * 86400);
	assert_true(when_parse_span(&s, "90m"));
	assert_int_equal(s, 5400);
	assert_true(when_parse_span(&s, "45"));
	assert_int_equal(s, 45);
	assert_false(when_parse_span(&s, "0d"));
	assert_false(when_parse_span(&s, "d"));
	assert_false(when_parse_span(&s, "3 d"));
	assert_false(when_parse_span(&s, "999999999999w"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_with_and_without_a_zone),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(times_of_day_are_the_last_ones_that_were),
		cmocka_unit_test(what_is_still_to_come_is_no_time_of_the_past),
		cmocka_unit_test(spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
