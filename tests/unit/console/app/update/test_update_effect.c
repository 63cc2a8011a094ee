/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/app/update/update_effect.h"

#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GB 1e9

/* Three jobs of two hosts each. */
struct world {
	struct fabric *f;
	struct jobset *jobs;
	struct update_effect *x;
	char text[240];
};

static void world_up(struct world *w)
{
	w->f = net_tree(4, 2, 2, NULL);
	w->jobs = kit_jobs(w->f, (uint64_t[]){ 1, 2, 4, 1, 2, 4, 0, 0 }, 3);
	assert_int_equal(w->jobs->njob, 3);
	w->x = update_effect_new();
}

static void world_down(struct world *w)
{
	update_effect_free(w->x);
	jobset_put(w->jobs);
	fabric_put(w->f);
}

/* n samples around what the jobs send in the mean. */
static void samples(struct world *w, int n, double a, double b, double c)
{
	for (int i = 0; i < n; i++) {
		double swing = i % 2 ? 1.4 : 0.6;
		double Bps[] = { swing * a, swing * b, swing * c };

		update_effect_sample(w->x, w->jobs, Bps);
	}
}

static void begin(struct world *w, const struct job_time_changes *told)
{
	uint64_t id[3] = { w->jobs->jobs[1].id, w->jobs->jobs[0].id, w->jobs->jobs[2].id };

	update_effect_begin(w->x, id, 3, told);
}

static bool says(struct world *w, const char *what)
{
	bool whole = update_effect_text(w->x, w->text, sizeof(w->text));

	if (!strstr(w->text, what))
		fail_msg("\"%s\" does not say \"%s\"", w->text, what);
	return whole;
}

static void means_are_compared_not_peaks(void **state)
{
	struct world w;
	char said[96];

	(void)state;
	world_up(&w);
	samples(&w, 3, NAN, NAN, NAN); /* nothing is known yet */
	begin(&w, NULL);
	update_effect_before(w.x, w.text, sizeof(w.text));
	assert_string_equal(w.text, "");
	samples(&w, 10, 10 * GB, 20 * GB, NAN);
	begin(&w, NULL);
	update_effect_before(w.x, w.text, sizeof(w.text));
	assert_non_null(strstr(w.text, "by the 10 samples before the update (at most 30)"));
	update_effect_routed(w.x);
	samples(&w, 1, 999 * GB, 999 * GB, 999 * GB); /* of both routings */
	samples(&w, 4, 10 * GB, 30 * GB, 5 * GB);
	assert_false(says(&w, "after 4 of 10 samples: "));
	samples(&w, 6, 10 * GB, 30 * GB, 5 * GB);
	snprintf(said, sizeof(said), "slowest job %llu: 20.0 -> 30.0 GB/s (+50%%)",
		 (unsigned long long)w.jobs->jobs[1].id);
	assert_true(says(&w, said));
	assert_ptr_equal(strstr(w.text, said), w.text);
	/* of the third nothing is known before */
	says(&w, "; 2 jobs: 30.0 -> 40.0 GB/s (+33%)");
	assert_null(strstr(w.text, "predicted"));
	world_down(&w);
}

/* Which job has gained, and by how much, where it is not the slowest. */
static void the_job_that_gained_most_is_named(void **state)
{
	struct world w;
	char said[96];

	(void)state;
	world_up(&w);
	samples(&w, 4, 10 * GB, 20 * GB, 10 * GB);
	begin(&w, NULL);
	update_effect_routed(w.x);
	samples(&w, 1, 0, 0, 0);
	samples(&w, 4, 10.1 * GB, 21 * GB, 15 * GB);
	snprintf(said, sizeof(said), "; most gained job %llu: 10.0 -> 15.0 GB/s (+50%%)",
		 (unsigned long long)w.jobs->jobs[2].id);
	assert_true(says(&w, said));
	world_down(&w);
	/* the slowest itself, of which that is told first; and chance */
	for (int i = 0; i < 2; i++) {
		world_up(&w);
		samples(&w, 4, 10 * GB, 20 * GB, 10 * GB);
		begin(&w, NULL);
		update_effect_routed(w.x);
		samples(&w, 1, 0, 0, 0);
		samples(&w, 4, 10.1 * GB, i ? 20 * GB : 30 * GB, 10.2 * GB);
		update_effect_text(w.x, w.text, sizeof(w.text));
		assert_null(strstr(w.text, "most gained"));
		world_down(&w);
	}
}

static void what_was_foretold_stands_beside_it(void **state)
{
	struct job_time_change c[] = { { 0, 2, 2, .5, .5 },
				       { 0, 3, 2, .30, .45 },
				       { 0, 1, 1, 1, 1 } };
	struct job_time_changes told = { 3, c };
	struct world w;

	(void)state;
	world_up(&w);
	for (int j = 0; j < 3; j++)
		c[j].id = w.jobs->jobs[j].id;
	samples(&w, 2, 10 * GB, 20 * GB, 10 * GB);
	begin(&w, &told);
	update_effect_routed(w.x);
	samples(&w, 1, 0, 0, 0);
	samples(&w, 2, 10 * GB, 28 * GB, 10 * GB);
	assert_true(says(&w, "20.0 -> 28.0 GB/s (+40%; predicted +50%: 30 -> 45% of full rate)"));
	says(&w, "3 jobs: 40.0 -> 48.0 GB/s (+20%; predicted +25%)");
	/* one job of which nothing is foretold: nor is of the sum */
	told.n = 2;
	world_down(&w);
	world_up(&w);
	samples(&w, 2, 10 * GB, 20 * GB, 10 * GB);
	begin(&w, &told);
	update_effect_routed(w.x);
	samples(&w, 1, 0, 0, 0);
	samples(&w, 2, 10 * GB, 10 * GB, 10 * GB);
	assert_true(says(&w, "20.0 -> 10.0 GB/s (-50%; predicted +50%"));
	says(&w, "3 jobs: 40.0 -> 30.0 GB/s (-25%)");
	world_down(&w);
}

static void by_times_is_foretold_where_rates_are_unknown(void **state)
{
	struct job_time_change c[] = { { 0, 2, 2, NAN, NAN }, { 0, 3, 2, NAN, NAN } };
	struct job_time_changes told = { 2, c };
	struct world w;

	(void)state;
	world_up(&w);
	for (int j = 0; j < 2; j++)
		c[j].id = w.jobs->jobs[j].id;
	samples(&w, 2, 10 * GB, 20 * GB, 10 * GB);
	begin(&w, &told);
	update_effect_routed(w.x);
	samples(&w, 1, 0, 0, 0);
	samples(&w, 2, 10 * GB, 28 * GB, 10 * GB);
	assert_true(says(&w, "20.0 -> 28.0 GB/s (+40%; predicted +50%)"));
	world_down(&w);
}

static void only_the_newest_samples_count(void **state)
{
	struct world w;

	(void)state;
	world_up(&w);
	samples(&w, 2 * EFFECT_SAMPLES, 90 * GB, 90 * GB, 90 * GB);
	samples(&w, EFFECT_SAMPLES, 10 * GB, 10 * GB, 10 * GB);
	begin(&w, NULL);
	update_effect_routed(w.x);
	samples(&w, 1 + EFFECT_SAMPLES, 20 * GB, 20 * GB, 20 * GB);
	assert_true(says(&w, "3 jobs: 30.0 -> 60.0 GB/s (+100%)"));
	world_down(&w);
}

static void a_job_that_has_ended_or_is_silent_counts_nowhere(void **state)
{
	struct world w;

	(void)state;
	world_up(&w);
	samples(&w, 2, 10 * GB, 0, 10 * GB);
	begin(&w, NULL);
	update_effect_routed(w.x);
	assert_false(update_effect_text(w.x, w.text, sizeof(w.text)));
	assert_string_equal(w.text, "");
	samples(&w, 3, 20 * GB, 20 * GB, NAN);
	assert_true(says(&w, "1 job: 10.0 -> 20.0 GB/s (+100%)"));
	assert_ptr_equal(strstr(w.text, "1 job:"), w.text);
	world_down(&w);
}

/* What their ports carry then are management datagrams. */
static void jobs_that_send_nothing_are_not_compared(void **state)
{
	struct world w;

	(void)state;
	world_up(&w);
	samples(&w, 10, 10 * GB, 4e3, 2e3);
	begin(&w, NULL);
	update_effect_routed(w.x);
	samples(&w, 11, 12 * GB, 60e3, 5e3);
	says(&w, "1 job: 10.0 -> 12.0 GB/s (+20%)");
	assert_null(strstr(w.text, "slowest"));
	world_down(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_that_send_nothing_are_not_compared),
		cmocka_unit_test(means_are_compared_not_peaks),
		cmocka_unit_test(the_job_that_gained_most_is_named),
		cmocka_unit_test(what_was_foretold_stands_beside_it),
		cmocka_unit_test(by_times_is_foretold_where_rates_are_unknown),
		cmocka_unit_test(only_the_newest_samples_count),
		cmocka_unit_test(a_job_that_has_ended_or_is_silent_counts_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
