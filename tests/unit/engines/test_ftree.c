/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/ftree.h"

#include "engines/geometry/fattree.h"
#include "engines/geometry/topology_kind.h"
#include "engines/metrics/metrics.h"
#include "engines/minhop.h"
#include "engines/time/shift_time.h"
#include "engines/updn.h"
#include "engines/verify/verify.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/builder.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/shuffled.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_clean(const struct fabric *f, const struct tables *t, const char *what)
{
	struct verdict *v;
	char why[256];

	assert_int_equal(verify_tables(&v, f, t, NULL, NULL, NULL), 0);
	verdict_sentence(why, sizeof(why), v, f);
	if (!verdict_ok(v))
		fail_msg("%s: %s", what, why);
	assert_int_equal(v->vls_used, 1);
	verdict_free(v);
}

static uint64_t efi_max(const struct fabric *f, const struct tables *t)
{
	struct metrics *m;
	uint64_t max;

	assert_int_equal(metrics_compute(&m, f, t, NULL, NULL, NULL, NULL), 0);
	max = m->efi_max;
	metrics_free(m);
	return max;
}

static struct shift_time all_shifts(const struct fabric *f, const struct tables *t)
{
	static const struct shift_time_opts opts = { .shifts = SHIFT_TIME_ALL };
	struct shift_time s;

	assert_int_equal(shift_time_compute(&s, f, t, &opts, NULL, NULL), 0);
	return s;
}

static double shift_score(const struct fabric *f, const struct tables *t)
{
	struct shift_time s = all_shifts(f, t);

	return s.sync.mean * s.rate.mean;
}

/* Between terminals; from spine to spine only one leaf leads on. */
static void assert_shortest_for_terminals(const struct fabric *f, const struct tables *t)
{
	struct tables *shortest = must_route(&engine_minhop, f, NULL, NULL);
	struct verdict *v, *w;

	assert_int_equal(verify_tables(&v, f, t, NULL, NULL, NULL), 0);
	assert_int_equal(verify_tables(&w, f, shortest, NULL, NULL, NULL), 0);
	assert_true(v->hops_mean == w->hops_mean);
	verdict_free(v);
	verdict_free(w);
	tables_put(shortest);
}

/* The most packets on a channel when the i-th terminal sends one to the (i + s)-th. */
static uint32_t shift_load(const struct fabric *f, const struct tables *t, const uint32_t *order,
			   uint32_t s, uint32_t offset)
{
	uint32_t *load = xcalloc(f->nchan, sizeof(*load)), most = 0;

	for (uint32_t i = 0; i < f->nterm; i++) {
		uint32_t lid = f->term_lid[order[(i + s) % f->nterm]] + offset, c;
		uint32_t u = f->term_sw[order[i]];

		while ((c = fabric_chan(f, u, tables_row(t, u)[lid])) != FAB_NONE) {
			most = ++load[c] > most ? load[c] : most;
			u = f->chan_dst[c];
		}
	}
	free(load);
	return most;
}

static void assert_shifts_apart(const char *what, const struct fabric *f, const uint32_t *order)
{
	struct tables *t = must_route(&engine_ftree, f, NULL, NULL);

	assert_clean(f, t, what);
	for (uint32_t offset = 0; offset < 1u << f->lmc; offset++)
		for (uint32_t s = 1; s < f->nterm; s++)
			if (shift_load(f, t, order, s, offset) > 1)
				fail_msg("%s: shift by %u shares a channel", what, s);
	tables_put(t);
}

static const char *const full_trees[] = {
	"fattree2:leaves=6,spines=4,hosts=4",
	"fattree2:leaves=6,spines=3,hosts=6,parallel=2",
	"fattree2:leaves=9,spines=4,hosts=4,lmc=2",
	"fattree3:k=6",
	"kary:k=3,n=3",
	"kary:k=2,n=5",
	"kary:k=4,n=2",
	"xgft:h=3,m=4x4x3,w=1x4x4",
	"xgft:h=3,m=4x4x6,w=1x2x4,parallel=1x2x2",
	"xgft:h=4,m=2x4x2x3,w=1x2x4x2",
};

#define NFULL (sizeof(full_trees) / sizeof(*full_trees))

static void no_shift_in_lid_order_shares_a_channel_of_a_full_tree(void **state)
{
	(void)state;
	for (size_t i = 0; i < NFULL; i++) {
		struct fabric *f = shuffled_topo(full_trees[i], 0);
		uint32_t *order = xcalloc(f->nterm, sizeof(*order));

		/* terminals are sorted by GUID, which is the order of their LIDs */
		for (uint32_t k = 0; k < f->nterm; k++) {
			order[k] = k;
			assert_true(!k || f->term_lid[k] > f->term_lid[k - 1]);
		}
		assert_shifts_apart(full_trees[i], f, order);
		free(order);
		fabric_put(f);
	}
}

static void the_order_of_leaves_and_ports_does_it_whatever_guids_and_lids_are(void **state)
{
	(void)state;
	for (size_t i = 0; i < NFULL; i++)
		for (uint64_t seed = 1; seed <= 2; seed++) {
			struct fabric *f = shuffled_topo(full_trees[i], seed);
			uint32_t *order = xcalloc(f->nterm, sizeof(*order));
			struct topology_kind *s;
			struct fattree *tree;

			assert_int_equal(topology_kind_find(&s, f, TOPOLOGY_TREE, NULL, NULL), 0);
			tree = fattree_new(f, s->tree, NULL);
			assert_true(tree->whole);
			for (uint32_t k = 0; k < f->nterm; k++)
				order[tree->number[k]] = k;
			assert_shifts_apart(full_trees[i], f, order);
			fattree_free(tree);
			topology_kind_free(s);
			free(order);
			fabric_put(f);
		}
}

/* The hosts of leaves or pods do not fill the tree, so that the turns of 1,350 hosts over 324 ways
 * would not come out even where shifts begin again. */
static void no_shift_shares_a_channel_of_a_tree_with_ports_to_spare(void **state)
{
	static const char *const specs[] = {
		"fattree3:pods=5,leaves=6,aggs=6,cores=2,parallel=3,hosts=5",
		"fattree3:pods=5,leaves=18,aggs=18,cores=3,parallel=6,hosts=15",
		"xgft:h=3,m=9x10x5,w=1x10x10",
		"xgft:h=3,m=7x5x9,w=1x8x6",
		"xgft:h=2,m=5x7,w=1x3,parallel=1x2",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = net_spec(specs[i]);
		struct tables *t = must_route(&engine_ftree, f, NULL, NULL);

		assert_clean(f, t, specs[i]);
		if (all_shifts(f, t).sync.mean < .9999)
			fail_msg("%s: sync %.3f", specs[i], all_shifts(f, t).sync.mean);
		tables_put(t);
		fabric_put(f);
	}
}

/* A rail of leaves for each port of the nodes; 12 nodes, 3 a leaf, 4 cables up. */
static void no_shift_shares_a_channel_where_rails_have_leaves_of_their_own(void **state)
{
	struct freeze_opts opts = { .lmc = 0 };
	struct builder *b = builder_new();
	struct fabric *f = NULL;
	struct tables *t;
	uint32_t id, spine = 8, next[12] = { 0 };
	char name[16];

	(void)state;
	for (uint32_t u = 0; u < 12; u++)
		assert_int_equal(builder_node(&id, b, NODE_SWITCH, 0x200 + u, 8, "S", NULL), 0);
	for (uint32_t k = 0; k < 24; k++) {
		uint32_t leaf = k % 2 * 4 + k / 6;

		snprintf(name, sizeof(name), "n%02u", k / 2);
		assert_int_equal(builder_node(&id, b, NODE_CA, 0x1000 + 16 * k, 1, name, NULL), 0);
		assert_int_equal(builder_link(b, leaf, ++next[leaf], id, 1, NULL), 0);
	}
	for (uint32_t u = 0; u < spine; u++)
		for (uint32_t v = spine; v < 12; v++)
			assert_int_equal(builder_link(b, u, ++next[u], v, ++next[v], NULL), 0);
	assert_int_equal(builder_freeze(&f, b, &opts, NULL), 0);
	builder_free(b);
	t = must_route(&engine_ftree, f, NULL, NULL);
	assert_clean(f, t, "rails");
	assert_int_equal(all_shifts(f, t).all, 11);
	if (all_shifts(f, t).sync.mean < .9999)
		fail_msg("rails: sync %.3f", all_shifts(f, t).sync.mean);
	tables_put(t);
	fabric_put(f);
}

/* Hosts whose own way is broken share that of one other; what has to go around meets as few flows
 * as it can.  A shift takes 1.98 units without the damage, for a leaf has 11 hosts on 10 cables. */
static void shifts_of_damaged_trees_hardly_meet_more(void **state)
{
	static const struct {
		const char *spec;
		double sync, rate;
	} want[] = { /* OpenSM's ftree: .258 .846, .196 .430, .509 .974, .375 .952 */
		     { "kary:k=10,n=3,hosts=11,fail=1%", .47, .855 },
		     { "fattree2:leaves=14,spines=8,hosts=16,fail=9", .30, .433 },
		     { "fattree2:leaves=18,spines=18,hosts=18,fail=3", .510, .978 },
		     { "kary:k=10,n=3,hosts=9,fail=1%", .48, .952 }
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct fabric *f = net_spec(want[i].spec);
		struct tables *t = must_route(&engine_ftree, f, NULL, NULL);
		struct shift_time s = all_shifts(f, t);

		assert_clean(f, t, want[i].spec);
		if (s.sync.mean < want[i].sync || s.rate.mean < want[i].rate)
			fail_msg("%s: sync %.3f, rate %.3f", want[i].spec, s.sync.mean,
				 s.rate.mean);
		tables_put(t);
		fabric_put(f);
	}
}

static void levels_and_planes_are_found_whatever_guids_are(void **state)
{
	static const uint32_t count[] = { 20, 12, 10 }; /* switches by level */

	(void)state;
	for (uint64_t seed = 0; seed <= 3; seed++) {
		struct fabric *f =
			shuffled_topo("xgft:h=3,m=3x4x5,w=1x3x2,parallel=1x2x1,fail=3", seed);
		uint32_t n[3] = { 0 }, planes = 0;
		struct topology_kind *s;
		struct fattree *tree;

		assert_int_equal(topology_kind_find(&s, f, TOPOLOGY_TREE, NULL, NULL), 0);
		tree = fattree_new(f, s->tree, NULL);
		assert_int_equal(s->tree->nlevel, 3);
		assert_int_equal(tree->div[1], 3);
		assert_int_equal(tree->div[2], 6);
		for (uint32_t u = 0; u < f->nsw; u++) {
			assert_in_range(s->tree->level[u], 0, 2);
			n[s->tree->level[u]]++;
			assert_int_equal(s->tree->level[u] == 0, f->sw_nterm[u] > 0);
			if (s->tree->level[u] == 1)
				planes |= 1u << tree->plane[u];
		}
		assert_int_equal(n[0], count[0]);
		assert_int_equal(n[1], 15);
		assert_int_equal(n[2], 6);
		assert_int_equal(planes, 7);
		fattree_free(tree);
		topology_kind_free(s);
		fabric_put(f);
	}
}

/* The destinations of a leaf, or of a pod, on the fullest cable into it at best, times the sources
 * outside: 2 * 28; 2 * 75; 1 * 45; 5 * 72 (36 hosts of a pod on 8 cables); 3 * 45. */
static void the_largest_load_is_the_least_possible_with_any_number_of_hosts(void **state)
{
	static const struct {
		const char *spec;
		uint64_t least;
	} want[] = {
		{ "fattree2:leaves=5,spines=4,hosts=7", 56 },
		{ "kary:k=4,n=3,hosts=5", 150 },
		{ "kary:k=4,n=3,hosts=3", 45 },
		{ "xgft:h=3,m=9x4x3,w=1x2x4,parallel=1x2x1", 360 },
		{ "fattree3:pods=4,leaves=3,aggs=3,cores=2,hosts=5", 135 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		for (uint64_t seed = 0; seed <= 2; seed++) {
			struct fabric *f = shuffled_topo(want[i].spec, seed);
			struct tables *t = must_route(&engine_ftree, f, NULL, NULL);

			assert_clean(f, t, want[i].spec);
			assert_shortest_for_terminals(f, t);
			assert_int_equal(efi_max(f, t), want[i].least);
			tables_put(t);
			fabric_put(f);
		}
}

/* Two pairs of flows at the same destinations cost less than four hosts with half a cable. */
static void a_host_too_many_on_a_leaf_shares_the_whole_way_of_another(void **state)
{
	struct fabric *f = net_spec("kary:k=4,n=3,hosts=5");
	struct tables *t = must_route(&engine_ftree, f, NULL, NULL);

	(void)state;
	for (uint32_t u = 0; u < f->nsw; u++) {
		const uint32_t *ends = &f->term_list[f->term_off[u]];

		if (f->sw_nterm[u] < 5)
			continue;
		for (uint32_t s = 0; s < f->nsw; s++)
			if (s != u)
				assert_int_equal(tables_row(t, s)[f->term_lid[ends[4]]],
						 tables_row(t, s)[f->term_lid[ends[0]]]);
	}
	tables_put(t);
	fabric_put(f);
}

static void trees_with_missing_cables_stay_on_one_vl_and_beat_updn_in_shifts(void **state)
{
	char spec[128];

	(void)state;
	for (unsigned seed = 1; seed <= 12; seed++) {
		struct fabric *f;
		struct tables *t, *u;

		snprintf(spec, sizeof(spec), "%s,fail=%u,seed=%u,lmc=%u",
			 seed % 2 ? "fattree3:k=8"
				  : "fattree2:leaves=12,spines=6,hosts=12,parallel=2",
			 2 + seed, seed, seed % 3);
		f = shuffled_topo(spec, seed % 4);
		t = must_route(&engine_ftree, f, NULL, NULL);
		u = must_route(&engine_updn, f, NULL, NULL);
		assert_clean(f, t, spec);
		if (shift_score(f, t) < shift_score(f, u))
			fail_msg("%s: %.3f, updn %.3f", spec, shift_score(f, t), shift_score(f, u));
		tables_put(t);
		tables_put(u);
		fabric_put(f);
	}
}

/* Leaves with unlike numbers of hosts, and of cables to each of the spines. */
static struct fabric *uneven_tree(uint32_t leaves, uint32_t spines, uint32_t seed)
{
	struct freeze_opts opts = { .lmc = 0 };
	struct builder *b = builder_new();
	struct fabric *f = NULL;
	uint32_t id, next[64] = { 0 };

	for (uint32_t u = 0; u < leaves + spines; u++)
		assert_int_equal(builder_node(&id, b, NODE_SWITCH, 0x200 + u, 60, "S", NULL), 0);
	for (uint32_t u = 0; u < leaves; u++) {
		for (uint32_t k = 0; k < 3 + (u * seed) % 7; k++) {
			uint64_t guid = 0x10000 + u * 256 + k;

			assert_int_equal(builder_node(&id, b, NODE_CA, guid, 1, "n", NULL), 0);
			assert_int_equal(builder_link(b, u, ++next[u], id, 1, NULL), 0);
		}
		for (uint32_t v = leaves; v < leaves + spines; v++)
			for (uint32_t k = 0; k < 1 + (u + v * seed) % 3; k++)
				assert_int_equal(builder_link(b, u, ++next[u], v, ++next[v], NULL),
						 0);
	}
	assert_int_equal(builder_freeze(&f, b, &opts, NULL), 0);
	builder_free(b);
	return f;
}

static void uneven_trees_meet_no_more_in_shifts_than_by_updn(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 10; seed++) {
		struct fabric *f = uneven_tree(8, 3 + seed % 4, seed);
		struct tables *t = must_route(&engine_ftree, f, NULL, NULL);
		struct tables *u = must_route(&engine_updn, f, NULL, NULL);

		assert_clean(f, t, "uneven");
		assert_shortest_for_terminals(f, t);
		if (shift_score(f, t) < shift_score(f, u))
			fail_msg("seed %u: %.3f, updn %.3f", seed, shift_score(f, t),
				 shift_score(f, u));
		tables_put(t);
		tables_put(u);
		fabric_put(f);
	}
}

/* Hosts and aggregation nodes on spines, a broken cable, a leaf without hosts. */
static void terminals_above_the_leaves_and_empty_leaves_are_routed(void **state)
{
	struct net_opts o = { .lmc = 1, .aggregation = 8, .storage = 2 };
	struct fabric *f = net_broken_tree(6, 4, 4);
	struct tables *t = must_route(&engine_ftree, f, NULL, NULL);
	struct topology_kind *s;
	struct fattree *tree;

	(void)state;
	assert_clean(f, t, "broken tree");
	tables_put(t);
	fabric_put(f);
	f = net_tree(6, 4, 3, &o);
	t = must_route(&engine_ftree, f, NULL, NULL);
	assert_clean(f, t, "aggregation");
	assert_int_equal(efi_max(f, t), 15);
	assert_int_equal(topology_kind_find(&s, f, TOPOLOGY_TREE, NULL, NULL), 0);
	tree = fattree_new(f, s->tree, NULL);
	for (uint32_t e = 0; e < f->nend; e++)
		assert_int_equal(tree->number[e] >= f->nterm, e >= f->nterm);
	fattree_free(tree);
	topology_kind_free(s);
	tables_put(t);
	fabric_put(f);
}

static void what_is_no_fat_tree_is_refused_with_the_reason(void **state)
{
	static const struct {
		const char *spec, *why;
	} want[] = {
		{ "torus:dims=4x4,hosts=2", "joins two switches of one level" },
		{ "hyperx:dims=4x3,hosts=2", "joins two switches of one level" },
		{ "dragonfly:p=2", "joins two switches of one level" },
		{ "slimfly:q=5", "joins two switches of one level" },
		{ "kautz:b=3,n=2,hosts=2", "joins two switches of one level" },
		{ "random:switches=20,links=50,hosts=2,seed=1", "joins two switches of one level" },
		{ "oft:k=4", "two thirds" },
		{ "fattree2:leaves=4,spines=3,hosts=0", "no terminals" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct fabric *f = shuffled_topo(want[i].spec, 0);
		struct err err = { "" };

		assert_int_equal(engine_ftree.suits(f, &err), -EINVAL);
		if (!strstr(err.text, want[i].why))
			fail_msg("%s: %s", want[i].spec, err.text);
		fabric_put(f);
	}
}

static void a_tree_without_a_cable_to_its_top_is_refused_as_not_connected(void **state)
{
	struct fabric *f = net_chain(4, 1, 1, NULL);
	struct err err = { "" };

	(void)state;
	assert_int_equal(engine_ftree.suits(f, &err), -ENETUNREACH);
	assert_non_null(strstr(err.text, "not connected"));
	fabric_put(f);
}

static void one_switch_is_a_tree_of_one_level(void **state)
{
	struct fabric *f = net_chain(1, 5, FAB_NONE, NULL);
	struct tables *t = must_route(&engine_ftree, f, NULL, NULL);

	(void)state;
	assert_complete(f, t);
	tables_put(t);
	fabric_put(f);
}

static void the_same_fabric_gives_the_same_bytes(void **state)
{
	struct fabric *f = shuffled_topo("fattree3:k=6,fail=9,lmc=1", 3);
	struct engine_params p = { .threads = 2, .seed = 7 };
	struct tables *a = must_route(&engine_ftree, f, NULL, NULL);
	struct tables *b = must_route(&engine_ftree, f, NULL, &p);

	(void)state;
	assert_same_tables(a, b);
	tables_put(a);
	tables_put(b);
	fabric_put(f);
}

/* Many more LIDs with open ways than threads look at together. */
static void any_number_of_threads_gives_the_same_bytes(void **state)
{
	static const char *const nets[] = { "fattree3:k=12,fail=5%",
					    "fattree2:leaves=40,spines=20,hosts=20,fail=9,lmc=2" };

	(void)state;
	for (size_t i = 0; i < sizeof(nets) / sizeof(*nets); i++) {
		struct fabric *f = shuffled_topo(nets[i], 1);
		struct engine_params p = { .threads = 1 };
		struct tables *one = must_route(&engine_ftree, f, NULL, &p);

		assert_clean(f, one, nets[i]);
		for (p.threads = 2; p.threads < 8; p.threads += 3) {
			struct tables *t = must_route(&engine_ftree, f, NULL, &p);

			assert_same_tables(one, t);
			tables_put(t);
		}
		tables_put(one);
		fabric_put(f);
	}
}

/* Cancels at a report. */
struct stop {
	struct progress p;
	unsigned left;
};

static void count_down(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct stop *s = ctx;

	(void)step;
	(void)done;
	(void)total;
	if (!s->left--)
		atomic_store(&s->p.cancel, true);
}

static void a_damaged_tree_can_be_cancelled_at_any_report(void **state)
{
	struct fabric *f = shuffled_topo("fattree3:k=16,fail=2%", 1);
	unsigned reports = 0, n = 0;
	int rc;

	(void)state;
	do {
		struct stop s = { .p = { .report = count_down }, .left = reports };
		struct engine_params params = { .threads = 1 + n % 2 };
		struct tables *t = NULL;

		s.p.ctx = &s;
		rc = engine_ftree.route(&t, f, NULL, NULL, &params, &s.p, NULL);
		assert_true(rc == -ECANCELED || !rc);
		assert_int_equal(rc != 0, t == NULL);
		tables_put(t);
		reports += 1 + reports / 8;
		n++;
	} while (rc && n < 32); /* those of the turns come first */
	assert_true(n > 10);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_shift_in_lid_order_shares_a_channel_of_a_full_tree),
		cmocka_unit_test(the_order_of_leaves_and_ports_does_it_whatever_guids_and_lids_are),
		cmocka_unit_test(no_shift_shares_a_channel_of_a_tree_with_ports_to_spare),
		cmocka_unit_test(no_shift_shares_a_channel_where_rails_have_leaves_of_their_own),
		cmocka_unit_test(shifts_of_damaged_trees_hardly_meet_more),
		cmocka_unit_test(levels_and_planes_are_found_whatever_guids_are),
		cmocka_unit_test(the_largest_load_is_the_least_possible_with_any_number_of_hosts),
		cmocka_unit_test(a_host_too_many_on_a_leaf_shares_the_whole_way_of_another),
		cmocka_unit_test(trees_with_missing_cables_stay_on_one_vl_and_beat_updn_in_shifts),
		cmocka_unit_test(uneven_trees_meet_no_more_in_shifts_than_by_updn),
		cmocka_unit_test(terminals_above_the_leaves_and_empty_leaves_are_routed),
		cmocka_unit_test(what_is_no_fat_tree_is_refused_with_the_reason),
		cmocka_unit_test(a_tree_without_a_cable_to_its_top_is_refused_as_not_connected),
		cmocka_unit_test(one_switch_is_a_tree_of_one_level),
		cmocka_unit_test(the_same_fabric_gives_the_same_bytes),
		cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
		cmocka_unit_test(a_damaged_tree_can_be_cancelled_at_any_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
