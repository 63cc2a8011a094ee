/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/metrics/length_bound.h"

#include "engines/engine.h"
#include "engines/metrics/metrics.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct length_bound bound_of(double *lengths, const struct fabric *f,
				    const struct jobset *js, enum length_paths paths)
{
	struct job_demand *d = job_demand_new(f, js, 1u << 24);
	struct chan_weights w;
	struct length_bound out;

	chan_weights_init(&w, f, false);
	assert_int_equal(
		length_bound_compute(&out, lengths, f, &w, d, paths, LENGTH_WORK, NULL, ""), 0);
	chan_weights_done(&w);
	job_demand_free(d);
	return out;
}

static struct jobset *all_hosts(const struct fabric *f)
{
	return kit_placed_jobs(f, 1, UINT32_MAX / 2, false);
}

static void simple_nets_have_the_bound_that_is_plain(void **state)
{
	/* 3 hosts to 3 over the only cable; 30 pairs that are 1.8 apart over 12 channels; ... */
	static const struct {
		const char *net;
		double any;
	} cases[] = {
		{ "torus:dims=2x1,hosts=3", 9 },
		{ "torus:dims=6,hosts=1", 4.5 },
		{ "fattree2:leaves=4,spines=4,hosts=4", 12 },
		{ "hyperx:dims=4,hosts=2", 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fabric *f = net_spec(cases[i].net);
		struct jobset *js = all_hosts(f);
		struct length_bound a = bound_of(NULL, f, js, LENGTH_ANY);
		struct length_bound s = bound_of(NULL, f, js, LENGTH_SHORTEST);

		assert_float_equal(a.lower, cases[i].any, 0.005 * cases[i].any);
		assert_float_equal(s.upper, cases[i].any, 0.005 * cases[i].any);
		jobset_put(js);
		fabric_put(f);
	}
}

static void half_the_rate_counts_twice(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=4,spines=4,hosts=8,speed=4xHDR");
	struct jobset *js = all_hosts(f);
	struct length_bound b;

	(void)state;
	for (uint32_t c = 0, n = 0; c < f->nchan; c++)
		if (!f->sw_nterm[f->chan_src[c]] && n++ / 4 % 2)
			net_set_rate(f, c, 100000);
	b = bound_of(NULL, f, js, LENGTH_ANY);
	assert_float_equal(b.lower, 8 * 24 / 3., 0.3); /* as three whole spines */
	assert_true(metrics_eff_efi_bound(f, js) == 64);
	jobset_put(js);
	fabric_put(f);
}

/* The flow that comes with it proves how near the bound is to the best there is. */
static void both_sides_are_near(void **state)
{
	static const char *const nets[] = { "torus:dims=5x5,hosts=3", "slimfly:q=5,hosts=4",
					    "kary:k=4,n=3,hosts=4,fail=5", "dragonfly:p=2",
					    "random:switches=40,links=150,hosts=4,seed=3" };

	(void)state;
	for (size_t i = 0; i < sizeof(nets) / sizeof(*nets); i++) {
		struct fabric *f = net_spec(nets[i]);

		for (uint64_t seed = 0; seed < 2; seed++) {
			struct jobset *js =
				kit_placed_jobs(f, seed, seed ? 30 : f->nterm / 2, true);
			struct length_bound a = bound_of(NULL, f, js, LENGTH_ANY);
			struct length_bound s = bound_of(NULL, f, js, LENGTH_SHORTEST);

			assert_true(a.lower > 0 && a.lower <= a.upper * (1 + 1e-9));
			assert_true(s.lower <= s.upper * (1 + 1e-9));
			assert_true(a.upper <= 1.03 * a.lower);
			assert_true(s.upper <= 1.03 * s.lower);
			assert_true(a.lower <= s.upper * (1 + 1e-9));
			jobset_put(js);
		}
		fabric_put(f);
	}
}

/* Every pair of neighbours would have to be spread over everything: 8.6 and 4.4 % apart once. */
static void both_sides_are_near_for_jobs_side_by_side_too(void **state)
{
	static const char *const nets[] = { "hyperx:dims=12x8,hosts=7", "hyperx:dims=8x8,hosts=8",
					    "slimfly:q=7" };

	(void)state;
	for (size_t i = 0; i < sizeof(nets) / sizeof(*nets); i++) {
		struct fabric *f = net_spec(nets[i]);
		struct jobset *js = kit_placed_jobs(f, 102, 30, false);
		struct length_bound a = bound_of(NULL, f, js, LENGTH_ANY);

		assert_true(a.lower > 0 && a.lower <= a.upper * (1 + 1e-9));
		assert_true(a.upper <= 1.025 * a.lower);
		jobset_put(js);
		fabric_put(f);
	}
}

/* The lengths alone prove it, with distances of our own; no engine is below it. */
static void the_lengths_prove_it(void **state)
{
	struct fabric *f = net_spec("random:switches=20,links=60,hosts=3,seed=2,parallel=2");
	struct jobset *js = kit_placed_jobs(f, 4, 30, true);
	double *length = xcalloc(f->nchan, sizeof(*length)), all = 0, sum = 0;
	double *dist = xcalloc((size_t)f->nsw * f->nsw, sizeof(*dist));
	struct length_bound b = bound_of(length, f, js, LENGTH_ANY);
	size_t n;
	const struct engine *const *e = engine_all(&n);

	(void)state;
	for (uint32_t i = 0; i < f->nsw * f->nsw; i++)
		dist[i] = i % (f->nsw + 1) ? 1e9 : 0;
	for (uint32_t k = 0; k < f->nsw; k++)
		for (uint32_t u = 0; u < f->nsw; u++)
			for (uint32_t c = 0; c < f->nchan; c++) {
				double *d = &dist[u * f->nsw + f->chan_dst[c]];
				double v = dist[u * f->nsw + f->chan_src[c]] + length[c];

				*d = v < *d ? v : *d;
			}
	for (uint32_t c = 0; c < f->nchan; c++)
		all += length[c];
	for (uint32_t s = 0; s < f->nterm; s++)
		for (uint32_t d = 0; d < f->nterm; d++)
			if (s != d && js->term_off[s] < js->term_off[s + 1] &&
			    js->term_off[d] < js->term_off[d + 1] &&
			    js->term_job[js->term_off[s]] == js->term_job[js->term_off[d]])
				sum += dist[f->term_sw[s] * f->nsw + f->term_sw[d]];
	assert_float_equal(sum / all, b.lower, 1e-6 * b.lower);
	for (size_t i = 0; i < n; i++) {
		struct engine_params params = { .vls = 8, .threads = 1 };
		struct tables *t;
		struct metrics *m;

		if (e[i]->suits && e[i]->suits(f, NULL))
			continue;
		t = must_route(e[i], f, js, &params);
		assert_int_equal(metrics_compute(&m, f, t, js, NULL, NULL, NULL), 0);
		assert_true((double)m->eff_efi_max >= b.lower);
		metrics_free(m);
		tables_put(t);
	}
	free(length);
	free(dist);
	jobset_put(js);
	fabric_put(f);
}

/* Every pair counts, and counts once. */
static void shared_nodes_count_fully_and_once(void **state)
{
	struct fabric *f = net_spec("torus:dims=2x1,hosts=4");
	struct jobset_builder *b = jobset_builder_new(f, "test");
	static const uint32_t first[] = { 0, 1, 4, 5 }, second[] = { 0, 1, 2, 4, 5, 6 };
	struct job head = { .id = 1 };
	struct jobset *js;
	struct job_demand *d;

	(void)state;
	jobset_builder_add_ports(b, &head, first, 4);
	head.id = 2;
	jobset_builder_add_ports(b, &head, second, 6);
	js = jobset_build(b);
	d = job_demand_new(f, js, 100);
	assert_int_equal(d->off[2], 2);
	assert_int_equal(d->pairs[0], 9);
	assert_int_equal(d->pairs[1], 9);
	job_demand_free(d);
	jobset_put(js);

	b = jobset_builder_new(f, "test");
	head.id = 1;
	jobset_builder_add_ports(b, &head, (const uint32_t[]){ 0, 1, 2, 3, 4 }, 5);
	head.id = 2;
	jobset_builder_add_ports(b, &head, (const uint32_t[]){ 0, 4, 5, 6, 7 }, 5);
	js = jobset_build(b);
	assert_int_equal(metrics_eff_efi_bound(f, js), 7); /* 4 to host 4, then 3 from host 0 */
	jobset_put(js);
	fabric_put(f);
}

static void it_depends_on_nothing_but_its_input(void **state)
{
	struct fabric *f = net_spec("slimfly:q=5,hosts=3");
	struct jobset *js = kit_placed_jobs(f, 9, 20, true);
	struct length_bound a = bound_of(NULL, f, js, LENGTH_ANY);
	struct length_bound b = bound_of(NULL, f, js, LENGTH_ANY);
	struct job_demand *d = job_demand_new(f, js, 1u << 24);
	struct chan_weights w = { .unit = 1 };

	(void)state;
	assert_memory_equal(&a, &b, sizeof(a));
	assert_int_equal(length_bound_compute(&a, NULL, f, &w, d, LENGTH_ANY, 1000, NULL, ""), 0);
	assert_true(a.lower == 0 && a.upper == 0); /* too large for that */
	job_demand_free(d);
	assert_null(job_demand_new(f, js, 10));
	jobset_put(js);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simple_nets_have_the_bound_that_is_plain),
		cmocka_unit_test(half_the_rate_counts_twice),
		cmocka_unit_test(both_sides_are_near),
		cmocka_unit_test(both_sides_are_near_for_jobs_side_by_side_too),
		cmocka_unit_test(the_lengths_prove_it),
		cmocka_unit_test(shared_nodes_count_fully_and_once),
		cmocka_unit_test(it_depends_on_nothing_but_its_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
