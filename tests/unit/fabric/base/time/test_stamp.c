/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/time/stamp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

static void a_time_is_written_as_asked(void **state)
{
	char buf[STAMP_LEN];

	(void)state;
	assert_string_equal(stamp_utc(buf, sizeof(buf), "%FT%TZ", 0), "1970-01-01T00:00:00Z");
	assert_string_equal(stamp_utc(buf, sizeof(buf), "%FT%TZ", 1795000000),
			    "2026-11-18T11:06:40Z");
	assert_string_equal(stamp_utc(buf, sizeof(buf), "%FT%TZ", -1), "1969-12-31T23:59:59Z");
	assert_string_equal(stamp_local(buf, sizeof(buf), "%F", 1795000000), "2026-11-18");
}

/* What the C library gives NULL for, and what it needs more room for than a year has. */
static void what_is_no_time_is_a_question_mark(void **state)
{
	static const int64_t none[] = { INT64_MAX,
					INT64_MIN,
					(int64_t)1 << 62,
					INT64_C(253402300800),
					67768036191676800,
					-62167219201,
					UINT32_MAX * INT64_C(1000000000) };
	char buf[STAMP_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		assert_string_equal(stamp_utc(buf, sizeof(buf), "%FT%TZ", none[i]), "?");
		assert_string_equal(stamp_local(buf, sizeof(buf), "%FT%TZ", none[i]), "?");
	}
	assert_string_equal(stamp_utc(buf, 4, "%FT%TZ", 0), "?"); /* no room */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_is_written_as_asked),
		cmocka_unit_test(what_is_no_time_is_a_question_mark),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests_name("stamp", tests, NULL, NULL);
}
