/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/balance/load_lanes.h"

#include "engines/graph/spdag.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* 64 switches with 4 hosts each: a LID of each, then the next of each. */
#define SPEC "hyperx:dims=8x8,hosts=4"

struct net {
	struct fabric *f;
	struct tables *t;
	struct pool *pool;
	struct dagset *set;
	struct load_lanes *lanes;
	struct dest *dests;
	uint32_t n;
	uint64_t *load;
};

static void build_dag(void *ctx, unsigned worker, struct spdag *g, const struct fabric *f,
		      uint32_t root)
{
	(void)ctx;
	(void)worker;
	spdag_shortest(g, f, root);
}

/* Terminals of a switch follow each other in a fabric, and so do switches. */
static void take_turns(struct net *n)
{
	const struct fabric *f = n->f;

	n->dests = xcalloc(f->nterm, sizeof(*n->dests));
	for (uint32_t k = 0; n->n < f->nterm; k++)
		for (uint32_t u = 0; u < f->nsw; u++) {
			uint32_t at = f->term_off[u] + k, term;

			if (at >= f->term_off[u + 1])
				continue;
			term = f->term_list[at];
			n->dests[n->n++] = (struct dest){ .lid = f->term_lid[term],
							  .sw = u,
							  .end = term,
							  .port = f->term_port[term] };
		}
}

static void begin(struct net *n, unsigned threads, struct lft_hops *hops, bool by_ports)
{
	*n = (struct net){ .f = net_spec(SPEC) };
	n->t = tables_new(n->f, "test");
	n->pool = pool_new(threads);
	n->set = dagset_new(n->f, n->pool, SIZE_MAX, build_dag, NULL, NULL);
	if (hops)
		lft_hops_init(hops, n->f, n->t);
	n->lanes = load_lanes_new(n->f, n->t, n->set, threads > 1 ? n->pool : NULL, hops, by_ports);
	n->load = xcalloc(n->f->nchan, sizeof(*n->load));
	take_turns(n);
	assert_int_equal(n->n, LOAD_LANES_ROUND);
}

static void end(struct net *n)
{
	load_lanes_free(n->lanes);
	dagset_free(n->set);
	pool_free(n->pool);
	tables_put(n->t);
	fabric_put(n->f);
	free(n->dests);
	free(n->load);
}

/* Along the tables, from every switch. */
static void count_routes(uint64_t *load, const struct net *n, const struct dest *d)
{
	const struct fabric *f = n->f;

	for (uint32_t first = 0; first < f->nsw; first++)
		for (uint32_t u = first, hops = 0; u != d->sw; hops++) {
			uint32_t c = fabric_chan(f, u, tables_row(n->t, u)[d->lid]);

			assert_true(c != FAB_NONE && hops < 3);
			load[c] += f->sw_nterm[first];
			u = f->chan_dst[c];
		}
}

static void assert_loads_are_those_of_the_tables(const struct net *n, uint32_t nlid)
{
	uint64_t *load = xcalloc(n->f->nchan, sizeof(*load));

	for (uint32_t k = 0; k < nlid; k++) {
		count_routes(load, n, &n->dests[k]);
		assert_int_equal(tables_row(n->t, n->dests[k].sw)[n->dests[k].lid],
				 n->dests[k].port);
	}
	assert_memory_equal(load, n->load, n->f->nchan * sizeof(*load));
	free(load);
}

static void a_round_of_any_size_adds_the_routes_that_its_tables_have(void **state)
{
	(void)state;
	for (uint32_t some = 1; some <= LOAD_LANES_ROUND; some += 51) {
		struct net n;

		begin(&n, 1, NULL, some % 2);
		for (uint32_t k = 0, m; k < n.n; k += m) {
			m = some < n.n - k ? some : n.n - k;
			assert_true(load_lanes_route(n.lanes, n.load, n.dests + k, m, n.f->sw_nterm,
						     NULL) > 0);
			assert_loads_are_those_of_the_tables(&n, k + m);
		}
		end(&n);
	}
}

static void lids_routed_again_leave_only_their_new_routes(void **state)
{
	struct net n;
	size_t size;
	uint8_t *was, *lft;

	(void)state;
	begin(&n, 2, NULL, false);
	size = (size_t)n.t->nsw * n.t->stride;
	was = xcalloc((size_t)n.n * n.f->nsw, 1);
	load_lanes_route(n.lanes, n.load, n.dests, n.n, n.f->sw_nterm, NULL);
	lft = memcpy(xcalloc(size, 1), n.t->lft, size);
	load_lanes_route(n.lanes, n.load, n.dests + 20, 100, n.f->sw_nterm, was);
	assert_loads_are_those_of_the_tables(&n, n.n);
	for (uint32_t k = 0; k < 100; k++)
		for (uint32_t u = 0; u < n.f->nsw; u++)
			assert_int_equal(was[(size_t)k * n.f->nsw + u],
					 lft[(size_t)u * n.t->stride + n.dests[20 + k].lid]);
	free(was);
	free(lft);
	end(&n);
}

static void any_number_of_threads_gives_the_same_tables_and_loads(void **state)
{
	(void)state;
	for (int by_ports = 0; by_ports < 2; by_ports++) {
		struct net one;

		begin(&one, 1, NULL, by_ports);
		load_lanes_route(one.lanes, one.load, one.dests, one.n, one.f->sw_nterm, NULL);
		for (unsigned threads = 2; threads < 6; threads++) {
			struct net many;

			begin(&many, threads, NULL, by_ports);
			load_lanes_route(many.lanes, many.load, many.dests, many.n,
					 many.f->sw_nterm, NULL);
			assert_true(tables_same(one.t, many.t, one.f));
			assert_memory_equal(one.load, many.load, one.f->nchan * sizeof(*one.load));
			end(&many);
		}
		end(&one);
	}
}

static void hops_get_what_the_tables_get(void **state)
{
	struct lft_hops hops;
	struct net n;

	(void)state;
	begin(&n, 2, &hops, true);
	load_lanes_route(n.lanes, n.load, n.dests, n.n, n.f->sw_nterm, NULL);
	for (uint32_t k = 0; k < n.n; k++) {
		const uint8_t *at = lft_hops_at(&hops, n.dests[k].lid);

		for (uint32_t u = 0; u < n.f->nsw; u++)
			assert_int_equal(at[u], tables_row(n.t, u)[n.dests[k].lid]);
	}
	assert_int_equal(hops.reads, 0);
	end(&n);
	lft_hops_done(&hops);
}

/* Though none sees what the others add within a round. */
static void lanes_share_the_cables_evenly(void **state)
{
	uint64_t most = 0, sum = 0;
	struct net n;

	(void)state;
	begin(&n, 1, NULL, false);
	load_lanes_route(n.lanes, n.load, n.dests, n.n, n.f->sw_nterm, NULL);
	for (uint32_t c = 0; c < n.f->nchan; c++) {
		most = n.load[c] > most ? n.load[c] : most;
		sum += n.load[c];
	}
	assert_true(most * n.f->nchan <= 2 * sum);
	end(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_round_of_any_size_adds_the_routes_that_its_tables_have),
		cmocka_unit_test(lids_routed_again_leave_only_their_new_routes),
		cmocka_unit_test(any_number_of_threads_gives_the_same_tables_and_loads),
		cmocka_unit_test(hops_get_what_the_tables_get),
		cmocka_unit_test(lanes_share_the_cables_evenly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
