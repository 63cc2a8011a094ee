/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue/nue.h"

#include "engines/metrics/metrics.h"
#include "engines/nue/nue_detours.h"
#include "engines/time/shift_choice.h"
#include "engines/verify/verify.h"
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

/* Routes on k VLs and lets verify judge. */
static struct tables *route_clean(const struct fabric *f, unsigned k, unsigned threads,
				  struct notes *notes)
{
	struct engine_params params = { .vls = k, .threads = threads, .notes = notes };
	struct tables *t = must_route(&engine_nue, f, NULL, &params);
	struct verdict *v;
	char why[256];

	assert_int_equal(verify_tables(&v, f, t, NULL, NULL, NULL), 0);
	verdict_sentence(why, sizeof(why), v, f);
	if (!verdict_ok(v))
		fail_msg("%s on %u VLs: %s", f->name, k, why);
	assert_in_range(t->vls, 1, k);
	if (v->vls_used)
		assert_int_equal(v->vls_used, t->vls);
	verdict_free(v);
	assert_complete(f, t);
	return t;
}

static void every_number_of_vls(const struct fabric *f)
{
	static const unsigned vls[] = { 1, 2, 3, 8, 15 };

	for (size_t i = 0; i < sizeof(vls) / sizeof(*vls); i++) {
		struct tables *t = route_clean(f, vls[i], 1, NULL);

		assert_no_deadlock(f, t);
		tables_put(t);
	}
}

static void routes_the_smallest_fabrics(void **state)
{
	struct net_opts o = { .lmc = 2, .aggregation = 2 };
	struct fabric *nets[] = {
		net_chain(1, 3, FAB_NONE, NULL),
		net_chain(2, 2, FAB_NONE, NULL),
		net_chain(7, 1, FAB_NONE, NULL),
		net_ring(3, 1, NULL),
		net_ring(4, 2, NULL),
		net_ring(5, 1, NULL),
		net_ring(5, 3, &o),
		net_star(6),
		net_torus(4, 4, 1, NULL),
		net_torus(5, 3, 2, &o),
		net_tree(4, 3, 3, &o),
		net_broken_tree(4, 3, 3),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(nets) / sizeof(*nets); i++) {
		every_number_of_vls(nets[i]);
		fabric_put(nets[i]);
	}
}

static void routes_random_fabrics_with_parallel_cables_and_bare_switches(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct net_opts o = { .lmc = (int)(seed % 4),
				      .random_lids = seed % 2 ? seed : 0,
				      .aggregation = seed % 3 };
		uint32_t sw = 4 + (uint32_t)(seed % 23);
		struct fabric *f = net_random(seed, sw, sw + (uint32_t)(seed % 30), 3, &o);

		every_number_of_vls(f);
		fabric_put(f);
	}
}

static void routes_generated_fabrics_with_failures(void **state)
{
	static const char *const specs[] = {
		"fattree2:leaves=8,spines=4,hosts=6,fail=4,lids=random",
		"fattree3:k=6,fail=12,lmc=1",
		"xgft:h=3,m=3x3x4,w=1x3x3,fail=15%",
		"hyperx:dims=3x3x2,hosts=2,fail=6,lmc=2",
		"torus:dims=5x5,hosts=2,links=3,fail=20%",
		"dragonfly:p=2,fail=9",
		"slimfly:q=5,hosts=2",
		"oft:k=4,fail=3",
		"kautz:b=3,n=2,hosts=2",
		"random:switches=60,links=90,hosts=2,seed=3",
		"random:switches=10,links=18,hosts=2,seed=2", /* fewer VLs win */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = net_spec(specs[i]);

		every_number_of_vls(f);
		fabric_put(f);
	}
}

/* 160 terminals with 128 LIDs each. */
static void routes_the_chain_with_lmc_7(void **state)
{
	struct net_opts o = { .lmc = 7 };
	struct fabric *f = net_chain(8, 20, FAB_NONE, &o);
	struct tables *t = route_clean(f, 1, 1, NULL);

	(void)state;
	assert_shortest(f, t);
	tables_put(t);
	fabric_put(f);
}

static void paths_are_shortest_in_trees_on_8_vls(void **state)
{
	static const char *const specs[] = {
		"fattree3:k=6",
		"kary:k=4,n=3,hosts=4",
		"fattree2:leaves=8,spines=4,hosts=6",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = net_spec(specs[i]);
		struct notes notes = { .n = 0 };
		struct tables *t = route_clean(f, 8, 1, &notes);

		assert_int_equal(notes_find(&notes, "detours")->value, 0);
		assert_shortest(f, t);
		notes_done(&notes);
		tables_put(t);
		fabric_put(f);
	}
}

/* Hops over all pairs of switches and terminals, and how many are more than need be. */
static uint64_t count_hops(uint64_t *more, const struct fabric *f, const struct tables *t)
{
	uint64_t sum = 0;
	uint32_t hops[128];

	*more = 0;
	for (uint32_t term = 0; term < f->nterm; term++) {
		bfs_hops(hops, f, f->term_sw[term]);
		for (uint32_t u = 0; u < f->nsw; u++) {
			uint32_t at = u, far = 0;

			for (; at != f->term_sw[term]; far++)
				at = f->chan_dst[fabric_chan(f, at,
							     tables_row(t, at)[f->term_lid[term]])];
			assert_true(far <= hops[u] + 1);
			sum += far;
			*more += far - hops[u];
		}
	}
	return sum;
}

static void off_trees_on_8_vls_few_paths_are_longer_by_one_hop(void **state)
{
	static const char *const specs[] = {
		"hyperx:dims=12x8,hosts=2",
		"torus:dims=4x4x4,hosts=2",
		"torus:dims=4x3x3,hosts=2,links=4",
		"slimfly:q=7,hosts=2",
		"dragonfly:p=3",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = net_spec(specs[i]);
		struct tables *t = route_clean(f, 8, 1, NULL);
		uint64_t more, all = count_hops(&more, f, t);

		assert_true(more * 20 < all);
		tables_put(t);
		fabric_put(f);
	}
}

static void a_tree_is_balanced_perfectly_on_any_number_of_vls(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=12,spines=6,hosts=6");

	(void)state;
	for (unsigned k = 1; k <= 8; k += 7) {
		struct tables *t = route_clean(f, k, 1, NULL);

		assert_true(max_routes(f, t) <= 72);
		tables_put(t);
	}
	fabric_put(f);
}

/* The limits are little above what shortest paths without regard to deadlocks give. */
static void a_tree_with_missing_cables_is_balanced_on_one_vl(void **state)
{
	static const struct {
		const char *spec;
		uint64_t most;
	} trees[] = {
		{ "fattree3:k=10,fail=2%", 500 },
		{ "fattree3:k=12,fail=2%", 850 },
		{ "fattree3:pods=3,leaves=6,aggs=6,cores=3,parallel=2,hosts=5,fail=3%", 120 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(trees) / sizeof(*trees); i++) {
		struct fabric *f = net_spec(trees[i].spec);
		struct tables *t = route_clean(f, 1, 1, NULL);

		assert_in_range(max_routes(f, t), 1, trees[i].most);
		tables_put(t);
		fabric_put(f);
	}
}

/* Pairs of switches with hosts that are farther apart than a search of its own finds. */
static uint64_t count_detours(const struct fabric *f, const struct tables *t)
{
	uint64_t n = 0;

	for (uint32_t dst = 0; dst < f->nsw; dst++) {
		uint32_t hops[64];

		bfs_hops(hops, f, dst);
		for (uint32_t u = 0; u < f->nsw; u++) {
			bool longer = false;

			for (uint32_t k = f->term_off[dst]; k < f->term_off[dst + 1]; k++) {
				uint32_t at = u, far = 0, lid = f->term_lid[f->term_list[k]];

				for (; at != dst; far++)
					at = f->chan_dst[fabric_chan(f, at,
								     tables_row(t, at)[lid])];
				longer |= far > hops[u];
			}
			n += longer && f->term_off[u] < f->term_off[u + 1];
		}
	}
	return n;
}

static void detours_are_counted_in_the_notes(void **state)
{
	struct fabric *f = net_ring(9, 2, NULL);
	struct notes notes = { .n = 0 };
	struct tables *t = route_clean(f, 1, 1, &notes);

	(void)state;
	assert_int_equal(notes_find(&notes, "detours")->value, count_detours(f, t));
	assert_true(count_detours(f, t) > 0);
	assert_int_equal(strtoull(notes_find(&notes, "detours")->text, NULL, 10),
			 count_detours(f, t));
	assert_int_equal(strncmp(notes_find(&notes, "impasses")->text, "0 paths", 7), 0);
	assert_non_null(notes_find(&notes, "escape_trees"));
	notes_done(&notes);
	tables_put(t);
	fabric_put(f);
}

static void more_vls_never_lengthen_the_mean_path_here(void **state)
{
	struct fabric *f = net_spec("dragonfly:p=3");
	double last = 100;

	(void)state;
	for (unsigned k = 1; k <= 4; k *= 2) {
		struct tables *t = route_clean(f, k, 1, NULL);
		struct metrics *m;

		assert_int_equal(metrics_compute(&m, f, t, NULL, NULL, NULL, NULL), 0);
		assert_true(m->hops_mean <= last);
		last = m->hops_mean;
		metrics_free(m);
		tables_put(t);
	}
	fabric_put(f);
}

/* OpenSM 3.3.23's nue on the same nets, by "make bench" and "make bench-quality". */
static void hops_and_maxima_or_shifts_are_at_least_as_good_as_opensm_s(void **state)
{
	static const struct {
		const char *spec;
		unsigned vls;
		double hops;
		uint64_t max;
		double sync; /* 0: the maximum counts; else paths may be a little longer, too */
		double ebb;
	} peers[] = {
		{ "slimfly:q=5", 1, 2.128, 2401, 0, 0 },
		{ "slimfly:q=7", 1, 2.150, 9097, 0, 0 },
		{ "dragonfly:p=3", 1, 2.933, 1455, 0, 0 },
		{ "dragonfly:p=3", 8, 2.683, 537, 0, 0 },
		{ "dragonfly:p=4", 1, 3.076, 8840, 0, 0 },
		{ "dragonfly:a=12,p=6,h=6,g=15", 1, 2.362, 3450, 0.045, 0 },
		{ "hyperx:dims=12x8,hosts=7,fail=15", 8, 1.803, 735, 0.094, 0.614 },
		{ "random:switches=125,links=1000,hosts=8,seed=1", 1, 2.086, 3024, 0.077, 0.479 },
		{ "random:switches=125,links=1000,hosts=8,seed=1", 8, 2.031, 1504, 0.095, 0.504 },
		{ "torus:dims=4x4x4,hosts=4", 8, 3.054, 852, 0, 0 },
		{ "torus:dims=6x5x5,hosts=7,links=4", 8, 3.928, 1820, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(peers) / sizeof(*peers); i++) {
		struct fabric *f = net_spec(peers[i].spec);
		struct tables *t = route_clean(f, peers[i].vls, 1, NULL);
		struct shift_figures s;
		struct metrics *m;

		assert_int_equal(metrics_compute(&m, f, t, NULL, NULL, NULL, NULL), 0);
		assert_int_equal(shift_choice_judge(&s, f, t, NULL, NULL), 0);
		if (m->hops_mean > peers[i].hops * (peers[i].sync > 0 ? 1.02 : 1) ||
		    (peers[i].sync > 0 ? s.sync < peers[i].sync : m->efi_max > peers[i].max) ||
		    s.ebb < peers[i].ebb)
			fail_msg(
				"%s, %u VLs: %.3f hops, %llu routes over a channel, bisections %.3f",
				peers[i].spec, peers[i].vls, m->hops_mean,
				(unsigned long long)m->efi_max, s.ebb);
		metrics_free(m);
		tables_put(t);
		fabric_put(f);
	}
}

static void off_trees_more_vls_give_messages_no_less(void **state)
{
	static const char *const specs[] = { "dragonfly:p=2", "torus:dims=4x4x4,hosts=2",
					     "hyperx:dims=6x4,hosts=4,fail=2", "slimfly:q=5",
					     "random:switches=40,links=110,hosts=4,seed=2" };

	size_t n = sizeof(specs) / sizeof(*specs), more = 0;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		struct fabric *f = net_spec(specs[i]);
		struct shift_figures one = { 0 }, was = { 0 }, is;

		for (unsigned k = 1; k <= 8; k++) {
			struct tables *t = route_clean(f, k, 1, NULL);

			assert_int_equal(nue_detours_judge(&is, f, t, 1, NULL, NULL), 0);
			assert_true(is.sync >= was.sync && is.rate >= was.rate &&
				    is.ebb >= was.ebb);
			was = is;
			one = k == 1 ? is : one;
			tables_put(t);
		}
		more += is.rate > one.rate && is.ebb > one.ebb;
		fabric_put(f);
	}
	assert_true(more >= n - 1);
}

/* The paths of some switches are made while LIDs of others are chosen, and those before written:
 * in the last two, batches of LIDs span switches, and a switch has more LIDs than a batch. */
static void threads_do_not_change_a_byte(void **state)
{
	static const char *const specs[] = { "dragonfly:p=3", "fattree3:k=8,fail=9",
					     "random:switches=70,links=160,hosts=4,seed=5,lmc=1",
					     "fattree3:k=16,fail=9",
					     "fattree2:leaves=7,spines=4,hosts=6,lmc=4" };

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = net_spec(specs[i]);
		struct tables *one = route_clean(f, 5, 1, NULL);

		for (unsigned threads = 2; threads <= 5; threads += 3) {
			struct tables *t = route_clean(f, 5, threads, NULL);

			assert_same_tables(one, t);
			tables_put(t);
		}
		tables_put(one);
		fabric_put(f);
	}
}

struct watcher {
	struct progress p;
	unsigned reports, cancel_at;
	bool layers, paths;
};

static void report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct watcher *w = ctx;

	assert_true(done <= total);
	w->layers |= !strcmp(step, "layers");
	w->paths |= !strcmp(step, "paths");
	if (++w->reports == w->cancel_at)
		atomic_store(&w->p.cancel, true);
}

static void tells_its_steps_and_stops_at_a_cancel(void **state)
{
	struct fabric *f = net_spec("dragonfly:p=5");
	struct engine_params params = { .vls = 4, .threads = 2 };
	struct watcher w = { .cancel_at = 0 };
	struct tables *t;
	unsigned all;

	(void)state;
	w.p.report = report;
	w.p.ctx = &w;
	assert_int_equal(engine_run(&engine_nue, &t, f, NULL, NULL, &params, &w.p, NULL), 0);
	assert_true(w.layers && w.paths && w.reports > 4);
	tables_put(t);
	all = w.reports;
	params.threads = 1;
	for (unsigned at = 1; at < all; at += all / 4) {
		w = (struct watcher){ .cancel_at = at };
		w.p.report = report;
		w.p.ctx = &w;
		assert_int_equal(engine_run(&engine_nue, &t, f, NULL, NULL, &params, &w.p, NULL),
				 -ECANCELED);
		assert_int_equal(w.reports, at);
	}
	fabric_put(f);
}

static void only_a_disconnected_fabric_is_refused(void **state)
{
	struct fabric *f = net_chain(6, 1, 2, NULL);
	struct engine_params params = { .vls = 1 };
	struct tables *t;
	struct err err;

	(void)state;
	assert_int_equal(engine_run(&engine_nue, &t, f, NULL, NULL, &params, NULL, &err),
			 -ENETUNREACH);
	assert_non_null(strstr(err.text, "not connected"));
	fabric_put(f);
}

static void escape_lids_go_beside_it(void **state)
{
	struct net_opts o = { .lmc = 1 };
	struct fabric *f = net_torus(4, 4, 2, &o);
	struct engine_params params = { .vls = 4, .escape = true };
	struct verdict *v;
	struct tables *t = must_route(&engine_nue, f, NULL, &params);

	(void)state;
	assert_complete(f, t);
	assert_int_equal(verify_tables(&v, f, t, NULL, NULL, NULL), 0);
	assert_true(verdict_ok(v));
	assert_true(v->vls_used <= 4);
	verdict_free(v);
	tables_put(t);
	fabric_put(f);
}

/* 900 to 1,080 routes on the fullest channel without these nodes, 5,300 with them once. */
static void aggregation_nodes_and_a_cable_beside_do_not_disturb_a_tree(void **state)
{
	static const unsigned vls[] = { 1, 2, 8 };

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct fabric *f = net_spec(
			k ? "fattree3:pods=6,leaves=9,aggs=9,cores=3,parallel=3,hosts=10,fail=1%"
			  : "fattree3:pods=6,leaves=9,aggs=9,cores=3,parallel=3,hosts=10");

		for (size_t i = 0; i < 2 * sizeof(vls) / sizeof(*vls); i++) {
			struct fabric *g = net_with_extras(f, true, i % 2);
			struct tables *t = route_clean(g, vls[i / 2], 1, NULL);

			assert_int_equal(g->nend - g->nterm, i % 2 ? g->nsw : 0);
			if (max_routes(g, t) > 1000)
				fail_msg("%u VLs: %lu", vls[i / 2],
					 (unsigned long)max_routes(g, t));
			tables_put(t);
			fabric_put(g);
		}
		fabric_put(f);
	}
}

static void more_vls_never_raise_the_maximum_much_here(void **state)
{
	static const char *const specs[] = { "slimfly:q=5", "hyperx:dims=6x5,hosts=3",
					     "random:switches=60,links=150,hosts=8,seed=3",
					     "torus:dims=4x4x3,hosts=4" };

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = net_spec(specs[i]);
		uint64_t most = UINT64_MAX;

		for (unsigned k = 1; k <= 8; k++) {
			struct tables *t = route_clean(f, k, 1, NULL);

			/* a hop less may have cost some */
			if (max_routes(f, t) > most + most / 10)
				fail_msg("%s, %u VLs: %lu after %lu", specs[i], k,
					 (unsigned long)max_routes(f, t), (unsigned long)most);
			most = max_routes(f, t) < most ? max_routes(f, t) : most;
			tables_put(t);
		}
		fabric_put(f);
	}
}

/* OpenSM 3.3.23's, by "make bench-quality NETS=lanes". */
static void shifts_on_one_vl_get_at_least_what_opensm_s_give_them(void **state)
{
	static const struct {
		const char *spec;
		double sync, rate, ebb;
	} peers[] = {
		{ "dragonfly:p=4", .043, .161, .377 },
		{ "random:switches=125,links=1000,hosts=8,seed=1", .077, .244, .479 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(peers) / sizeof(*peers); i++) {
		struct fabric *f = net_spec(peers[i].spec);
		struct tables *t = route_clean(f, 1, 1, NULL);
		struct shift_figures s;

		assert_int_equal(shift_choice_judge(&s, f, t, NULL, NULL), 0);
		if (s.sync < peers[i].sync || s.rate < peers[i].rate || s.ebb < peers[i].ebb)
			fail_msg("%s: sync %.3f, rate %.3f, bisections %.3f", peers[i].spec, s.sync,
				 s.rate, s.ebb);
		tables_put(t);
		fabric_put(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aggregation_nodes_and_a_cable_beside_do_not_disturb_a_tree),
		cmocka_unit_test(more_vls_never_raise_the_maximum_much_here),
		cmocka_unit_test(routes_the_smallest_fabrics),
		cmocka_unit_test(routes_random_fabrics_with_parallel_cables_and_bare_switches),
		cmocka_unit_test(routes_generated_fabrics_with_failures),
		cmocka_unit_test(routes_the_chain_with_lmc_7),
		cmocka_unit_test(paths_are_shortest_in_trees_on_8_vls),
		cmocka_unit_test(off_trees_on_8_vls_few_paths_are_longer_by_one_hop),
		cmocka_unit_test(a_tree_is_balanced_perfectly_on_any_number_of_vls),
		cmocka_unit_test(a_tree_with_missing_cables_is_balanced_on_one_vl),
		cmocka_unit_test(detours_are_counted_in_the_notes),
		cmocka_unit_test(more_vls_never_lengthen_the_mean_path_here),
		cmocka_unit_test(hops_and_maxima_or_shifts_are_at_least_as_good_as_opensm_s),
		cmocka_unit_test(shifts_on_one_vl_get_at_least_what_opensm_s_give_them),
		cmocka_unit_test(off_trees_more_vls_give_messages_no_less),
		cmocka_unit_test(threads_do_not_change_a_byte),
		cmocka_unit_test(tells_its_steps_and_stops_at_a_cancel),
		cmocka_unit_test(only_a_disconnected_fabric_is_refused),
		cmocka_unit_test(escape_lids_go_beside_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
