/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/auto/auto_totals.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#define DAY (86400 * 20000ll)

static struct auto_plan plan_of(double after, bool drain)
{
	return (struct auto_plan){ .sound = true,
				   .time_before = 4,
				   .time_after = after,
				   .blocks = 100,
				   .drain = drain,
				   .cpu_s = 1.5 };
}

static void a_day_ends_at_midnight_where_there_was_something(void **state)
{
	struct auto_totals t;

	(void)state;
	auto_totals_begin(&t, DAY + 5);
	assert_false(auto_totals_over(&t, DAY + 86400));
	t.looks = 1;
	assert_false(auto_totals_over(&t, DAY + 86399));
	assert_true(auto_totals_over(&t, DAY + 86400));
}

static void what_was_decided_and_how_it_ended_is_counted(void **state)
{
	struct auto_plan a = plan_of(3, true), b = plan_of(3.5, false), none = { 0 };
	struct auto_totals t;
	char text[AUTO_TOTALS_TEXT];

	(void)state;
	auto_totals_begin(&t, DAY);
	t.looks = 288;
	auto_totals_judged(&t, AUTO_APPLY, &a);
	auto_totals_ended(&t, AUTO_KEPT);
	auto_totals_judged(&t, AUTO_APPLY, &b);
	auto_totals_ended(&t, AUTO_KEPT);
	auto_totals_judged(&t, AUTO_APPLY, &a);
	auto_totals_ended(&t, AUTO_ROLLED_BACK);
	auto_totals_judged(&t, AUTO_APPLY, &b);
	auto_totals_ended(&t, AUTO_REFUSED);
	auto_totals_judged(&t, AUTO_APPLY, &b);
	auto_totals_ended(&t, AUTO_SUPERSEDED);
	auto_totals_judged(&t, AUTO_PROPOSE, &a);
	auto_totals_judged(&t, AUTO_WAIT, &b);
	auto_totals_judged(&t, AUTO_WAIT, &none);
	assert_string_equal(
		auto_totals_text(text, &t),
		"totals of 2024-10-04: 288 looks, 8 plans computed (10.5 s of CPU): 5 "
		"written (500 blocks, 2 with a drain), 1 proposed, 1 with too little to "
		"gain, 1 failed; updates: 2 confirmed, 1 rolled back, 1 refused, 1 other; "
		"largest gain 25.0 %");
}

static void numbers_of_any_size_fit(void **state)
{
	struct auto_totals t;
	char text[AUTO_TOTALS_TEXT];

	(void)state;
	memset(&t, 0xff, sizeof(t));
	t.day = 20000;
	t.cpu_s = 1e9;
	t.best = 1;
	auto_totals_text(text, &t);
	assert_non_null(strstr(text, "largest gain 100.0 %"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_day_ends_at_midnight_where_there_was_something),
		cmocka_unit_test(what_was_decided_and_how_it_ended_is_counted),
		cmocka_unit_test(numbers_of_any_size_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
