/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/spdag.h"

#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void check_dag(const struct spdag *g, const struct fabric *f, uint32_t root)
{
	uint32_t *hops = xcalloc(f->nsw, sizeof(*hops)), edges = 0;
	bool *seen = xcalloc(f->nchan, sizeof(*seen));

	bfs_hops(hops, f, root);
	assert_int_equal(g->root, root);
	assert_int_equal(g->n, f->nsw);
	assert_int_equal(g->sw[0], root);
	for (uint32_t i = 0; i < g->n; i++) {
		assert_int_equal(g->pos[g->sw[i]], i);
		assert_int_equal(g->dist[i], hops[g->sw[i]]);
		for (uint32_t k = g->off[i]; k < g->off[i + 1]; k++) {
			assert_int_equal(f->chan_src[g->chan[k]], g->sw[i]);
			assert_int_equal(f->chan_dst[g->chan[k]], g->sw[g->to[k]]);
			assert_true(g->to[k] < i);
			assert_false(seen[g->chan[k]]);
			seen[g->chan[k]] = true;
		}
	}
	for (uint32_t c = 0; c < f->nchan; c++)
		edges += hops[f->chan_dst[c]] + 1 == hops[f->chan_src[c]];
	assert_int_equal(g->nedge, edges);
	assert_int_equal(g->off[g->n], edges);
	free(hops);
	free(seen);
}

static void holds_every_channel_on_a_shortest_path_and_no_other(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct fabric *f =
			net_random(seed, 2 + (uint32_t)seed, 2 + 3 * (uint32_t)seed, 1, NULL);
		struct spdag g;

		spdag_init(&g, f);
		for (uint32_t root = 0; root < f->nsw; root++) {
			spdag_shortest(&g, f, root);
			check_dag(&g, f, root);
		}
		spdag_done(&g);
		fabric_put(f);
	}
}

static void a_switch_alone_is_a_dag_without_edges(void **state)
{
	struct fabric *f = net_chain(1, 2, FAB_NONE, NULL);
	struct spdag g;

	(void)state;
	spdag_init(&g, f);
	spdag_shortest(&g, f, 0);
	assert_int_equal(g.n, 1);
	assert_int_equal(g.nedge, 0);
	spdag_done(&g);
	fabric_put(f);
}

static void a_part_that_is_cut_off_stays_out(void **state)
{
	struct fabric *f = net_chain(5, 1, 2, NULL);
	struct spdag g;

	(void)state;
	spdag_init(&g, f);
	spdag_shortest(&g, f, 0);
	assert_int_equal(g.n, 3);
	assert_int_equal(g.pos[4], FAB_NONE);
	spdag_done(&g);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds_every_channel_on_a_shortest_path_and_no_other),
		cmocka_unit_test(a_switch_alone_is_a_dag_without_edges),
		cmocka_unit_test(a_part_that_is_cut_off_stays_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
