/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/replay/moments.h"
#include "console/campaign/replay/way.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void add(struct job_log *log, uint64_t id, int64_t start_s, int64_t end_s, const char *nodes)
{
	struct job_record r = { .id = id, .start_s = start_s, .end_s = end_s };

	r.nodes = (char *)(uintptr_t)nodes;
	job_log_add(log, &r);
}

static struct job_log *history(void)
{
	struct job_log *log = job_log_new();

	add(log, 3, 1100, 1300, "n[0000-0003]");
	add(log, 1, 1000, 1200, "n[0004-0009]");
	add(log, 2, 1200, 0, "n[0010-0015]"); /* has not ended */
	return log;
}

static uint32_t jobs_at(struct moments *m, uint32_t i, uint64_t *first)
{
	struct jobset *js;
	struct err err;
	uint32_t n;

	assert_int_equal(moments_jobs(&js, m, i, "x", &err), 0);
	n = js->njob;
	*first = n ? js->jobs[0].id : 0;
	if (n)
		assert_int_equal(js->time_s, moments_time(m, i));
	jobset_put(js);
	return n;
}

static void each_change_of_the_jobs_is_a_time(void **state)
{
	static const int64_t times[] = { 1000, 1100, 1200, 1300 };
	static const uint32_t jobs[] = { 1, 2, 2, 1 };
	struct fabric *f = net_tree(4, 2, 4, NULL);
	struct job_log *log = history();
	struct moments *m = moments_new(log, f, 0, JOB_LOG_ALL, JOB_LOG_ALL);
	uint64_t first;

	(void)state;
	assert_int_equal(moments_count(m), 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(moments_time(m, i), times[i]);
		assert_int_equal(jobs_at(m, i, &first), jobs[i]);
	}
	assert_int_equal(first, 2);
	assert_int_equal(moments_record(m, 0), 2);
	moments_free(m);
	job_log_free(log);
	fabric_put(f);
}

static void times_at_equal_distances_within_limits(void **state)
{
	struct fabric *f = net_tree(4, 2, 4, NULL);
	struct job_log *log = history();
	struct moments *m = moments_new(log, f, 60, 1100, 1250);
	uint64_t first;

	(void)state;
	assert_int_equal(moments_count(m), 3);
	assert_int_equal(moments_time(m, 0), 1100);
	assert_int_equal(moments_time(m, 2), 1220);
	assert_int_equal(jobs_at(m, 2, &first), 2); /* times may be left out */
	moments_free(m);
	job_log_free(log);
	fabric_put(f);
}

static void ways_are_told_by_their_names(void **state)
{
	struct err err = { "" };
	struct way w;

	(void)state;
	assert_int_equal(way_parse(&w, "installed", &err), 0);
	assert_null(w.spec.engine);
	assert_int_equal(way_parse(&w, "dfsssp", &err), 0);
	assert_int_equal(w.mode, WAY_FIXED);
	assert_int_equal(way_parse(&w, "sar", &err), 0);
	assert_int_equal(w.mode, WAY_AUTOMATIC);
	assert_int_equal(way_parse(&w, "sar:paper@scratch", &err), 0);
	assert_int_equal(w.mode, WAY_SCRATCH);
	assert_string_equal(w.spec.label, "sar:paper");
	assert_int_equal(way_parse(&w, "sar@always", &err), 0);
	assert_int_equal(w.mode, WAY_ALWAYS);
	assert_int_not_equal(way_parse(&w, "sar@never", &err), 0);
	assert_non_null(strstr(err.text, "@always"));
	assert_int_not_equal(way_parse(&w, "updn@always", &err), 0);
	assert_non_null(strstr(err.text, "uses no jobs"));
	assert_int_not_equal(way_parse(&w, "nosuch", &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_change_of_the_jobs_is_a_time),
		cmocka_unit_test(times_at_equal_distances_within_limits),
		cmocka_unit_test(ways_are_told_by_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
