/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/minhop.h"

#include "engines/graph/balance/min_load_tree.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void routes_every_lid_shortest_and_without_deadlock(void **state)
{
	(void)state;
	for (int lmc = 0; lmc <= 2; lmc++) {
		struct net_opts o = { .lmc = lmc, .aggregation = 2 };

		for (uint64_t seed = 1; seed <= 10; seed++) {
			struct fabric *f = net_random(seed, 5 + (uint32_t)seed,
						      12 + 2 * (uint32_t)seed, 3, &o);
			struct tables *t = must_route(&engine_minhop, f, NULL, NULL);

			assert_complete(f, t);
			assert_shortest(f, t);
			assert_no_deadlock(f, t);
			tables_put(t);
			fabric_put(f);
		}
	}
}

/* Adds the routes to a LID; each switch's choice must have been a least loaded channel. */
static void check_choices(const struct fabric *f, const struct tables *t, uint64_t *load,
			  const struct dest *d)
{
	uint32_t *hops = xcalloc(f->nsw, sizeof(*hops));
	uint64_t *add = xcalloc(f->nchan, sizeof(*add));

	bfs_hops(hops, f, d->sw);
	for (uint32_t u = 0; u < f->nsw; u++) {
		uint32_t mine = u == d->sw ? 0 : fabric_chan(f, u, tables_row(t, u)[d->lid]);

		for (uint32_t c = f->chan_off[u]; u != d->sw && c < f->chan_off[u + 1]; c++)
			if (hops[f->chan_dst[c]] < hops[u])
				assert_true(load[mine] <= load[c]);
		for (uint32_t v = u; v != d->sw;) {
			uint32_t c = fabric_chan(f, v, tables_row(t, v)[d->lid]);

			add[c] += f->sw_nterm[u];
			v = f->chan_dst[c];
		}
	}
	for (uint32_t c = 0; c < f->nchan; c++)
		load[c] += add[c];
	free(add);
	free(hops);
}

static void every_switch_takes_a_least_loaded_channel(void **state)
{
	struct net_opts o = { .lmc = 1, .random_lids = 4 };

	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct fabric *f = net_random(seed, 12, 40, 4, &o);
		struct tables *t = tables_new(f, "test");
		struct min_load_tree *b = min_load_tree_new(f, t, BALANCE_PORTS, NULL, NULL);
		uint64_t *load = xcalloc(f->nchan, sizeof(*load));
		uint32_t n;
		struct dest *dests = graph_dests_by_lid(&n, f, f->lmc);

		for (uint32_t i = 0; i < f->nterm << f->lmc; i++) {
			min_load_tree_route(b, &dests[i], 1, f->sw_nterm);
			check_choices(f, t, load, &dests[i]);
		}
		assert_memory_equal(load, min_load_tree_loads(b), f->nchan * sizeof(*load));
		free(load);
		free(dests);
		min_load_tree_free(b);
		tables_put(t);
		fabric_put(f);
	}
}

/* Switches on the way count only what comes through them, else every core gets all of a pod. */
static void a_full_tree_of_three_levels_is_balanced(void **state)
{
	struct fabric *f = net_spec("fattree3:k=8");
	struct tables *t = must_route(&engine_minhop, f, NULL, NULL);

	(void)state;
	/* 4 hosts x 124 others over 4 uplinks */
	assert_int_equal(max_routes(f, t), 124);
	assert_int_equal(t->vls, 1);
	tables_put(t);
	fabric_put(f);
}

static void a_full_tree_is_balanced(void **state)
{
	struct fabric *f = net_tree(4, 4, 4, NULL);
	struct tables *t = must_route(&engine_minhop, f, NULL, NULL);

	(void)state;
	assert_int_equal(max_routes(f, t), 12);
	assert_int_equal(t->vls, 1);
	tables_put(t);
	fabric_put(f);
}

/* Large enough for threads to share levels and to build DAGs ahead. */
static void any_number_of_threads_gives_the_same_bytes(void **state)
{
	struct fabric *f = net_spec("fattree3:k=24,fail=2%");
	struct engine_params p = { .threads = 1 };
	struct tables *one = must_route(&engine_minhop, f, NULL, &p);

	(void)state;
	for (p.threads = 2; p.threads < 6; p.threads += 3) {
		struct tables *t = must_route(&engine_minhop, f, NULL, &p);

		assert_same_tables(one, t);
		tables_put(t);
	}
	tables_put(one);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(routes_every_lid_shortest_and_without_deadlock),
		cmocka_unit_test(every_switch_takes_a_least_loaded_channel),
		cmocka_unit_test(a_full_tree_of_three_levels_is_balanced),
		cmocka_unit_test(a_full_tree_is_balanced),
		cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
