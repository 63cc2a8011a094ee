/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/metrics/metrics.h"

#include "engines/engine.h"
#include "engines/verify/verify.h"
#include "fabric/base/memory/mem.h"
#include "fabric/sim/topology/topo.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct metrics *measure(const struct fabric *f, const struct tables *t,
			       const struct jobset *js)
{
	struct metrics *m;
	struct err err;

	assert_int_equal(metrics_compute(&m, f, t, js, NULL, NULL, &err), 0);
	return m;
}

/* ---- against a recount of every ordered pair ---- */

struct recount {
	uint64_t *efi, *eff;
	uint64_t **job; /* [job][chan] */
	uint64_t *routes;
	uint64_t unreachable, hops, pairs, hops_max;
};

/* Channels from one terminal to another's base LID into path; FAB_NONE: no way. */
static uint32_t path_of(const struct fabric *f, const struct tables *t, uint32_t src, uint32_t dst,
			uint32_t *path)
{
	uint32_t sw = f->term_sw[src], n = 0;

	for (uint32_t step = 0; step <= f->nsw; step++) {
		uint8_t out = tables_row(t, sw)[f->term_lid[dst]];

		if (out == f->term_port[dst] && sw == f->term_sw[dst])
			return n;
		path[n] = fabric_chan(f, sw, out);
		if (path[n] == FAB_NONE)
			return FAB_NONE;
		sw = f->chan_dst[path[n++]];
	}
	return FAB_NONE;
}

static bool in_job(const struct job *job, uint32_t term)
{
	for (uint32_t i = 0; i < job->nterm; i++)
		if (job->terms[i] == term)
			return true;
	return false;
}

static void recount_pair(struct recount *r, const struct fabric *f, const struct tables *t,
			 const struct jobset *js, uint32_t src, uint32_t dst, uint32_t *path)
{
	uint32_t n = path_of(f, t, src, dst, path);
	bool shared = false;

	if (n == FAB_NONE) {
		r->unreachable++;
		return;
	}
	r->pairs++;
	r->hops += n;
	r->hops_max = n > r->hops_max ? n : r->hops_max;
	for (uint32_t i = 0; i < n; i++)
		r->efi[path[i]]++;
	for (uint32_t j = 0; js && j < js->njob; j++) {
		if (!in_job(&js->jobs[j], src) || !in_job(&js->jobs[j], dst))
			continue;
		shared = true;
		r->routes[j] += n > 0;
		for (uint32_t i = 0; i < n; i++)
			r->job[j][path[i]]++;
	}
	for (uint32_t i = 0; shared && i < n; i++)
		r->eff[path[i]]++;
}

static void assert_close(double a, double b)
{
	assert_true(fabs(a - b) <= 1e-9 * (1 + fabs(b)));
}

static void assert_jobs(const struct recount *r, const struct metrics *m)
{
	double max_sum = 0, links_sum = 0, n = 0;

	for (uint32_t j = 0; j < m->njob; j++) {
		uint64_t max = 0, links = 0;

		for (uint32_t c = 0; c < m->nchan; c++) {
			links += r->job[j][c] > 0;
			max = r->job[j][c] > max ? r->job[j][c] : max;
		}
		assert_int_equal(m->job[j].efi_max, max);
		assert_int_equal(m->job[j].links, links);
		assert_int_equal(m->job[j].routes, r->routes[j]);
		max_sum += r->routes[j] ? (double)max : 0;
		links_sum += r->routes[j] ? (double)links : 0;
		n += r->routes[j] > 0;
	}
	assert_close(m->job_efi_max_mean, n > 0 ? max_sum / n : 0);
	assert_close(m->links_per_job_mean, n > 0 ? links_sum / n : 0);
}

static void assert_channels(const struct recount *r, const struct metrics *m)
{
	uint32_t hist[METRICS_BUCKETS] = { 0 }, eff_hist[METRICS_BUCKETS] = { 0 };
	double sum = 0, square = 0, eff_sum = 0, dark = 0;
	uint64_t max = 0, eff_max = 0;

	for (uint32_t c = 0; c < m->nchan; c++) {
		assert_int_equal(m->efi[c], r->efi[c]);
		assert_int_equal(m->eff_efi[c], r->eff[c]);
		max = r->efi[c] > max ? r->efi[c] : max;
		eff_max = r->eff[c] > eff_max ? r->eff[c] : eff_max;
		sum += (double)r->efi[c];
		square += (double)r->efi[c] * (double)r->efi[c];
		eff_sum += (double)r->eff[c];
		dark += r->eff[c] == 0;
		hist[r->efi[c] / m->bucket_width]++;
		eff_hist[r->eff[c] / m->bucket_width]++;
	}
	assert_int_equal(m->efi_max, max);
	assert_int_equal(m->eff_efi_max, eff_max);
	assert_true(max < METRICS_BUCKETS * m->bucket_width);
	assert_true(m->bucket_width == 1 || max >= METRICS_BUCKETS * (m->bucket_width - 1));
	assert_memory_equal(m->efi_hist, hist, sizeof(hist));
	assert_memory_equal(m->eff_hist, eff_hist, sizeof(eff_hist));
	assert_close(m->efi_mean, sum / m->nchan);
	assert_close(m->efi_stddev * m->efi_stddev,
		     square / m->nchan - (sum / m->nchan) * (sum / m->nchan));
	assert_close(m->eff_efi_mean, eff_sum / m->nchan);
	assert_int_equal(m->dark, (uint32_t)dark);
	assert_close(m->dark_fiber_pct, 100 * dark / m->nchan);
}

static void assert_recount(const struct fabric *f, const struct tables *t, const struct jobset *js)
{
	struct metrics *m = measure(f, t, js);
	uint32_t njob = js ? js->njob : 0, *path = xcalloc(f->nsw + 2, sizeof(*path));
	struct recount r = { .efi = xcalloc(f->nchan, 8),
			     .eff = xcalloc(f->nchan, 8),
			     .job = xcalloc(njob, sizeof(*r.job)),
			     .routes = xcalloc(njob, 8) };
	struct verdict *v;

	for (uint32_t j = 0; j < njob; j++)
		r.job[j] = xcalloc(f->nchan, 8);
	for (uint32_t src = 0; src < f->nterm; src++)
		for (uint32_t dst = 0; dst < f->nterm; dst++)
			if (src != dst)
				recount_pair(&r, f, t, js, src, dst, path);
	assert_int_equal(m->nchan, f->nchan);
	assert_int_equal(m->njob, njob);
	assert_int_equal(m->unreachable, r.unreachable);
	assert_int_equal(m->hops_max, r.hops_max);
	assert_close(m->hops_mean, r.pairs ? (double)r.hops / (double)r.pairs : 0);
	assert_channels(&r, m);
	assert_jobs(&r, m);

	assert_int_equal(verify_tables(&v, f, t, NULL, NULL, NULL), 0);
	assert_int_equal(m->vls_used, v->vls_used);
	assert_int_equal(m->sls_used, v->sls_used);
	if (v->connected) {
		assert_int_equal(m->hops_max, v->hops_max);
		assert_close(m->hops_mean, v->hops_mean);
		assert_true(m->eff_efi_bound <= m->eff_efi_max);
	}
	assert_int_equal(m->eff_efi_bound, metrics_eff_efi_bound(f, js));
	verdict_free(v);
	metrics_free(m);
	for (uint32_t j = 0; j < njob; j++)
		free(r.job[j]);
	free(r.job);
	free(r.efi);
	free(r.eff);
	free(r.routes);
	free(path);
}

static void all_figures_equal_a_recount_of_every_pair(void **state)
{
	static const enum sl2vl_kind kinds[] = { SL2VL_IDENTITY, SL2VL_BY_INPUT, SL2VL_FULL };
	struct rng r;

	(void)state;
	rng_seed(&r, 3);
	for (uint32_t round = 0; round < 200; round++) {
		struct net_opts opts = { .lmc = (int)(round % 3),
					 .random_lids = round,
					 .storage = round % 4,
					 .aggregation = round % 2 };
		struct fabric *f = net_random(round + 1, 3 + round % 9, 4 + round % 14, 4, &opts);
		struct tables *t = round % 3 ? kit_random_trees(f, &r) : kit_bfs(f);
		struct jobset *js = kit_random_jobs(f, round % 6, 10 + round % 60, &r);

		kit_random_sl(t, f, (enum sl_kind)(round % 4), 8, &r);
		kit_random_sl2vl(t, f, kinds[round % 3], 4, &r);
		for (uint32_t k = 0; k < round % 5 / 3; k++)
			tables_row(t,
				   (uint32_t)rng_below(&r, f->nsw))[1 + rng_below(&r, f->max_lid)] =
				(uint8_t)rng_below(&r, 10);
		assert_recount(f, t, round % 7 ? js : NULL);
		jobset_put(js);
		tables_put(t);
		fabric_put(f);
	}
}

static void wild_tables_are_measured_without_what_does_not_arrive(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 4);
	for (uint32_t round = 0; round < 60; round++) {
		struct fabric *f = net_random(round + 1, 2 + round % 5, 7, 3, NULL);
		struct tables *t = tables_new(f, "noise");
		struct jobset *js = kit_random_jobs(f, 3, 50, &r);

		for (size_t i = 0; i < (size_t)f->nsw * t->stride; i++)
			t->lft[i] = (uint8_t)rng_below(&r, round % 2 ? 256 : 7);
		assert_recount(f, t, js);
		jobset_put(js);
		tables_put(t);
		fabric_put(f);
	}
}

/* ---- figures that are known ---- */

static void jobs_by_host(const struct fabric *f, uint64_t *member, const uint8_t *job, uint32_t n)
{
	for (uint32_t term = 0; term < f->nterm; term++)
		member[term] = 1ull << job[term % n];
}

static void island_of_three_jobs_cannot_get_below_54(void **state)
{
	/* chunks of 30 hosts: j1 j2 j1 j3 j2 j3 over ten leaves of 18 */
	static const uint8_t chunk[6] = { 0, 1, 0, 2, 1, 2 };
	struct fabric *f = net_tree(10, 18, 18, NULL);
	uint64_t member[180];
	struct jobset *js;

	(void)state;
	assert_int_equal(f->nterm, 180);
	for (uint32_t i = 0; i < 180; i++)
		member[i] = 1ull << chunk[i / 30];
	js = kit_jobs(f, member, 3);
	assert_int_equal(js->nmulti, 3);
	assert_int_equal(metrics_eff_efi_bound(f, js), 54);
	jobset_put(js);
	fabric_put(f);
}

static void tree_with_two_jobs_has_the_figures_counted_by_hand(void **state)
{
	static const uint8_t job[4] = { 0, 1, 0, 1 };
	struct fabric *f = net_tree(2, 1, 2, NULL);
	struct tables *t = kit_bfs(f);
	uint64_t member[4];
	struct jobset *js;
	struct metrics *m;

	(void)state;
	jobs_by_host(f, member, job, 4);
	js = kit_jobs(f, member, 2);
	m = measure(f, t, js);
	/* up and down on both sides: 2 x 2 routes each, of them one of each job */
	assert_int_equal(m->nchan, 4);
	assert_int_equal(m->efi_max, 4);
	assert_close(m->efi_mean, 4);
	assert_close(m->efi_stddev, 0);
	assert_int_equal(m->eff_efi_max, 2);
	assert_int_equal(m->eff_efi_bound, 2);
	assert_close(m->job_efi_max_mean, 1);
	assert_close(m->links_per_job_mean, 4);
	assert_close(m->dark_fiber_pct, 0);
	assert_int_equal(m->hops_max, 2);
	assert_close(m->hops_mean, 8.0 * 2 / 12);
	assert_int_equal(m->lft_blocks, 3);
	assert_int_equal(m->bucket_width, 1);
	assert_int_equal(m->efi_hist[4], 4);
	assert_int_equal(m->eff_hist[2], 4);
	metrics_free(m);
	m = measure(f, t, NULL);
	assert_int_equal(m->dark, 4);
	assert_int_equal(m->eff_efi_bound, 0);
	metrics_free(m);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void pair_in_two_jobs_counts_once_in_all_and_in_each_of_them(void **state)
{
	struct fabric *f = net_chain(2, 1, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	static const uint64_t member[2] = { 3, 3 };
	struct jobset *js = kit_jobs(f, member, 2);
	struct metrics *m = measure(f, t, js);

	(void)state;
	assert_int_equal(m->eff_efi_max, 1);
	assert_int_equal(m->eff_efi_bound, 1);
	assert_int_equal(m->job[0].efi_max, 1);
	assert_int_equal(m->job[1].efi_max, 1);
	metrics_free(m);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void blocks_without_an_entry_do_not_count(void **state)
{
	struct fabric *f = net_tree(4, 1, 20, NULL);
	struct tables *t = kit_bfs(f);
	struct metrics *m = measure(f, t, NULL);

	(void)state;
	assert_int_equal(f->max_lid, 85);
	assert_int_equal(m->lft_blocks, 5 * 2);
	metrics_free(m);
	memset(tables_row(t, 3) + LFT_BLOCK, FAB_NO_PORT, LFT_BLOCK);
	m = measure(f, t, NULL);
	assert_int_equal(m->lft_blocks, 5 * 2 - 1);
	metrics_free(m);
	tables_put(t);
	fabric_put(f);
}

static void jobs_and_tables_of_another_fabric_are_refused(void **state)
{
	struct fabric *f = net_tree(2, 1, 2, NULL), *g = net_tree(2, 2, 3, NULL);
	struct tables *t = kit_bfs(f);
	static const uint64_t member[6] = { 1, 1, 1, 1, 1, 1 };
	struct jobset *js = kit_jobs(g, member, 1);
	struct progress p = { .cancel = true };
	struct metrics *m;

	(void)state;
	assert_int_equal(metrics_compute(&m, g, t, NULL, NULL, NULL, NULL), -EINVAL);
	assert_null(m);
	assert_int_equal(metrics_compute(&m, f, t, js, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(metrics_compute(&m, f, t, NULL, NULL, &p, NULL), -ECANCELED);
	assert_null(m);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
	fabric_put(g);
}

/* ---- the bound ---- */

/* Least maximal effective EFI over all destination-based routings by shortest ways of a
 * two-level tree: each leaf chooses an uplink for each LID on another leaf. */
static uint64_t optimum(const struct fabric *f, const struct jobset *js, uint32_t leaves,
			uint32_t spines)
{
	struct tables *t = kit_bfs(f);
	uint32_t nchoice = f->nterm * (leaves - 1), i;
	uint8_t *choice = xcalloc(nchoice, 1);
	uint64_t best = UINT64_MAX;

	do {
		struct metrics *m;

		for (i = 0; i < nchoice; i++) {
			uint32_t term = i / (leaves - 1), leaf = i % (leaves - 1);

			leaf += leaf >= f->term_sw[term];
			tables_row(t, leaf)[f->term_lid[term]] =
				f->chan_port[kit_chan(f, leaf, leaves + choice[i])];
		}
		m = measure(f, t, js);
		best = m->eff_efi_max < best ? m->eff_efi_max : best;
		metrics_free(m);
		for (i = 0; i < nchoice && ++choice[i] == spines; i++)
			choice[i] = 0;
	} while (i < nchoice);
	free(choice);
	tables_put(t);
	return best;
}

static void bound_is_never_above_the_best_of_all_routings_and_mostly_meets_it(void **state)
{
	static const uint8_t shape[][3] = { { 2, 2, 3 }, { 2, 2, 4 }, { 3, 2, 2 }, { 2, 3, 2 } };
	uint32_t met = 0, rounds = 40;
	struct rng r;

	(void)state;
	rng_seed(&r, 5);
	for (uint32_t round = 0; round < rounds; round++) {
		const uint8_t *s = shape[round % 4];
		struct fabric *f = net_tree(s[0], s[1], s[2], NULL);
		struct jobset *js = kit_random_jobs(f, 1 + round % 3, 60, &r);
		uint64_t best = optimum(f, js, s[0], s[1]), bound = metrics_eff_efi_bound(f, js);

		assert_true(bound <= best);
		if (round % 3 == 0 && s[0] == 2)
			assert_int_equal(bound, best); /* one job on two leaves */
		met += bound == best;
		jobset_put(js);
		fabric_put(f);
	}
	assert_true(met >= rounds * 3 / 4);
}

static bool share_job(const struct jobset *js, uint32_t a, uint32_t b)
{
	for (uint32_t i = js->term_off[a]; i < js->term_off[a + 1]; i++)
		for (uint32_t k = js->term_off[b]; k < js->term_off[b + 1]; k++)
			if (js->term_job[i] == js->term_job[k])
				return true;
	return false;
}

/* All trees towards one terminal, as loads by channel. */
struct trees {
	uint32_t n;
	uint64_t *load; /* by tree and channel */
};

static bool leads(const struct fabric *f, const uint32_t *hop, uint32_t root)
{
	for (uint32_t s = 0; s < f->nsw; s++) {
		uint32_t u = s, n = 0;

		while (u != root && n++ < f->nsw)
			u = f->chan_dst[hop[u]];
		if (u != root)
			return false;
	}
	return true;
}

static struct trees all_trees(const struct fabric *f, const struct jobset *js, uint32_t term)
{
	uint32_t *hop = xcalloc(f->nsw, sizeof(*hop)), root = f->term_sw[term], u;
	struct trees t = { 0 };

	memcpy(hop, f->chan_off, f->nsw * sizeof(*hop));
	do {
		if (leads(f, hop, root)) {
			t.load = xrealloc(t.load, (t.n + 1ull) * f->nchan, sizeof(*t.load));
			memset(t.load + (size_t)t.n * f->nchan, 0, f->nchan * sizeof(*t.load));
			for (uint32_t s = 0; s < f->nterm; s++)
				for (u = f->term_sw[s]; share_job(js, s, term) && u != root;
				     u = f->chan_dst[hop[u]])
					t.load[(size_t)t.n * f->nchan + hop[u]]++;
			t.n++;
		}
		for (u = 0; u < f->nsw; hop[u] = f->chan_off[u], u++)
			if (u != root && ++hop[u] < f->chan_off[u + 1])
				break;
	} while (u < f->nsw);
	free(hop);
	return t;
}

/* Least maximum when the terminals before term have their trees in load already. */
static void try_trees(const struct fabric *f, const struct trees *t, uint32_t term, uint64_t *load,
		      uint64_t *best)
{
	if (term == f->nterm) {
		uint64_t max = 0;

		for (uint32_t c = 0; c < f->nchan; c++)
			max = load[c] > max ? load[c] : max;
		*best = max;
		return;
	}
	for (uint32_t k = 0; k < t[term].n; k++) {
		const uint64_t *add = t[term].load + (size_t)k * f->nchan;
		bool fits = true;

		for (uint32_t c = 0; c < f->nchan; c++) {
			load[c] += add[c];
			fits &= load[c] < *best;
		}
		if (fits)
			try_trees(f, t, term + 1, load, best);
		for (uint32_t c = 0; c < f->nchan; c++)
			load[c] -= add[c];
	}
}

/* Over all destination-based routings, detours included. */
static uint64_t optimum_of_all(const struct fabric *f, const struct jobset *js)
{
	struct trees *t = xcalloc(f->nterm, sizeof(*t));
	uint64_t *load = xcalloc(f->nchan, sizeof(*load)), best = UINT64_MAX;

	for (uint32_t i = 0; i < f->nterm; i++)
		t[i] = all_trees(f, js, i);
	try_trees(f, t, 0, load, &best);
	for (uint32_t i = 0; i < f->nterm; i++)
		free(t[i].load);
	free(t);
	free(load);
	return best;
}

static void bound_holds_for_every_routing_of_tiny_fabrics_with_detours_too(void **state)
{
	uint32_t met = 0, rounds = 60;
	struct rng r;

	(void)state;
	rng_seed(&r, 11);
	for (uint32_t round = 0; round < rounds; round++) {
		struct fabric *f = round % 3 == 0   ? net_ring(4, 2, NULL)
				   : round % 3 == 1 ? net_ring(3, 3, NULL)
						    : net_random(round, 4, 5, 3, NULL);
		struct jobset *js = kit_random_jobs(f, 1 + round % 4, 70, &r);
		uint64_t best = optimum_of_all(f, js), bound = metrics_eff_efi_bound(f, js);

		assert_true(bound <= best);
		met += bound == best;
		jobset_put(js);
		fabric_put(f);
	}
	print_message("the bound is met in %u of %u\n", met, rounds);
	assert_true(met >= rounds / 2);
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

static void cut_around_a_pod_or_a_group_bounds_more_than_its_leaves(void **state)
{
	/* pods of 2 leaves x 4 hosts: 2 links up from each leaf, but only 2 from a pod */
	struct fabric *f = make("xgft:h=3,m=4x2x2,w=1x2x1");
	uint64_t *member = xcalloc(f->nterm, sizeof(*member));
	struct jobset *js;
	uint32_t i;

	(void)state;
	assert_int_equal(f->nterm, 16);
	for (i = 0; i < f->nterm; i++)
		member[i] = 1;
	js = kit_jobs(f, member, 1);
	/* leaf: 4 x 12 routes on 2 links = 24; pod: 8 x 8 on 2 links = 32 */
	assert_int_equal(metrics_eff_efi_bound(f, js), 32);
	jobset_put(js);
	free(member);
	fabric_put(f);

	/* dragonfly, groups of 4 switches with 1 global link each: 8 hosts talk to 32 over 4 */
	f = make("dragonfly:a=4,p=2,h=1,g=5");
	member = xcalloc(f->nterm, sizeof(*member));
	assert_int_equal(f->nterm, 40);
	for (i = 0; i < f->nterm; i++)
		member[i] = 1;
	js = kit_jobs(f, member, 1);
	/* switch: 2 x 38 on 4 links = 19 pairs of weight 2 -> 20; group: 8 x 32 / 4 = 64 */
	assert_int_equal(metrics_eff_efi_bound(f, js), 64);
	jobset_put(js);
	free(member);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_figures_equal_a_recount_of_every_pair),
		cmocka_unit_test(wild_tables_are_measured_without_what_does_not_arrive),
		cmocka_unit_test(island_of_three_jobs_cannot_get_below_54),
		cmocka_unit_test(tree_with_two_jobs_has_the_figures_counted_by_hand),
		cmocka_unit_test(pair_in_two_jobs_counts_once_in_all_and_in_each_of_them),
		cmocka_unit_test(blocks_without_an_entry_do_not_count),
		cmocka_unit_test(jobs_and_tables_of_another_fabric_are_refused),
		cmocka_unit_test(bound_is_never_above_the_best_of_all_routings_and_mostly_meets_it),
		cmocka_unit_test(bound_holds_for_every_routing_of_tiny_fabrics_with_detours_too),
		cmocka_unit_test(cut_around_a_pod_or_a_group_bounds_more_than_its_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
