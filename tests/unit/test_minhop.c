/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/minhop.h"

#include "fabric/base/mem.h"
#include "tests/unit/route_check.h"
#include "tests/unit/small_net.h"

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

/* LIDs of terminals in ascending order; each switch's choice must be a least used port. */
static void check_rule(const struct fabric *f, const struct tables *t)
{
	uint32_t *used = xcalloc(f->nchan, sizeof(*used)), *hops = xcalloc(f->nsw, sizeof(*hops));

	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint8_t port;
		uint32_t dst = fabric_lid_switch(f, lid, &port);

		if (f->lid_end[lid] >= f->nterm)
			continue;
		bfs_hops(hops, f, dst);
		for (uint32_t u = 0; u < f->nsw; u++) {
			uint32_t mine = u == dst ? 0 : fabric_chan(f, u, tables_row(t, u)[lid]);

			for (uint32_t c = f->chan_off[u]; u != dst && c < f->chan_off[u + 1]; c++)
				if (hops[f->chan_dst[c]] < hops[u])
					assert_true(used[mine] <= used[c]);
			used[mine] += u != dst;
		}
	}
	free(used);
	free(hops);
}

static void every_switch_takes_a_least_used_port(void **state)
{
	struct net_opts o = { .lmc = 1, .random_lids = 4 };

	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct fabric *f = net_random(seed, 12, 40, 4, &o);
		struct tables *t = must_route(&engine_minhop, f, NULL, NULL);

		check_rule(f, t);
		tables_put(t);
		fabric_put(f);
	}
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(routes_every_lid_shortest_and_without_deadlock),
		cmocka_unit_test(every_switch_takes_a_least_used_port),
		cmocka_unit_test(a_full_tree_is_balanced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
