/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an exporter measures of an update that somebody else makes. */
#include "console/prom/prom_effect.h"

#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

struct world {
	struct fabric *f;
	struct jobset *jobs;
	struct fabric_summary v;
	struct update_counts u;
	struct prom_effect *x;
	double Bps[3];
	uint32_t order[3];
};

static int setup(void **state)
{
	static struct world w;

	w = (struct world){ .f = net_tree(4, 2, 2, NULL), .order = { 2, 0, 1 } };
	w.jobs = kit_jobs(w.f, (uint64_t[]){ 1, 2, 4, 1, 2, 4, 0, 0 }, 3);
	w.v.jobs = w.jobs;
	w.v.job_Bps = w.Bps;
	w.v.by_suffering = w.order;
	w.u.confirmed_s = 100;
	w.x = prom_effect_new();
	*state = &w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	prom_effect_free(w->x);
	jobset_put(w->jobs);
	fabric_put(w->f);
	return 0;
}

/* Each of the three jobs sends that. */
static void samples(struct world *w, int n, double MBps)
{
	while (n--) {
		w->Bps[0] = w->Bps[1] = w->Bps[2] = MBps * 1e6;
		prom_effect_sample(w->x, &w->u, &w->v);
	}
}

static bool rates(const struct world *w, double *before, double *after)
{
	return prom_effect_rates(w->x, before, after);
}

static void rates_before_and_after_one_that_takes_a_while(void **state)
{
	struct world *w = *state;
	double before, after;

	samples(w, 5, 10);
	w->u.open = 1;
	samples(w, 3, 1); /* drained, or on the new routing and not confirmed */
	w->u.open = 0;
	w->u.confirmed_s = 200;
	samples(w, 1, 12); /* of both */
	samples(w, 4, 20);
	assert_false(rates(w, &before, &after));
	samples(w, 1, 20);
	assert_true(rates(w, &before, &after));
	assert_float_equal(before, 30e6, 1);
	assert_float_equal(after, 60e6, 1);
	samples(w, 50, 5); /* stays as it was measured */
	assert_true(rates(w, &before, &after));
	assert_float_equal(after, 60e6, 1);
}

static void one_that_was_over_between_two_samples_is_measured_too(void **state)
{
	struct world *w = *state;
	double before, after;

	samples(w, 3, 10);
	w->u.confirmed_s = 200;
	samples(w, 1, 15);
	samples(w, 3, 20);
	assert_true(rates(w, &before, &after));
	assert_float_equal(after / before, 2, 1e-9);
}

static void one_that_is_rolled_back_or_was_there_before_says_nothing(void **state)
{
	struct world *w = *state;
	double before, after;

	samples(w, 5, 10);
	w->u.open = 1;
	samples(w, 2, 10);
	w->u.open = 0;
	samples(w, 40, 20);
	assert_false(rates(w, &before, &after));
}

static void the_next_one_takes_the_place_of_what_was_measured(void **state)
{
	struct world *w = *state;
	double before, after;

	samples(w, 2, 10);
	w->u.confirmed_s = 200;
	samples(w, 4, 20);
	assert_true(rates(w, &before, &after));
	w->u.confirmed_s = 300;
	samples(w, 1, 20);
	assert_false(rates(w, &before, &after));
	samples(w, 40, 10);
	assert_true(rates(w, &before, &after));
	assert_float_equal(before / after, 2, 0.3);
}

static void without_updates_or_jobs_nothing_is_measured(void **state)
{
	struct world *w = *state;
	double before, after;

	prom_effect_sample(w->x, NULL, &w->v);
	w->v.jobs = NULL;
	samples(w, 3, 10);
	w->u.confirmed_s = 200;
	samples(w, 3, 10);
	assert_false(rates(w, &before, &after));
	assert_false(prom_effect_rates(NULL, &before, &after));
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(rates_before_and_after_one_that_takes_a_while),
		T(one_that_was_over_between_two_samples_is_measured_too),
		T(one_that_is_rolled_back_or_was_there_before_says_nothing),
		T(the_next_one_takes_the_place_of_what_was_measured),
		T(without_updates_or_jobs_nothing_is_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
