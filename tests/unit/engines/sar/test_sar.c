/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/sar.h"

#include "engines/dfsssp.h"
#include "engines/graph/balance/min_load_tree.h"
#include "engines/metrics/metrics.h"
#include "engines/minhop.h"
#include "engines/predict/predict.h"
#include "engines/verify/verify.h"
#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/tables_diff.h"
#include "fabric/sim/topology/topo.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

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
	struct min_load_tree *b = min_load_tree_new(f, t, BALANCE_PATHS, NULL, NULL);
	uint32_t n;
	struct dest *dests = graph_dests_by_lid(&n, f, f->lmc);
	struct pace pace;
	uint64_t done = 0;

	assert_false(pace_begin(&pace, NULL, "paths", n));
	assert_int_equal(min_load_tree_route_all(b, dests, n, &pace, &done), 0);
	min_load_tree_free(b);
	free(dests);
	return t;
}

static uint64_t max_of(const struct fabric *f, const struct jobset *js, const struct tables *t,
		       double *jobs)
{
	struct metrics *m;
	uint64_t max;

	assert_int_equal(metrics_compute(&m, f, t, js, NULL, NULL, NULL), 0);
	max = m->eff_efi_max;
	assert_true(max >= m->eff_efi_bound);
	*jobs = m->job_efi_max_mean;
	metrics_free(m);
	return max;
}

static uint64_t max_by(const struct engine *e, enum sar_method method, const struct fabric *f,
		       const struct jobset *js, const struct tables *current)
{
	struct engine_params p = { .sar_method = method, .current = current };
	struct tables *t = must_route(e, f, js, &p);
	double jobs;
	uint64_t max = max_of(f, js, t, &jobs);

	tables_put(t);
	return max;
}

static struct tables *leafwise(const struct fabric *f, const struct jobset *js)
{
	struct engine_params p = { .sar_method = SAR_LEAFWISE };

	return must_route(&engine_sar, f, js, &p);
}

static void
on_an_island_with_lids_in_order_leafwise_is_as_good_as_dfsssp_which_is_optimal(void **state)
{
	struct fabric *f = net_tree(10, 18, 18, NULL);
	struct jobset *js = island_jobs(f);
	struct tables *dfsssp = must_route(&engine_dfsssp, f, js, NULL);

	(void)state;
	assert_int_equal(metrics_eff_efi_bound(f, js), 54);
	assert_int_equal(max_by(&engine_dfsssp, SAR_PAPER, f, js, NULL), 54);
	assert_in_range(max_by(&engine_sar, SAR_PAPER, f, js, NULL), 54, 66);
	assert_int_equal(max_by(&engine_sar, SAR_LEAFWISE, f, js, NULL), 54);
	assert_int_equal(max_by(&engine_sar, SAR_LEAFWISE, f, js, dfsssp), 54);
	tables_put(dfsssp);
	jobset_put(js);
	fabric_put(f);
}

/* The poster's island: 10 leaves of 18 hosts. */
static void on_an_island_with_lids_in_random_order_leafwise_reaches_the_bound(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct net_opts o = { .random_lids = seed };
		struct fabric *f = net_tree(10, 18, 18, &o);
		struct jobset *js = island_jobs(f);
		struct tables *t = in_order_of_lids(f);
		uint64_t paper = max_by(&engine_sar, SAR_PAPER, f, js, NULL);
		double jobs;
		uint64_t dfsssp = max_of(f, js, t, &jobs);

		assert_in_range(paper, 54, 66);
		assert_true(4 * paper <= 3 * dfsssp);
		assert_int_equal(max_by(&engine_sar, SAR_LEAFWISE, f, js, NULL), 54);
		assert_in_range(max_by(&engine_sar, SAR_LEAFWISE, f, js, t), 54, 60);
		tables_put(t);
		jobset_put(js);
		fabric_put(f);
	}
}

static struct fabric *make(const char *spec)
{
	struct freeze_opts opts = { .lmc = -1, .assign_lids = true };
	struct builder *b;
	struct fabric *f;
	struct err err;

	assert_int_equal(topo_build(&b, spec, &err), 0);
	assert_int_equal(builder_freeze(&f, b, &opts, &err), 0);
	builder_free(b);
	return f;
}

static void from_scratch_leafwise_is_never_worse_than_dfsssp(void **state)
{
	static const char *const specs[] = {
		"hyperx:dims=4x3,hosts=3",
		"dragonfly:p=2",
		"torus:dims=3x3x3,hosts=2",
		"kary:k=4,n=3,hosts=3",
		"fattree2:leaves=10,spines=9,hosts=18",
		"random:switches=20,links=50,hosts=4,seed=3,fail=10%",
	};

	(void)state;
	for (size_t i = 0; i < 6 * sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = make(specs[i / 6]);
		struct jobset *js = random_jobs(f, i + 1, 2 + i % 6);
		struct tables *dfsssp = must_route(&engine_dfsssp, f, js, NULL);
		double jobs;

		assert_true(max_by(&engine_sar, SAR_LEAFWISE, f, js, NULL) <=
			    max_of(f, js, dfsssp, &jobs));
		tables_put(dfsssp);
		jobset_put(js);
		fabric_put(f);
	}
}

/* Where dfsssp is at the bound already it is left alone, for the sake of all other traffic. */
static void paths_of_dfsssp_that_cannot_be_improved_stay(void **state)
{
	struct net_opts o = { .random_lids = 3 };
	struct fabric *f = net_tree(10, 18, 18, &o);
	struct jobset *js = island_jobs(f);
	struct tables *a = must_route(&engine_dfsssp, f, js, NULL);
	struct tables *b = leafwise(f, js);
	struct metrics *m;

	(void)state;
	assert_int_equal(metrics_compute(&m, f, b, js, NULL, NULL, NULL), 0);
	assert_int_equal(m->eff_efi_max, m->eff_efi_bound);
	assert_int_equal(m->efi_max, 162);
	for (uint32_t u = 0; u < f->nsw; u++)
		for (uint32_t d = 0; d < f->nterm; d++)
			assert_int_equal(tables_row(a, u)[f->term_lid[d]],
					 tables_row(b, u)[f->term_lid[d]]);
	metrics_free(m);
	tables_put(a);
	tables_put(b);
	jobset_put(js);
	fabric_put(f);
}

/* SC16 Fig. 2: three jobs of one size, scattered over a 2-level tree. */
static void three_scattered_jobs_come_close_to_the_bound(void **state)
{
	struct fabric *f = net_tree(12, 9, 18, NULL);
	struct jobset_builder *b = jobset_builder_new(f, "test");
	uint32_t *terms = xcalloc(f->nterm, sizeof(*terms));
	uint64_t bound, max;
	struct jobset *js;
	struct rng r;

	(void)state;
	rng_seed(&r, 2);
	for (uint32_t i = 0; i < f->nterm; i++)
		terms[i] = i;
	rng_shuffle_u32(&r, terms, f->nterm);
	for (uint32_t j = 0; j < 3; j++)
		add_job(b, f, j + 1, terms + j * (f->nterm / 3), f->nterm / 3);
	js = jobset_build(b);
	bound = metrics_eff_efi_bound(f, js);
	max = max_by(&engine_sar, SAR_LEAFWISE, f, js, NULL);
	assert_true(100 * max <= 106 * bound);
	assert_true(max < max_by(&engine_sar, SAR_PAPER, f, js, NULL));
	assert_true(max < max_by(&engine_dfsssp, SAR_PAPER, f, js, NULL));
	free(terms);
	jobset_put(js);
	fabric_put(f);
}

/* ---- patch ---- */

static const struct jobset *patch_js;
static uint32_t first_given(uint32_t term)
{
	uint32_t first = FAB_NONE;

	for (uint32_t j = 0; j < patch_js->njob; j++)
		for (uint32_t i = 0; i < patch_js->jobs[j].nterm; i++)
			if (patch_js->jobs[j].terms[i] == term && patch_js->jobs[j].nsw > 1 &&
			    patch_js->jobs[j].given < first)
				first = patch_js->jobs[j].given;
	return first;
}

static int patch_order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t gx = first_given(x), gy = first_given(y);

	if (gx != gy)
		return gx < gy ? -1 : 1;
	if (gx == FAB_NONE)
		return order_f->term_lid[x] < order_f->term_lid[y] ? -1 : 1;
	return x < y ? -1 : 1;
}

/* LIDs of the job with most of them on that switch, among the jobs of the terminal. */
static uint64_t patch_weight(const struct fabric *f, uint32_t term, uint32_t sw)
{
	uint64_t most = 0;

	if (first_given(term) == FAB_NONE)
		return (uint64_t)f->sw_nterm[sw] << f->lmc;
	for (uint32_t j = 0; j < patch_js->njob; j++) {
		uint64_t here = 0;
		bool has = false;

		for (uint32_t i = 0; i < patch_js->jobs[j].nterm; i++) {
			has |= patch_js->jobs[j].terms[i] == term;
			here += f->term_sw[patch_js->jobs[j].terms[i]] == sw;
		}
		if (has && patch_js->jobs[j].nsw > 1 && here << f->lmc > most)
			most = here << f->lmc;
	}
	return most;
}

static void patch_step(const struct fabric *f, const struct tables *t, uint64_t *load,
		       uint32_t term, uint32_t lid)
{
	uint64_t *cost = naive_costs(f, load, f->term_sw[term]);
	uint64_t *add = xcalloc(f->nchan, sizeof(*add));

	for (uint32_t u = 0; u < f->nsw; u++) {
		uint64_t sum = 0;

		for (uint32_t v = u; v != f->term_sw[term];) {
			uint32_t c = fabric_chan(f, v, tables_row(t, v)[lid]);

			sum += (1ull << 32) + load[c];
			add[c] += patch_weight(f, term, u);
			v = f->chan_dst[c];
		}
		assert_true(sum == cost[u]);
	}
	for (uint32_t c = 0; c < f->nchan; c++)
		load[c] += add[c];
	free(add);
	free(cost);
}

static void patch_goes_by_the_order_given_and_by_the_most_lids_on_a_switch(void **state)
{
	struct engine_params p = { .sar_method = SAR_PATCH };

	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct net_opts o = { .lmc = (int)(seed % 2), .random_lids = seed, .storage = 4 };
		struct fabric *f = net_random(seed, 10, 22, 4, &o);
		struct jobset *js = random_jobs(f, seed, 4);
		struct tables *t = must_route(&engine_sar, f, js, &p);
		uint64_t *load = xcalloc(f->nchan, sizeof(*load));
		uint32_t *order = xcalloc(f->nterm, sizeof(*order));

		for (uint32_t i = 0; i < f->nterm; i++)
			order[i] = i;
		patch_js = js;
		order_f = f;
		qsort(order, f->nterm, sizeof(*order), patch_order);
		for (uint32_t i = 0; i < f->nterm; i++)
			for (uint32_t k = 0; k < 1u << f->lmc; k++)
				patch_step(f, t, load, order[i], f->term_lid[order[i]] + k);
		assert_non_null(strstr(t->params, "method=patch"));
		free(order);
		free(load);
		tables_put(t);
		jobset_put(js);
		fabric_put(f);
	}
}

/* ---- leafwise ---- */

static void assert_sound(const struct fabric *f, const struct tables *t)
{
	struct verdict *v;
	struct err err;

	assert_int_equal(verify_tables(&v, f, t, NULL, NULL, &err), 0);
	assert_true(verdict_ok(v));
	verdict_free(v);
}

/* Terminals in several jobs are among them: the objective is what metrics counts. */
static void leafwise_is_never_worse_than_what_is_installed(void **state)
{
	uint32_t kept = 0;
	struct rng r;

	(void)state;
	rng_seed(&r, 77);
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct net_opts o = { .lmc = (int)(seed % 3), .random_lids = seed };
		struct fabric *f = net_random(seed, 8 + (uint32_t)(seed % 9), 30, 4, &o);
		struct jobset *js = random_jobs(f, seed, 3);
		struct tables *current = seed % 2 ? kit_random_trees(f, &r) : kit_bfs(f), *t;
		struct notes notes = { 0 };
		struct engine_params p = {
			.vls = 15, .sar_method = SAR_LEAFWISE, .current = current, .notes = &notes
		};
		double was, is;
		uint64_t before = max_of(f, js, current, &was), after;

		t = must_route(&engine_sar, f, js, &p);
		after = max_of(f, js, t, &is);
		assert_true(after < before || (after == before && is <= was));
		kept += notes_find(&notes, "sar_kept_installed") != NULL;
		assert_sound(f, t);
		assert_complete(f, t);
		notes_done(&notes);
		/* and it rests there */
		p.notes = NULL;
		p.current = t;
		assert_true(max_by(&engine_sar, SAR_LEAFWISE, f, js, t) <= after);
		tables_put(t);
		tables_put(current);
		jobset_put(js);
		fabric_put(f);
	}
	assert_true(kept < 30);
}

static void installed_tables_that_cannot_be_improved_stay_to_the_byte(void **state)
{
	struct fabric *f = net_tree(10, 18, 18, NULL);
	struct jobset *js = island_jobs(f);
	struct tables *current = leafwise(f, js), *t;
	struct notes notes = { 0 };
	struct engine_params p = { .sar_method = SAR_LEAFWISE, .notes = &notes };

	(void)state;
	tables_sl_form(current, SL_BY_TERM, f);
	memset(current->sl, 3, (size_t)f->nend * current->stride);
	p.current = current;
	t = must_route(&engine_sar, f, js, &p);
	assert_memory_equal(t->lft, current->lft, (size_t)f->nsw * t->stride);
	assert_int_equal(t->sl_kind, SL_BY_TERM);
	assert_memory_equal(t->sl, current->sl, (size_t)f->nend * t->stride);
	assert_non_null(notes_find(&notes, "sar_kept_installed"));
	notes_done(&notes);
	tables_put(t);
	tables_put(current);
	jobset_put(js);
	fabric_put(f);
}

static void installed_tables_that_can_deadlock_or_lead_nowhere_are_not_kept(void **state)
{
	struct fabric *f = net_ring(6, 3, NULL), *tree = net_tree(10, 18, 18, NULL);
	struct jobset *js = random_jobs(f, 1, 2), *island = island_jobs(tree);
	struct tables *current = kit_clockwise(f), *t;
	struct notes notes = { 0 };
	struct engine_params p = { .vls = 8, .current = current };

	(void)state;
	t = must_route(&engine_sar, f, js, &p);
	assert_sound(f, t);
	tables_put(t);
	tables_put(current);
	jobset_put(js);
	fabric_put(f);

	current = must_route(&engine_sar, tree, island, NULL);
	tables_row(current, 3)[tree->term_lid[0]] = FAB_NO_PORT;
	p = (struct engine_params){ .current = current, .notes = &notes };
	t = must_route(&engine_sar, tree, island, &p);
	assert_complete(tree, t);
	assert_null(notes_find(&notes, "sar_from_scratch"));
	assert_int_equal(notes_find(&notes, "sar_repaired")->value, 1);
	assert_non_null(
		strstr(notes_find(&notes, "sar_repaired")->text, "1 LFT entry is repaired"));
	tables_row(current, 3)[tree->term_lid[0]] = tables_row(t, 3)[tree->term_lid[0]];
	assert_memory_equal(t->lft, current->lft, (size_t)t->nsw * t->stride);
	notes_done(&notes);
	tables_put(t);
	tables_put(current);
	jobset_put(island);
	fabric_put(tree);
}

/* After a failure the others' paths stay, but for what a step may change. */
static void lost_paths_are_repaired_before_a_step(void **state)
{
	struct fabric *f = net_tree(10, 18, 18, NULL);
	struct jobset *js = random_jobs(f, 3, 6);
	struct tables *current = must_route(engine_find("minhop", NULL), f, NULL, NULL), *t;
	uint8_t port = tables_row(current, 0)[f->term_lid[f->nterm - 1]];
	struct notes notes = { 0 };
	struct engine_params p = { .current = current, .notes = &notes, .sar_change = 0.05 };
	struct tables_diff *d;
	uint32_t lost = 0;

	(void)state;
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		if (tables_row(current, 0)[lid] != port)
			continue;
		tables_row(current, 0)[lid] = FAB_NO_PORT; /* as where its cable has gone */
		lost++;
	}
	assert_true(lost > 1);
	t = must_route(&engine_sar, f, js, &p);
	assert_sound(f, t);
	assert_null(notes_find(&notes, "sar_from_scratch"));
	assert_int_equal(notes_find(&notes, "sar_repaired")->value, lost);
	d = tables_diff_new(f, current, t);
	assert_in_range(d->nblocks, 1, 8 + f->max_lid / LFT_BLOCK + 1);
	tables_diff_free(d);
	notes_done(&notes);
	tables_put(t);
	tables_put(current);
	jobset_put(js);
	fabric_put(f);
}

/* (switch, LID) with the same path but another SL. */
static uint32_t paths_with_other_sls(const struct fabric *f, const struct tables *a,
				     const struct tables *b)
{
	uint32_t n = 0;

	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint8_t port;
		uint32_t dst = fabric_lid_switch(f, lid, &port);

		for (uint32_t s = 0; s < f->nsw && dst != FAB_NONE; s++) {
			uint32_t u = s, term = f->term_list[f->term_off[s]];

			while (u != dst && tables_row(a, u)[lid] == tables_row(b, u)[lid])
				u = f->chan_dst[fabric_chan(f, u, tables_row(a, u)[lid])];
			n += u == dst &&
			     tables_path_sl(a, term, s, lid) != tables_path_sl(b, term, s, lid);
		}
	}
	return n;
}

static void paths_that_an_update_leaves_alone_keep_their_sls(void **state)
{
	struct fabric *f = make("torus:dims=4x4x4,hosts=4");
	struct engine_params p = { .vls = 8 };
	struct jobset *js = random_jobs(f, 1, 5);
	struct tables *t = must_route(&engine_sar, f, js, &p);
	uint32_t changed = 0;

	(void)state;
	jobset_put(js);
	for (uint64_t seed = 2; seed <= 4; seed++) {
		struct tables *next;

		js = random_jobs(f, seed, 5);
		p.current = t;
		next = must_route(&engine_sar, f, js, &p);
		changed += memcmp(t->lft, next->lft, (size_t)f->nsw * t->stride) != 0;
		assert_true(next->vls > 1);
		assert_int_equal(paths_with_other_sls(f, t, next), 0);
		assert_sound(f, next);
		jobset_put(js);
		tables_put(t);
		t = next;
	}
	assert_true(changed > 0);
	tables_put(t);
	fabric_put(f);
}

/* Jobs of 24 neighbours; the places of jobs gone and gone + 1 are free, or other jobs have every
 * second terminal of both. */
static struct jobset *busy_tree(const struct fabric *f, uint32_t gone, bool again)
{
	struct jobset_builder *b = jobset_builder_new(f, "test");
	uint32_t other[2][24];

	for (uint32_t j = 0; j < f->nterm / 24; j++)
		if (j != gone && j != gone + 1)
			add_job(b, f, j + 1, f->term_list + 24 * j, 24);
	for (uint32_t i = 0; i < 48; i++)
		other[i % 2][i / 2] = f->term_list[24 * gone + i];
	for (uint32_t k = 0; k < 2 && again; k++)
		add_job(b, f, 1000 + k, other[k], 24);
	return jobset_build(b);
}

static void few_blocks_change_when_few_jobs_change(void **state)
{
	struct fabric *f = make("xgft:h=3,m=12x6x6,w=1x8x6");
	struct jobset *js = busy_tree(f, 4, false);
	struct tables *t = leafwise(f, js);

	(void)state;
	for (uint32_t step = 0; step < 4; step++) {
		struct jobset *now = busy_tree(f, 4 + 2 * (step / 2), step % 2 == 0);
		struct engine_params p = { .sar_method = SAR_LEAFWISE, .current = t };
		struct tables *next = must_route(&engine_sar, f, now, &p);
		struct tables_diff *d = tables_diff_new(f, t, next);
		double jobs;

		assert_true(20 * d->nblocks <= d->blocks_all);
		assert_true(100 * max_of(f, now, next, &jobs) <=
			    106 * metrics_eff_efi_bound(f, now));
		tables_diff_free(d);
		tables_put(t);
		t = next;
		jobset_put(now);
	}
	tables_put(t);
	jobset_put(js);
	fabric_put(f);
}

/* The maximum falls step by step, and rests when it is near the bound. */
static void no_more_blocks_change_at_a_time_than_the_caller_allows(void **state)
{
	static const double shares[] = { 0.01, 0.05, 0.25 };
	struct fabric *f = make("xgft:h=3,m=8x6x6,w=1x5x4");
	struct jobset *js = random_jobs(f, 5, 12);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct tables *t = even_paths(f);
		double jobs, first = (double)max_of(f, js, t, &jobs), last = first;

		for (uint32_t step = 0; step < 6; step++) {
			struct engine_params p = { .sar_method = SAR_LEAFWISE,
						   .current = t,
						   .sar_change = shares[i] };
			struct tables *next = must_route(&engine_sar, f, js, &p);
			struct tables_diff *d = tables_diff_new(f, t, next);
			double near = 1.04 * (double)metrics_eff_efi_bound(f, js);
			double max = (double)max_of(f, js, next, &jobs);

			assert_true(d->nblocks <= shares[i] * d->blocks_all);
			assert_true(max <= last || max <= near);
			last = max;
			tables_diff_free(d);
			tables_put(t);
			t = next;
		}
		assert_true(last < first);
		tables_put(t);
	}
	jobset_put(js);
	fabric_put(f);
}

/* All-to-all in all jobs at once, mean over the jobs. */
static double mean_time(const struct fabric *f, const struct jobset *js, const struct tables *t)
{
	struct predict_opts o = { .pattern = PREDICT_ALLTOALL, .phases = 8, .seed = 1 };
	struct prediction *p;
	struct err err;
	double sum = 0;

	assert_int_equal(predict_jobs(&p, f, t, js, &o, NULL, &err), 0);
	for (uint32_t j = 0; j < p->njob; j++)
		sum += p->job[j].together;
	sum /= p->njob;
	prediction_free(p);
	return sum;
}

/* Jobs of 2 to 48 terminals side by side in random order. */
static struct jobset *mixed_jobs(const struct fabric *f, uint64_t seed)
{
	static const uint32_t sizes[] = { 48, 32, 24, 16, 12, 8, 8, 6, 6, 4, 4, 4, 3, 3, 2, 2 };
	struct jobset_builder *b = jobset_builder_new(f, "test");
	uint32_t *terms = xcalloc(f->nterm, sizeof(*terms)), at = 0;
	struct rng r;

	rng_seed(&r, seed);
	for (uint32_t i = 0; i < f->nterm; i++)
		terms[i] = i;
	rng_shuffle_u32(&r, terms, f->nterm);
	for (uint32_t j = 0; j < sizeof(sizes) / sizeof(*sizes); j++) {
		add_job(b, f, j + 1, terms + at, sizes[j]);
		at += sizes[j];
	}
	assert_true(at <= f->nterm);
	free(terms);
	return jobset_build(b);
}

static void jobs_do_not_send_slower_than_over_dfsssp_where_the_tree_is_the_limit(void **state)
{
	struct fabric *f = make("xgft:h=3,m=8x4x6,w=1x4x3");
	struct tables *dfsssp = must_route(&engine_dfsssp, f, NULL, NULL);
	double ours = 0, theirs = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct jobset *js = mixed_jobs(f, seed);
		struct tables *t = leafwise(f, js);

		ours += mean_time(f, js, t);
		theirs += mean_time(f, js, dfsssp);
		tables_put(t);
		jobset_put(js);
	}
	assert_true(ours < theirs);
	tables_put(dfsssp);
	fabric_put(f);
}

/* Large enough that only paths over full channels move, and hops are told as they are made. */
static void on_a_huge_fabric_the_maximum_falls_below_that_of_dfsssp(void **state)
{
	struct fabric *f = make("hyperx:dims=20x20,hosts=12");
	struct jobset *js = random_jobs(f, 1, 6);
	struct engine_params one = { .vls = 15, .sar_method = SAR_LEAFWISE, .threads = 1 },
			     two = { .vls = 15, .sar_method = SAR_LEAFWISE, .threads = 2 };
	struct tables *t = must_route(&engine_sar, f, js, &one);
	struct tables *again = must_route(&engine_sar, f, js, &two);
	struct tables *dfsssp = must_route(&engine_dfsssp, f, NULL, NULL);
	double jobs;

	(void)state;
	assert_true(max_of(f, js, t, &jobs) < max_of(f, js, dfsssp, &jobs));
	assert_sound(f, t);
	assert_shortest(f, t);
	assert_memory_equal(t->lft, again->lft, (size_t)t->nsw * t->stride);
	tables_put(t);
	tables_put(again);
	tables_put(dfsssp);
	jobset_put(js);
	fabric_put(f);
}

/* LIDs in random order, so that the routes of other engines are far from what jobs need. */
static void
jobs_do_not_send_slower_than_over_installed_routes_whose_maximum_is_lowered(void **state)
{
	struct fabric *f = make("fattree2:leaves=18,spines=18,hosts=18,lids=random");
	struct tables *minhop = must_route(&engine_minhop, f, NULL, NULL);
	double ours = 0, theirs = 0, jobs;

	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct jobset *js = mixed_jobs(f, seed);
		struct engine_params p = { .vls = 15,
					   .sar_method = SAR_LEAFWISE,
					   .current = minhop };
		struct tables *t = must_route(&engine_sar, f, js, &p);

		assert_true(max_of(f, js, t, &jobs) < max_of(f, js, minhop, &jobs));
		ours += mean_time(f, js, t);
		theirs += mean_time(f, js, minhop);
		tables_put(t);
		jobset_put(js);
	}
	assert_true(ours < theirs);
	tables_put(minhop);
	fabric_put(f);
}

static void leafwise_is_shortest_sound_and_the_same_every_time_on_any_kind_of_fabric(void **state)
{
	static const char *const specs[] = {
		"hyperx:dims=4x3,hosts=3", "dragonfly:p=2", "torus:dims=3x3x3,hosts=2",
		"kary:k=4,n=3,hosts=3", "random:switches=20,links=50,hosts=4,seed=3,fail=10%"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = make(specs[i]);
		struct jobset *js = random_jobs(f, i + 1, 5);
		struct engine_params one = { .vls = 15, .sar_method = SAR_LEAFWISE, .threads = 1 };
		struct engine_params two = { .vls = 15, .sar_method = SAR_LEAFWISE, .threads = 2 };
		struct tables *a = must_route(&engine_sar, f, js, &one);
		struct tables *b = must_route(&engine_sar, f, js, &two);
		double jobs;

		assert_same_tables(a, b);
		assert_complete(f, a);
		assert_shortest(f, a);
		assert_sound(f, a);
		assert_true(max_of(f, js, a, &jobs) <= max_by(&engine_sar, SAR_PAPER, f, js, NULL));
		tables_put(a);
		tables_put(b);
		jobset_put(js);
		fabric_put(f);
	}
}

static void add_route(const struct fabric *f, const struct tables *t, uint64_t *load, uint32_t s,
		      uint32_t lid, uint32_t n)
{
	uint8_t port;
	uint32_t to = fabric_lid_switch(f, (uint16_t)lid, &port);

	for (uint32_t v = f->term_sw[s]; v != to;) {
		uint32_t c = fabric_chan(f, v, tables_row(t, v)[lid]);

		load[c] += n;
		v = f->chan_dst[c];
	}
}

/* Storage first, then the others, each by the least loads that the routes to LIDs with jobs have
 * left, where those inside jobs count more. */
static void leafwise_routes_storage_and_then_the_others_around_the_jobs(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct net_opts o = { .lmc = (int)(seed % 2), .random_lids = seed, .storage = 9 };
		struct fabric *f = net_random(seed, 12, 26, 4, &o);
		struct jobset_builder *b = jobset_builder_new(f, "test");
		struct jobset *js;
		struct tables *t;
		uint64_t *load = xcalloc(f->nchan, sizeof(*load));

		add_job(b, f, 1, f->term_list + 2, f->nterm / 3);
		js = jobset_build(b);
		t = leafwise(f, js);
		for (uint32_t d = 0; d < f->nterm; d++)
			for (uint32_t s = 0; s < f->nterm; s++)
				for (uint32_t k = 0; k < 1u << f->lmc; k++)
					add_route(f, t, load, s, f->term_lid[d] + k,
						  share_a_job(js, d, d) +
							  8 * share_a_job(js, s, d));
		for (int storage = 1; storage >= 0; storage--)
			for (uint32_t d = 0; d < f->nterm; d++)
				for (uint32_t k = 0; k < 1u << f->lmc; k++)
					if (js->term_off[d] == js->term_off[d + 1] &&
					    (f->term_kind[d] == TERM_STORAGE) == storage)
						naive_step(f, t, NULL, load, d, f->term_lid[d] + k);
		free(load);
		tables_put(t);
		jobset_put(js);
		fabric_put(f);
	}
}

static void jobs_on_one_switch_change_nothing(void **state)
{
	struct fabric *f = net_tree(6, 4, 8, NULL);

	(void)state;
	for (int method = SAR_TIME; method <= SAR_PATCH; method++) {
		struct engine_params p = { .sar_method = (enum sar_method)method };
		struct jobset *js[2];
		struct tables *t[2];

		for (uint32_t i = 0; i < 2; i++) {
			struct jobset_builder *b = jobset_builder_new(f, "test");

			if (i)
				add_job(b, f, 7, f->term_list + 40, 8);
			add_job(b, f, 9, f->term_list + 5, 21);
			js[i] = jobset_build(b);
			t[i] = must_route(&engine_sar, f, js[i], &p);
		}
		assert_same_tables(t[0], t[1]);
		for (uint32_t i = 0; i < 2; i++) {
			tables_put(t[i]);
			jobset_put(js[i]);
		}
	}
	fabric_put(f);
}

/* Each node has a port in either of two trees that a cable joins. */
static void rails_of_a_node_are_terminals_of_its_job(void **state)
{
	struct freeze_opts opts = { .name = "rails", .assign_lids = true };
	struct builder *b = builder_new();
	uint32_t sw[4], node;
	struct jobset_builder *jb;
	struct fabric *f;
	struct jobset *js;
	struct tables *t;
	struct err err;
	const char *names[6];
	char name[6][8];
	double jobs;

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(
			builder_node(&sw[i], b, NODE_SWITCH, 0x2000 + 16 * i, 32, "S", &err), 0);
	for (uint32_t i = 0; i < 6; i++) {
		snprintf(name[i], sizeof(name[i]), "n%u", i);
		names[i] = name[i];
		assert_int_equal(builder_node(&node, b, NODE_CA, 0x9000 + 16 * i, 2, name[i], &err),
				 0);
		for (uint32_t r = 0; r < 2; r++) {
			assert_int_equal(
				builder_port_guid(b, node, r + 1, 0x9001 + 16 * i + r, &err), 0);
			assert_int_equal(
				builder_link(b, node, r + 1, sw[2 * r + i / 3], 1 + i % 3, &err),
				0);
		}
	}
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t k = 0; k < 2; k++)
			assert_int_equal(
				builder_link(b, sw[i], 10 + k, sw[(i + 1) % 4], 20 + k, &err), 0);
	assert_int_equal(builder_freeze(&f, b, &opts, &err), 0);
	builder_free(b);
	jb = jobset_builder_new(f, "test");
	jobset_builder_add(jb, &(struct job){ .id = 1 }, names, 6);
	js = jobset_build(jb);
	assert_int_equal(js->jobs[0].nterm, 12);
	t = leafwise(f, js);
	assert_sound(f, t);
	/* 3 terminals a switch, 4 links: 3 destinations of weight 3 on one of them at least */
	assert_in_range(max_of(f, js, t, &jobs), 9, 12);
	tables_put(t);
	jobset_put(js);
	fabric_put(f);
}

static void stop_at_once(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct progress *p = ctx;

	(void)step;
	if (total && done)
		atomic_store(&p->cancel, true);
}

static void leafwise_can_be_cancelled(void **state)
{
	struct fabric *f = net_tree(10, 18, 18, NULL);
	struct jobset *js = island_jobs(f);
	struct engine_params params = { .sar_method = SAR_LEAFWISE };
	struct progress p = { .report = stop_at_once, .ctx = &p };
	struct tables *t = NULL;
	struct err err;

	(void)state;
	assert_int_equal(engine_run(&engine_sar, &t, f, js, NULL, &params, &p, &err), -ECANCELED);
	assert_null(t);
	jobset_put(js);
	fabric_put(f);
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
		cmocka_unit_test(on_a_huge_fabric_the_maximum_falls_below_that_of_dfsssp),
		cmocka_unit_test(
			jobs_do_not_send_slower_than_over_installed_routes_whose_maximum_is_lowered),
		cmocka_unit_test(follows_algorithm_1_path_by_path),
		cmocka_unit_test(without_jobs_it_is_dfsssp_where_lids_are_in_the_fabrics_order),
		cmocka_unit_test(
			on_an_island_with_lids_in_order_leafwise_is_as_good_as_dfsssp_which_is_optimal),
		cmocka_unit_test(on_an_island_with_lids_in_random_order_leafwise_reaches_the_bound),
		cmocka_unit_test(from_scratch_leafwise_is_never_worse_than_dfsssp),
		cmocka_unit_test(paths_of_dfsssp_that_cannot_be_improved_stay),
		cmocka_unit_test(three_scattered_jobs_come_close_to_the_bound),
		cmocka_unit_test(patch_goes_by_the_order_given_and_by_the_most_lids_on_a_switch),
		cmocka_unit_test(leafwise_is_never_worse_than_what_is_installed),
		cmocka_unit_test(installed_tables_that_cannot_be_improved_stay_to_the_byte),
		cmocka_unit_test(installed_tables_that_can_deadlock_or_lead_nowhere_are_not_kept),
		cmocka_unit_test(lost_paths_are_repaired_before_a_step),
		cmocka_unit_test(few_blocks_change_when_few_jobs_change),
		cmocka_unit_test(paths_that_an_update_leaves_alone_keep_their_sls),
		cmocka_unit_test(no_more_blocks_change_at_a_time_than_the_caller_allows),
		cmocka_unit_test(
			jobs_do_not_send_slower_than_over_dfsssp_where_the_tree_is_the_limit),
		cmocka_unit_test(
			leafwise_is_shortest_sound_and_the_same_every_time_on_any_kind_of_fabric),
		cmocka_unit_test(leafwise_routes_storage_and_then_the_others_around_the_jobs),
		cmocka_unit_test(jobs_on_one_switch_change_nothing),
		cmocka_unit_test(rails_of_a_node_are_terminals_of_its_job),
		cmocka_unit_test(leafwise_can_be_cancelled),
		cmocka_unit_test(jobs_of_another_fabric_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
