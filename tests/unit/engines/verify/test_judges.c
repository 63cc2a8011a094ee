/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verify and metrics with several threads, on fabrics large enough for them. */
#include "engines/metrics/metrics.h"
#include "engines/verify/verify.h"

#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct verdict *judge(const struct fabric *f, const struct tables *t, unsigned threads)
{
	struct verify_opts opts = { .certificate = true, .threads = threads };
	struct verdict *v;

	assert_int_equal(verify_tables(&v, f, t, &opts, NULL, NULL), 0);
	return v;
}

static struct metrics *measure(const struct fabric *f, const struct tables *t,
			       const struct jobset *js, unsigned threads, bool all_lids)
{
	struct metrics_opts opts = { .threads = threads, .all_lids = all_lids };
	struct metrics *m;

	assert_int_equal(metrics_compute(&m, f, t, js, &opts, NULL, NULL), 0);
	return m;
}

static void assert_same_verdict(const struct fabric *f, const struct verdict *a,
				const struct verdict *b)
{
	assert_int_equal(a->connected, b->connected);
	assert_int_equal(a->loop_free, b->loop_free);
	assert_int_equal(a->deadlock_free, b->deadlock_free);
	assert_int_equal(a->pairs, b->pairs);
	assert_int_equal(a->unreachable, b->unreachable);
	assert_int_equal(a->looping, b->looping);
	assert_int_equal(a->fault, b->fault);
	assert_int_equal(a->bad_sw, b->bad_sw);
	assert_int_equal(a->bad_lid, b->bad_lid);
	assert_int_equal(a->bad_at, b->bad_at);
	assert_int_equal(a->vls_used, b->vls_used);
	assert_int_equal(a->sls_used, b->sls_used);
	assert_int_equal(a->hops_max, b->hops_max);
	assert_true(a->hops_mean == b->hops_mean);
	assert_int_equal(a->vertices, b->vertices);
	assert_int_equal(a->edges, b->edges);
	assert_int_equal(a->nvl, b->nvl);
	assert_int_equal(!a->order, !b->order);
	if (a->order)
		assert_memory_equal(a->order, b->order,
				    (size_t)f->nchan * a->nvl * sizeof(*a->order));
	assert_int_equal(a->ncycle, b->ncycle);
	for (uint32_t i = 0; i < a->ncycle; i++) {
		assert_int_equal(a->cycle[i].chan, b->cycle[i].chan);
		assert_int_equal(a->cycle[i].vl, b->cycle[i].vl);
		assert_int_equal(a->cycle[i].dlid, b->cycle[i].dlid);
	}
}

static void assert_threads_agree(const struct fabric *f, const struct tables *t,
				 const struct jobset *js)
{
	struct verdict *one = judge(f, t, 1), *three = judge(f, t, 3);
	struct metrics *m = measure(f, t, js, 1, false), *k = measure(f, t, js, 3, false);

	assert_same_verdict(f, one, three);
	assert_memory_equal(m->efi, k->efi, f->nchan * sizeof(*m->efi));
	assert_memory_equal(m->eff_efi, k->eff_efi, f->nchan * sizeof(*m->eff_efi));
	assert_int_equal(m->unreachable, k->unreachable);
	assert_int_equal(m->vls_used, k->vls_used);
	assert_int_equal(m->sls_used, k->sls_used);
	assert_int_equal(m->vls_used, one->vls_used);
	assert_true(m->hops_mean == k->hops_mean);
	for (uint32_t j = 0; j < js->njob; j++) {
		assert_int_equal(m->job[j].efi_max, k->job[j].efi_max);
		assert_int_equal(m->job[j].links, k->job[j].links);
		assert_int_equal(m->job[j].routes, k->job[j].routes);
	}
	verdict_free(one);
	verdict_free(three);
	metrics_free(m);
	metrics_free(k);
}

/* 64 switches and 128 LIDs to each terminal: enough for threads to be used. */
static struct fabric *many_lids(uint64_t seed)
{
	struct net_opts opts = { .lmc = 7 };
	struct fabric *f = net_random(seed, 64, 110, 5, &opts);

	assert_true((uint64_t)f->max_lid * f->nsw >= 1u << 20);
	return f;
}

static void threads_do_not_change_verdicts_or_figures(void **state)
{
	static const enum sl2vl_kind vl_kinds[] = { SL2VL_BY_INPUT, SL2VL_FULL, SL2VL_FULL };
	static const enum sl_kind sl_kinds[] = { SL_BY_DLID, SL_BY_SWITCH, SL_BY_TERM };
	struct fabric *f = many_lids(1);
	struct tables *t = kit_bfs(f);
	struct jobset *js;
	struct rng r;

	(void)state;
	rng_seed(&r, 6);
	js = kit_random_jobs(f, 12, 10, &r);
	assert_threads_agree(f, t, js);
	for (int i = 0; i < 3; i++) {
		kit_random_sl(t, f, sl_kinds[i], 4, &r);
		kit_random_sl2vl(t, f, vl_kinds[i], 3 + 5 * (uint32_t)i, &r);
		assert_threads_agree(f, t, js);
	}
	/* the first fault is the first whoever meets it */
	for (uint32_t lid = 2000; lid < f->max_lid; lid += 700)
		tables_row(t, lid % f->nsw)[lid] = FAB_NO_PORT;
	assert_threads_agree(f, t, js);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void job_of_everybody_has_the_figures_of_the_fabric(void **state)
{
	struct fabric *f = net_random(2, 600, 1100, 8, NULL);
	struct tables *t = kit_bfs(f);
	uint64_t *member = xcalloc(f->nterm, sizeof(*member));
	struct jobset *js;
	struct metrics *m;

	(void)state;
	for (uint32_t i = 0; i < f->nterm; i++)
		member[i] = 1;
	js = kit_jobs(f, member, 1);
	assert_true((uint64_t)f->nterm * js->jobs[0].nsw >= 1u << 20); /* shared by workers */
	for (unsigned threads = 1; threads < 4; threads += 2) {
		m = measure(f, t, js, threads, false);
		assert_memory_equal(m->efi, m->eff_efi, f->nchan * sizeof(*m->efi));
		assert_int_equal(m->job[0].efi_max, m->efi_max);
		metrics_free(m);
	}
	jobset_put(js);
	free(member);
	tables_put(t);
	fabric_put(f);
}

/* Ways longer than those that are followed side by side. */
static void ways_along_a_long_chain_are_counted(void **state)
{
	struct fabric *f = net_chain(40, 2, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	uint64_t member[80];
	struct jobset *js;
	struct metrics *m;

	(void)state;
	for (uint32_t i = 0; i < 80; i++)
		member[i] = 1;
	js = kit_jobs(f, member, 1);
	m = measure(f, t, js, 1, false);
	assert_memory_equal(m->efi, m->eff_efi, f->nchan * sizeof(*m->efi));
	assert_int_equal(m->eff_efi_max, 40 * 40);
	assert_int_equal(m->job[0].routes, 80 * 78);
	metrics_free(m);
	tables_row(t, 20)[f->term_lid[0]] = FAB_NO_PORT; /* only the nearer 20 arrive */
	m = measure(f, t, js, 1, false);
	assert_memory_equal(m->efi, m->eff_efi, f->nchan * sizeof(*m->efi));
	assert_int_equal(m->job[0].routes, 80 * 78 - 40);
	metrics_free(m);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void all_lids_count_routes_to_every_traffic_lid(void **state)
{
	struct net_opts lmc2 = { .lmc = 2 };
	struct fabric *f = net_random(3, 10, 18, 3, &lmc2);
	struct tables *t = kit_bfs(f);
	struct jobset *js;
	struct metrics *base, *all;
	struct rng r;

	(void)state;
	rng_seed(&r, 8);
	js = kit_random_jobs(f, 3, 50, &r);
	base = measure(f, t, js, 1, false);
	/* kit_bfs routes all LIDs of a terminal alike */
	for (uint32_t lids = 4; lids > 0; lids -= 2) {
		t->escape = lids == 2;
		all = measure(f, t, js, 1, true);
		for (uint32_t c = 0; c < f->nchan; c++) {
			assert_int_equal(all->efi[c], lids * base->efi[c]);
			assert_int_equal(all->eff_efi[c], lids * base->eff_efi[c]);
		}
		assert_int_equal(all->job[0].efi_max, lids * base->job[0].efi_max);
		assert_int_equal(all->job[0].links, base->job[0].links);
		assert_true(all->hops_mean == base->hops_mean);
		assert_int_equal(all->eff_efi_bound, 0);
		metrics_free(all);
	}
	metrics_free(base);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

struct spy {
	struct progress progress;
	uint64_t calls, cancel_at;
};

static void watch(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct spy *s = ctx;

	assert_non_null(step);
	assert_true(done <= total);
	if (++s->calls == s->cancel_at)
		atomic_store(&s->progress.cancel, true);
}

static void cancel_stops_judges_anywhere(void **state)
{
	struct fabric *f = many_lids(4);
	struct tables *t = kit_bfs(f);
	struct verdict *v;
	struct metrics *m;
	struct jobset *js;
	struct rng r;

	(void)state;
	rng_seed(&r, 9);
	js = kit_random_jobs(f, 5, 40, &r);
	for (uint64_t at = 1; at < 300; at += 100) { /* there are more than 256 blocks */
		struct verify_opts vo = { .threads = 1 };
		struct metrics_opts mo = { .threads = 1 };
		struct spy spy = { .progress = { .report = watch, .ctx = &spy }, .cancel_at = at };

		assert_int_equal(verify_tables(&v, f, t, &vo, &spy.progress, NULL), -ECANCELED);
		assert_null(v);
		assert_int_equal(spy.calls, at);
		spy.calls = 0;
		atomic_store(&spy.progress.cancel, false);
		assert_int_equal(metrics_compute(&m, f, t, js, &mo, &spy.progress, NULL),
				 -ECANCELED);
		assert_null(m);
		assert_int_equal(spy.calls, at);
	}
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_do_not_change_verdicts_or_figures),
		cmocka_unit_test(job_of_everybody_has_the_figures_of_the_fabric),
		cmocka_unit_test(ways_along_a_long_chain_are_counted),
		cmocka_unit_test(all_lids_count_routes_to_every_traffic_lid),
		cmocka_unit_test(cancel_stops_judges_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
