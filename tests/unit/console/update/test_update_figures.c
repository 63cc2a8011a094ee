/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the record says of a plan: how long jobs take, and EFI, which explains it. */
#include "console/update/update_figures.h"

#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

static double number(const json_t *j, const char *side, const char *key)
{
	const json_t *v = json_object_get(json_object_get(j, side), key);

	if (!json_is_real(v))
		fail_msg("%s of %s is no number", key, side);
	return json_real_value(v);
}

static void times_of_both_routings_are_there(void **state)
{
	struct fabric *f = net_ring(6, 2, NULL);
	struct tables *from = kit_clockwise(f), *to = kit_bfs(f);
	uint64_t member[12] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	struct jobset *jobs = kit_jobs(f, member, 1);
	struct demand_builder *b = demand_builder_new(f);
	struct demand *d;
	struct err err;
	struct txn_gain gain;
	struct plan *p;
	json_t *j;

	(void)state;
	demand_builder_add(b, 0, 4, 100);
	d = demand_build(b);
	if (plan_new(&p, f, from, to, jobs, NULL, 0, &err))
		fail_msg("%s", err.text);
	plan_with_traffic(p, d, "ring");
	j = update_figures(p);
	assert_non_null(j);
	assert_string_equal(json_string_value(json_object_get(j, "pattern")), "ring");
	assert_true(number(j, "before", "time_mean") > 0);
	assert_true(number(j, "after", "time_mean") <= number(j, "before", "time_mean"));
	assert_true(number(j, "after", "sync") > number(j, "before", "sync"));
	assert_true(number(j, "after", "demand_time") > 0);
	gain = update_figures_gain(j);
	assert_string_equal(gain.pattern, "ring");
	assert_float_equal(gain.before, number(j, "before", "time_mean"), 0);
	assert_float_equal(gain.after, number(j, "after", "time_mean"), 0);
	assert_float_equal(update_figures_gain(NULL).before, 0, 0);
	assert_true(json_is_object(json_object_get(j, "time_gate")));
	assert_true(json_is_integer(json_object_get(json_object_get(j, "after"), "efi_max")));
	json_decref(j);
	plan_free(p);
	demand_put(d);
	jobset_put(jobs);
	tables_put(to);
	tables_put(from);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_of_both_routings_are_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
