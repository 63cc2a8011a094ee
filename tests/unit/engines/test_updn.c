/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/updn.h"

#include "engines/graph/updown.h"
#include "engines/graph/updown_order.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void is_complete_on_one_vl_on_any_connected_fabric(void **state)
{
	struct engine_params one = { .vls = 1 };

	(void)state;
	for (int lmc = 0; lmc <= 2; lmc++) {
		struct net_opts o = { .lmc = lmc, .aggregation = 2 };

		for (uint64_t seed = 1; seed <= 15; seed++) {
			struct fabric *f =
				net_random(seed, 4 + (uint32_t)seed, 6 + 2 * (uint32_t)seed, 3, &o);
			struct tables *t = must_route(&engine_updn, f, NULL, &one);

			assert_complete(f, t);
			assert_no_deadlock(f, t);
			assert_int_equal(t->vls, 1);
			assert_int_equal(t->sl_kind, SL_CONST);
			tables_put(t);
			fabric_put(f);
		}
	}
}

/* No path from any switch goes down and then up. */
static void assert_legal(const struct fabric *f, const struct tables *t, const struct updown *ud)
{
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint8_t port;
		uint32_t dst = fabric_lid_switch(f, lid, &port);

		for (uint32_t u = 0; u < f->nsw && dst != FAB_NONE; u++) {
			bool down = false;

			for (uint32_t v = u; v != dst;) {
				uint32_t c = fabric_chan(f, v, tables_row(t, v)[lid]);

				assert_false(down && updown_is_up(ud, f, c));
				down |= !updown_is_up(ud, f, c);
				v = f->chan_dst[c];
			}
		}
	}
}

static void a_given_root_makes_every_path_go_up_then_down(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct fabric *f = net_random(seed, 15, 30, 3, NULL);
		uint32_t root = (uint32_t)seed % f->nsw;
		struct engine_params p = { .roots = &f->sw_guid[root], .nroots = 1 };
		struct tables *t = must_route(&engine_updn, f, NULL, &p);
		struct updown ud;

		updown_init(&ud, f, &root, 1);
		assert_int_equal(ud.rank[root], 0);
		assert_int_equal(ud.order[0], root);
		assert_complete(f, t);
		assert_legal(f, t, &ud);
		updown_done(&ud);
		tables_put(t);
		fabric_put(f);
	}
}

static void a_trees_roots_are_its_top_and_its_paths_shortest_and_balanced(void **state)
{
	struct fabric *f = net_tree(6, 4, 4, NULL);
	struct tables *t = must_route(&engine_updn, f, NULL, NULL);
	uint32_t roots[10];

	(void)state;
	assert_int_equal(updown_tree_roots(roots, f), 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(f->sw_nterm[roots[i]], 0);
	assert_complete(f, t);
	assert_shortest(f, t);
	assert_int_equal(max_routes(f, t), 20);
	tables_put(t);
	fabric_put(f);
}

/* A host on a spine, a broken cable: the leaves still use all spines. */
static void a_damaged_tree_keeps_its_spines_busy(void **state)
{
	struct engine_params one = { .vls = 1 };
	struct fabric *f = net_broken_tree(6, 4, 4);
	struct tables *t = must_route(&engine_updn, f, NULL, &one), *two;

	(void)state;
	assert_complete(f, t);
	assert_no_deadlock(f, t);
	assert_int_equal(t->vls, 1);
	assert_true(max_routes(f, t) <= 2 * 4 * 6);
	two = must_route(&engine_updn, f, NULL, NULL);
	assert_complete(f, two);
	assert_no_deadlock(f, two);
	tables_put(two);
	tables_put(t);
	fabric_put(f);
}

static void roots_that_cut_terminals_off_are_refused_with_names(void **state)
{
	struct fabric *f = net_ring(6, 1, NULL);
	uint64_t far_apart[2] = { f->sw_guid[0], f->sw_guid[3] }, nobody = 0x77;
	struct engine_params p = { .roots = far_apart, .nroots = 2 };
	struct tables *t = NULL;
	struct err err;

	(void)state;
	assert_int_equal(engine_updn.route(&t, f, NULL, NULL, &p, NULL, &err), -ENETUNREACH);
	assert_non_null(strstr(err.text, "S0"));
	assert_non_null(strstr(err.text, "S3"));
	p.roots = &nobody;
	p.nroots = 1;
	assert_int_equal(engine_updn.route(&t, f, NULL, NULL, &p, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "0x0000000000000077"));
	far_apart[1] = far_apart[0];
	p.roots = far_apart;
	p.nroots = 2;
	t = must_route(&engine_updn, f, NULL, &p);
	tables_put(t);
	fabric_put(f);
}

static void a_disconnected_fabric_is_refused(void **state)
{
	struct fabric *f = net_chain(4, 1, 1, NULL);
	struct engine_params p = { 0 };
	struct tables *t = NULL;

	(void)state;
	assert_int_equal(engine_updn.route(&t, f, NULL, NULL, &p, NULL, NULL), -ENETUNREACH);
	fabric_put(f);
}

static void the_single_root_of_a_chain_is_in_its_middle(void **state)
{
	struct fabric *f = net_chain(9, 1, FAB_NONE, NULL);
	struct pace p = { 0 };
	uint32_t root;

	(void)state;
	assert_int_equal(updown_single_root(&root, f, NULL, &p), 0);
	assert_int_equal(root, 4);
	fabric_put(f);
}

/* Hops of the shortest way up*, then down* between the ends of all ordered pairs: what a source
 * route could have, whatever the others do. */
static uint64_t least_hops(const struct fabric *f, const struct updown *ud)
{
	uint32_t *hops = test_calloc(2 * f->nsw, sizeof(*hops));
	uint32_t *queue = test_calloc(2 * f->nsw, sizeof(*queue));
	uint64_t sum = 0;

	for (uint32_t from = 0; from < f->nsw; from++) {
		uint32_t n = 1;

		memset(hops, 0xff, 2 * f->nsw * sizeof(*hops));
		queue[0] = 2 * from;
		hops[2 * from] = 0;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t u = queue[i] / 2, down = queue[i] % 2;

			for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
				bool up = updown_is_up(ud, f, c);
				uint32_t next = 2 * f->chan_dst[c] + !up;

				if ((down && up) || hops[next] != FAB_NONE)
					continue;
				hops[next] = hops[queue[i]] + 1;
				queue[n++] = next;
			}
		}
		for (uint32_t to = 0; to < f->nsw; to++) {
			uint32_t a = hops[2 * to], b = hops[2 * to + 1];

			if (f->sw_nterm[from] && f->sw_nterm[to])
				sum += a < b ? a : b;
		}
	}
	test_free(hops);
	test_free(queue);
	return sum;
}

/* Though a table asks for nothing but the destination, nearly all paths are as short as that. */
static void paths_are_hardly_longer_than_legal_ones_can_be(void **state)
{
	static const struct {
		const char *spec;
		unsigned pct; /* at most of the least */
	} cases[] = {
		{ "dragonfly:p=2", 101 },
		{ "dragonfly:a=6,p=2,h=2,g=7", 101 },
		{ "slimfly:q=5,hosts=2", 101 },
		{ "random:switches=40,links=120,hosts=2,seed=3", 101 },
		{ "kautz:b=3,n=3,hosts=1", 101 },
		{ "fattree2:leaves=6,spines=4,hosts=3", 100 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fabric *f = net_spec(cases[i].spec);
		struct updown_score s;
		struct pace p = { 0 };
		struct updown ud;
		uint32_t root;
		uint64_t least;

		assert_int_equal(updown_single_root(&root, f, NULL, &p), 0);
		updown_init(&ud, f, &root, 1);
		assert_int_equal(updown_score(&s, &ud, f, NULL, &p), 0);
		least = least_hops(f, &ud);
		assert_int_equal(s.missing, 0);
		assert_true(s.hops >= least);
		assert_true(100 * s.hops <= cases[i].pct * least);
		updown_done(&ud);
		fabric_put(f);
	}
}

/* Two leaves of an OFT have one spine in common; without its cable a way between them needs another
 * leaf above the spines.  Ranked by hops from one root the fullest channel has 6,605 routes. */
static void trees_and_ofts_with_missing_cables_stay_balanced_on_one_vl(void **state)
{
	static const struct {
		const char *spec;
		uint64_t most;
	} want[] = {
		{ "oft:k=4", 110 },
		{ "oft:k=5", 220 },
		{ "oft:k=5,fail=4", 425 },
		{ "oft:k=5,fail=4,seed=2", 450 },
		{ "kary:k=4,n=3,hosts=4,fail=5", 180 },
		{ "fattree2:leaves=14,spines=8,hosts=16,fail=9", 650 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct fabric *f = net_spec(want[i].spec);
		struct tables *t = must_route(&engine_updn, f, NULL, NULL);

		assert_complete(f, t);
		assert_no_deadlock(f, t);
		assert_int_equal(t->vls, 1);
		if (max_routes(f, t) > want[i].most)
			fail_msg("%s: %lu", want[i].spec, (unsigned long)max_routes(f, t));
		tables_put(t);
		fabric_put(f);
	}
}

static void aggregation_nodes_on_spines_take_no_second_vl(void **state)
{
	struct net_opts o = { .aggregation = 10 };
	struct fabric *f = net_tree(6, 4, 4, &o);
	struct tables *t = must_route(&engine_updn, f, NULL, NULL);

	(void)state;
	assert_complete(f, t);
	assert_no_deadlock(f, t);
	assert_int_equal(t->vls, 1);
	assert_int_equal(max_routes(f, t), 20);
	tables_put(t);
	fabric_put(f);
}

static void every_switch_but_the_first_has_one_above_it(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct fabric *f = net_random(seed, 20, 35, 2, NULL);
		uint32_t *order = test_calloc(f->nsw, sizeof(*order)), alone = 0;
		struct updown ud;

		updown_order_from(order, f, (uint32_t)seed);
		assert_int_equal(order[0], seed);
		updown_init_order(&ud, f, order);
		for (uint32_t u = 0; u < f->nsw; u++) {
			bool above = false;

			for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
				above |= updown_is_up(&ud, f, c);
			alone += !above;
		}
		assert_int_equal(alone, 1);
		updown_done(&ud);
		test_free(order);
		fabric_put(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_complete_on_one_vl_on_any_connected_fabric),
		cmocka_unit_test(a_given_root_makes_every_path_go_up_then_down),
		cmocka_unit_test(a_trees_roots_are_its_top_and_its_paths_shortest_and_balanced),
		cmocka_unit_test(a_damaged_tree_keeps_its_spines_busy),
		cmocka_unit_test(roots_that_cut_terminals_off_are_refused_with_names),
		cmocka_unit_test(a_disconnected_fabric_is_refused),
		cmocka_unit_test(the_single_root_of_a_chain_is_in_its_middle),
		cmocka_unit_test(paths_are_hardly_longer_than_legal_ones_can_be),
		cmocka_unit_test(trees_and_ofts_with_missing_cables_stay_balanced_on_one_vl),
		cmocka_unit_test(aggregation_nodes_on_spines_take_no_second_vl),
		cmocka_unit_test(every_switch_but_the_first_has_one_above_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
