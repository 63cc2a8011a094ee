/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two jobs on the same nodes: their paths are there once, their messages twice. */
#include "engines/metrics/metrics.h"
#include "engines/time/job_time.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

struct told {
	uint64_t eff_efi_max, bound;
	double job_efi_mean, time;
};

/* Of so many jobs on all hosts of two switches that one cable joins. */
static struct told measured(const struct fabric *f, const struct tables *t, uint32_t njob)
{
	uint64_t member[8];
	struct job_time_opts opts = { .seed = 1 };
	struct job_times *times = NULL;
	struct jobset *jobs;
	struct metrics *m = NULL;
	struct told told;
	struct err err;

	for (int i = 0; i < 8; i++)
		member[i] = (1u << njob) - 1;
	jobs = kit_jobs(f, member, njob);
	if (metrics_compute(&m, f, t, jobs, NULL, NULL, &err) ||
	    job_times_compute(&times, f, t, jobs, &opts, NULL, &err))
		fail_msg("%s", err.text);
	told = (struct told){ m->eff_efi_max, m->eff_efi_bound, m->job_efi_max_mean,
			      times->mean.mean };
	job_times_free(times);
	metrics_free(m);
	jobset_put(jobs);
	return told;
}

static void paths_count_once_and_messages_of_each_job(void **state)
{
	struct fabric *f = net_spec("torus:dims=2x1,hosts=4");
	struct tables *t = kit_bfs(f);
	struct told one = measured(f, t, 1), two = measured(f, t, 2);

	(void)state;
	assert_int_equal(one.eff_efi_max, 16);
	assert_int_equal(two.eff_efi_max, 16);
	assert_int_equal(two.bound, 16);
	assert_true(two.job_efi_mean == 16); /* fully in each of them */
	assert_true(two.time > 1.5 * one.time);
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_count_once_and_messages_of_each_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
