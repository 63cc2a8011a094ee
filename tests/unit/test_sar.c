/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar.h"

#include "engines/balance.h"
#include "engines/dfsssp.h"
#include "engines/metrics.h"
#include "fabric/base/mem.h"
#include "fabric/base/rng.h"
#include "tests/unit/route_check.h"
#include "tests/unit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void add_job(struct jobset_builder *b, const struct fabric *f, uint64_t id,
		    const uint32_t *terms, uint32_t n)
{
	struct job head = { .id = id };
	const char **names = xcalloc(n, sizeof(*names));

	for (uint32_t i = 0; i < n; i++)
		names[i] = f->term_name[terms[i]];
	jobset_builder_add(b, &head, names, n);
	free(names);
}

/* Random jobs, some of them sharing terminals, one on a single switch. */
static struct jobset *random_jobs(const struct fabric *f, uint64_t seed, uint32_t njob)
{
	struct jobset_builder *b = jobset_builder_new(f, "test");
	uint32_t *terms = xcalloc(f->nterm, sizeof(*terms));
	struct rng r;

	rng_seed(&r, seed);
	for (uint32_t j = 0; j < njob; j++) {
		uint32_t n = 2 + (uint32_t)rng_below(&r, f->nterm / 3);

		for (uint32_t i = 0; i < f->nterm; i++)
			terms[i] = i;
		rng_shuffle_u32(&r, terms, f->nterm);
		add_job(b, f, 100 + njob - j, terms, n);
	}
	add_job(b, f, 1, f->term_list, 1);
	free(terms);
	return jobset_build(b);
}

static bool share_a_job(const struct jobset *js, uint32_t a, uint32_t b)
{
	for (uint32_t j = 0; j < js->njob; j++) {
		bool has_a = false, has_b = false;

		for (uint32_t i = 0; i < js->jobs[j].nterm; i++) {
			has_a |= js->jobs[j].terms[i] == a;
			has_b |= js->jobs[j].terms[i] == b;
		}
		if (has_a && has_b && js->jobs[j].nsw > 1)
			return true;
	}
	return false;
}

/* Line 5: size of the largest job, its id; 0 without a job over several switches. */
static uint32_t largest(const struct jobset *js, uint32_t term, uint64_t *id)
{
	uint32_t size = 0;

	*id = 0;
	for (uint32_t j = 0; j < js->njob; j++) {
		const struct job *job = &js->jobs[j];

		for (uint32_t i = 0; i < job->nterm && job->nsw > 1; i++) {
			if (job->terms[i] != term || job->nterm < size ||
			    (job->nterm == size && job->id > *id))
				continue;
			size = job->nterm;
			*id = job->id;
		}
	}
	return size;
}

/* Lines 7 to 10 (or 12 and 13: js NULL) for one LID: the paths in t must be optimal now. */
static void naive_step(const struct fabric *f, const struct tables *t, const struct jobset *js,
		       uint64_t *load, uint32_t term, uint32_t lid)
{
	uint64_t *cost = naive_costs(f, load, f->term_sw[term]);
	uint64_t *add = xcalloc(f->nchan, sizeof(*add));

	for (uint32_t x = 0; x < f->nterm; x++) {
		uint64_t sum = 0;

		for (uint32_t v = f->term_sw[x]; v != f->term_sw[term];) {
			uint32_t c = fabric_chan(f, v, tables_row(t, v)[lid]);

			sum += (1ull << 32) + load[c];
			add[c] += !js || share_a_job(js, x, term);
			v = f->chan_dst[c];
		}
		assert_true(sum == cost[f->term_sw[x]]);
	}
	for (uint32_t c = 0; c < f->nchan; c++)
		load[c] += add[c];
	free(add);
	free(cost);
}

static const struct jobset *order_js;
static const struct fabric *order_f;
static int algorithm_1_order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t ix, iy;
	uint32_t sx = largest(order_js, x, &ix), sy = largest(order_js, y, &iy);

	if (sx != sy)
		return sx > sy ? -1 : 1;
	if (ix != iy)
		return ix < iy ? -1 : 1;
	if (!sx && order_f->term_kind[x] != order_f->term_kind[y])
		return order_f->term_kind[x] == TERM_STORAGE ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void follows_algorithm_1_path_by_path(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct net_opts o = { .lmc = (int)(seed % 3), .random_lids = seed, .storage = 4 };
		struct fabric *f = net_random(seed, 12, 26, 4, &o);
		struct jobset *js = random_jobs(f, seed, 4);
		struct engine_params p = { .sar_method = SAR_PAPER };
		struct tables *t = must_route(&engine_sar, f, js, &p);
		uint64_t *load = xcalloc(f->nchan, sizeof(*load)), id;
		uint32_t *order = xcalloc(f->nterm, sizeof(*order));

		for (uint32_t i = 0; i < f->nterm; i++)
			order[i] = i;
		order_js = js;
		order_f = f;
		qsort(order, f->nterm, sizeof(*order), algorithm_1_order);
		for (uint32_t i = 0; i < f->nterm; i++)
			for (uint32_t k = 0; k < 1u << f->lmc; k++)
				naive_step(f, t, largest(js, order[i], &id) ? js : NULL, load,
					   order[i], f->term_lid[order[i]] + k);
		assert_complete(f, t);
		assert_shortest(f, t);
		assert_no_deadlock(f, t);
		free(order);
		free(load);
		tables_put(t);
		jobset_put(js);
		fabric_put(f);
	}
}

static void without_jobs_it_is_dfsssp_where_lids_are_in_the_fabrics_order(void **state)
{
	struct net_opts o = { .lmc = 1, .aggregation = 2 };
	struct fabric *f = net_random(9, 20, 50, 4, &o);
	struct jobset *none = jobset_build(jobset_builder_new(f, "test"));
	struct tables *a = must_route(&engine_sar, f, NULL, NULL);
	struct tables *b = must_route(&engine_dfsssp, f, NULL, NULL);
	struct tables *c = must_route(&engine_sar, f, none, NULL);

	(void)state;
	assert_same_tables(a, b);
	assert_same_tables(a, c);
	tables_put(a);
	tables_put(b);
	tables_put(c);
	jobset_put(none);
	fabric_put(f);
}

/* Three jobs of 60 in chunks of 30 by node name: j1 j2 j1 j3 j2 j3. */
static struct jobset *island_jobs(const struct fabric *f)
{
	static const uint32_t chunk[3][2] = { { 0, 2 }, { 1, 4 }, { 3, 5 } };
	struct jobset_builder *b = jobset_builder_new(f, "test");

	for (uint32_t j = 0; j < 3; j++) {
		uint32_t terms[60];

		for (uint32_t i = 0; i < 60; i++)
			terms[i] = 30 * chunk[j][i / 30] + i % 30;
		add_job(b, f, j + 1, terms, 60);
	}
	return jobset_build(b);
}

/* As the papers' DFSSSP, which takes the LIDs as they come. */
static struct tables *in_order_of_lids(const struct fabric *f)
{
	struct tables *t = tables_new(f, "test");
	struct balance *b = balance_new(f, t, BALANCE_PATHS, NULL, NULL);
	uint32_t n;
	struct dest *dests = graph_dests_by_lid(&n, f, f->lmc);
	struct pace pace;
	uint64_t done = 0;

	assert_false(pace_begin(&pace, NULL, "paths", n));
	assert_int_equal(balance_route_all(b, dests, n, &pace, &done), 0);
	balance_free(b);
	free(dests);
	return t;
}

/* e NULL: in_order_of_lids(). */
static uint64_t island_max(const struct engine *e, const struct fabric *f, const struct jobset *js)
{
	struct tables *t = e ? must_route(e, f, js, NULL) : in_order_of_lids(f);
	struct metrics *m;
	uint64_t max;

	assert_int_equal(metrics_compute(&m, f, t, js, NULL, NULL, NULL), 0);
	max = m->eff_efi_max;
	assert_true(max >= m->eff_efi_bound);
	metrics_free(m);
	tables_put(t);
	return max;
}

/* The poster's island: 10 leaves of 18 hosts. */
static void on_an_island_it_beats_the_papers_dfsssp_with_lids_in_random_order(void **state)
{
	struct fabric *f = net_tree(10, 18, 18, NULL);
	struct jobset *js = island_jobs(f);

	(void)state;
	assert_int_equal(island_max(&engine_dfsssp, f, js), 54);
	assert_in_range(island_max(&engine_sar, f, js), 54, 66);
	jobset_put(js);
	fabric_put(f);
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct net_opts o = { .random_lids = seed };
		uint64_t sar, dfsssp;

		f = net_tree(10, 18, 18, &o);
		js = island_jobs(f);
		sar = island_max(&engine_sar, f, js);
		dfsssp = island_max(NULL, f, js);
		assert_in_range(sar, 54, 66);
		assert_true(4 * sar <= 3 * dfsssp);
		jobset_put(js);
		fabric_put(f);
	}
}

static void jobs_of_another_fabric_are_refused(void **state)
{
	struct fabric *f = net_tree(4, 2, 3, NULL), *other = net_tree(3, 2, 3, NULL);
	struct jobset *js = random_jobs(other, 1, 2);
	struct engine_params p = { 0 };
	struct tables *t = NULL;
	struct err err;

	(void)state;
	assert_int_equal(engine_sar.route(&t, f, js, NULL, &p, NULL, &err), -EINVAL);
	assert_null(t);
	jobset_put(js);
	fabric_put(other);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_algorithm_1_path_by_path),
		cmocka_unit_test(without_jobs_it_is_dfsssp_where_lids_are_in_the_fabrics_order),
		cmocka_unit_test(on_an_island_it_beats_the_papers_dfsssp_with_lids_in_random_order),
		cmocka_unit_test(jobs_of_another_fabric_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
