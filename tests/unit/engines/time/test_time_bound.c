/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/time/time_bound.h"

#include "engines/engine.h"
#include "engines/metrics/length_bound.h"
#include "engines/metrics/metrics.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static double time_of(struct metrics **m, const struct engine *e, const struct fabric *f,
		      const struct jobset *js, const struct job_time_opts *o)
{
	struct engine_params params = { .vls = 8, .threads = 1 };
	struct metrics_opts mo = { .bound_work = LENGTH_WORK };
	struct tables *t = must_route(e, f, js, &params);
	struct job_times *x;
	double v;

	assert_int_equal(metrics_compute(m, f, t, js, &mo, NULL, NULL), 0);
	assert_true((*m)->eff_efi_bound <= (*m)->eff_efi_max);
	assert_true((*m)->eff_efi_bound <= (*m)->eff_efi_bound_minimal);
	assert_int_equal(job_times_compute(&x, f, t, js, o, NULL, NULL), 0);
	v = x->mean.mean;
	job_times_free(x);
	tables_put(t);
	return v;
}

static void check_engines(const struct fabric *f, const struct jobset *js, uint64_t seed)
{
	struct job_time_opts o = { .pattern = PREDICT_ALLTOALL, .seed = seed, .phases = 20 };
	size_t n;
	const struct engine *const *e = engine_all(&n);

	for (size_t i = 0; i < n; i++) {
		struct metrics *m;
		double time, bound;

		if (e[i]->suits && e[i]->suits(f, NULL))
			continue;
		time = time_of(&m, e[i], f, js, &o);
		assert_int_equal(time_bound_compute(&bound, f, js, m->lengths, &o, NULL), 0);
		assert_true(bound >= 1);
		assert_true(time >= bound * (1 - 1e-9));
		assert_int_equal(time_bound_compute(&bound, f, js, NULL, &o, NULL), 0);
		assert_true(time >= bound * (1 - 1e-9));
		metrics_free(m);
	}
}

static void no_engine_is_below_it(void **state)
{
	static const char *const nets[] = { "torus:dims=5,hosts=4", "hyperx:dims=4x3,hosts=4",
					    "fattree2:leaves=6,spines=2,hosts=6",
					    "random:switches=14,links=30,hosts=4,seed=5" };

	(void)state;
	for (size_t i = 0; i < sizeof(nets) / sizeof(*nets); i++) {
		struct fabric *f = net_spec(nets[i]);

		for (uint64_t seed = 0; seed < 3; seed++) {
			struct jobset *js =
				kit_placed_jobs(f, seed, seed == 1 ? f->nterm : 8, true);

			if (seed == 2)
				for (uint32_t c = 0; c < f->nchan; c += 3)
					net_set_rate(f, c, c % 2 ? 25000 : 200000);
			check_engines(f, js, seed + 1);
			jobset_put(js);
		}
		fabric_put(f);
	}
}

/* Two switches and one cable: a job of all hosts shifts k of n over it. */
static void a_single_cable_is_told_exactly(void **state)
{
	struct fabric *f = net_spec("torus:dims=2x1,hosts=4");
	struct jobset *js = kit_placed_jobs(f, 0, 1000000, false);
	struct job_time_opts o = { .pattern = PREDICT_ALLTOALL, .seed = 1 };
	const struct engine *minhop = engine_find("minhop", NULL);
	struct metrics *m;
	double time, bound;

	(void)state;
	time = time_of(&m, minhop, f, js, &o);
	assert_int_equal(time_bound_compute(&bound, f, js, m->lengths, &o, NULL), 0);
	assert_float_equal(time, bound, 1e-9);
	assert_true(bound > 1.5);
	metrics_free(m);
	jobset_put(js);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_engine_is_below_it),
		cmocka_unit_test(a_single_cable_is_told_exactly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
