/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue/shift_detours.h"

#include "engines/nue/nue_escape.h"
#include "engines/time/shift_time.h"
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

/* A fabric, all of whose paths lead along a spanning tree, and an order in which they climb. */
struct net {
	struct arena *mem; /* owns the arrays */
	struct fabric *f;
	struct tables *t;
	uint32_t *place; /* by channel, in the tree */
	struct nue_turns *layer;
	struct nue_turns **turns;
	const uint16_t **hops;
	struct chan_weights weights;
	struct shift_detours_how how;
};

static void order_channels(struct net *n, const struct nue_escape *e)
{
	const struct fabric *f = n->f;
	uint32_t *at = arena_array(n->mem, uint32_t, f->nsw);
	uint32_t *order = arena_array(n->mem, uint32_t, f->nchan);

	for (uint32_t i = 0; i < f->nsw; i++)
		at[e->at[i]] = i;
	nue_escape_order(order, f, e->at, at);
	for (uint32_t i = 0; i < f->nchan; i++)
		n->place[order[i]] = i;
}

static void route_to(struct net *n, const struct nue_escape *e, uint32_t dst)
{
	const struct fabric *f = n->f;
	uint32_t *next = arena_array(n->mem, uint32_t, f->nsw);
	uint32_t *far = arena_array(n->mem, uint32_t, f->nsw);
	uint16_t *hops = arena_array(n->mem, uint16_t, f->nsw);

	nue_escape_path(e, f, dst, next);
	bfs_hops(far, f, dst);
	for (uint32_t u = 0; u < f->nsw; u++) {
		uint8_t port = u == dst ? 0 : f->chan_port[next[u]];

		hops[u] = (uint16_t)far[u];
		tables_row(n->t, u)[f->sw_lid[dst]] = port;
		for (uint32_t k = f->term_off[dst]; k < f->term_off[dst + 1]; k++) {
			uint32_t term = f->term_list[k];

			memset(tables_row(n->t, u) + f->term_lid[term],
			       u == dst ? f->term_port[term] : port, (size_t)1 << f->lmc);
		}
	}
	n->hops[dst] = hops;
}

static void net_begin(struct net *n, const char *spec)
{
	struct fabric *f = net_spec(spec);
	bool *to = xcalloc(f->nsw, sizeof(*to));
	struct nue_escape e;

	*n = (struct net){ .mem = arena_new(), .f = f, .t = tables_new(f, "tree") };
	n->place = arena_array(n->mem, uint32_t, f->nchan);
	n->turns = arena_array(n->mem, struct nue_turns *, f->max_lid + 1u);
	n->hops = arena_array(n->mem, const uint16_t *, f->nsw);
	memset(to, true, f->nsw * sizeof(*to));
	nue_escape_init(&e, f, 0, to);
	order_channels(n, &e);
	n->layer = nue_turns_new(f, n->place);
	for (uint32_t lid = 0; lid <= f->max_lid; lid++)
		n->turns[lid] = f->lid_end[lid] == FAB_NONE ? NULL : n->layer;
	for (uint32_t u = 0; u < f->nsw; u++)
		route_to(n, &e, u);
	nue_escape_done(&e);
	free(to);
	chan_weights_init(&n->weights, f, false);
	n->how = (struct shift_detours_how){
		.weights = &n->weights, .turns = n->turns, .hops = n->hops, .more = 1
	};
}

static void net_end(struct net *n)
{
	nue_turns_free(n->layer);
	chan_weights_done(&n->weights);
	tables_put(n->t);
	fabric_put(n->f);
	arena_free(n->mem);
}

static uint64_t move(struct net *n, unsigned rounds)
{
	struct shift_detours *x = shift_detours_new(n->t, n->f, &n->how);
	uint64_t moved;
	struct pace p;

	pace_begin(&p, NULL, "paths", 1);
	assert_int_equal(shift_detours_move(&moved, x, 25, rounds, &p), 0);
	shift_detours_free(x);
	return moved;
}

static struct shift_time all_shifts(const struct net *n)
{
	struct shift_time_opts opts = { .shifts = SHIFT_TIME_ALL };
	struct shift_time s;

	assert_int_equal(shift_time_compute(&s, n->f, n->t, &opts, NULL, NULL), 0);
	return s;
}

/* Hops of the path; fails the test where it does not climb in these places. */
static uint32_t climb(const struct net *n, const uint32_t *place, const struct tables *t,
		      uint32_t u, uint32_t term)
{
	const struct fabric *f = n->f;
	uint32_t hops = 0, last = 0;

	for (; u != f->term_sw[term]; hops++) {
		uint32_t c = fabric_chan(f, u, tables_row(t, u)[f->term_lid[term]]);

		assert_true(!hops || place[c] > last);
		last = place[c];
		u = f->chan_dst[c];
	}
	return hops;
}

static void flows_of_shifts_get_more_and_all_paths_climb(void **state)
{
	static const char *const specs[] = { "dragonfly:p=2", "torus:dims=4x4,hosts=3",
					     "hyperx:dims=4x3,hosts=3",
					     "random:switches=20,links=60,hosts=4,seed=1",
					     "hyperx:dims=4x4,hosts=3,links=2,rates=4xEDR+1xEDR" };

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct shift_time before, after;
		struct net n;

		net_begin(&n, specs[i]);
		before = all_shifts(&n);
		assert_true(move(&n, 3) > 0);
		after = all_shifts(&n);
		assert_complete(n.f, n.t);
		assert_true(after.rate.mean > 1.2 * before.rate.mean);
		assert_true(after.sync.mean > before.sync.mean);
		for (uint32_t term = 0; term < n.f->nterm; term++)
			for (uint32_t u = 0; u < n.f->nsw; u++)
				climb(&n, nue_turns_places(n.layer), n.t, u, term);
		net_end(&n);
	}
}

static void no_path_gets_longer_than_it_may_and_no_channel_fuller(void **state)
{
	static const unsigned fuller[] = { 0, 30 };

	(void)state;
	for (size_t i = 0; i < sizeof(fuller) / sizeof(*fuller); i++) {
		struct tables *old;
		struct net n;
		uint64_t max;

		net_begin(&n, "dragonfly:p=2");
		max = max_routes(n.f, n.t);
		old = tables_new(n.f, "tree");
		memcpy(old->lft, n.t->lft, (size_t)old->nsw * old->stride);
		n.how.fuller_pct = fuller[i];
		assert_true(move(&n, 4) > 0);
		assert_true(max_routes(n.f, n.t) <= max * (100 + fuller[i]) / 100);
		for (uint32_t term = 0; term < n.f->nterm; term++)
			for (uint32_t u = 0; u < n.f->nsw; u++) {
				uint32_t least = n.hops[n.f->term_sw[term]][u];
				uint32_t was = climb(&n, n.place, old, u, term);
				uint32_t is = climb(&n, nue_turns_places(n.layer), n.t, u, term);

				assert_true(is <= (was > least + 1 ? was : least + 1));
			}
		tables_put(old);
		net_end(&n);
	}
}

/* Those of LMC, of switches, and where no flow comes through. */
static void other_entries_stay(void **state)
{
	struct tables *old;
	struct net n;

	(void)state;
	net_begin(&n, "dragonfly:p=2,lmc=1");
	old = tables_new(n.f, "tree");
	memcpy(old->lft, n.t->lft, (size_t)old->nsw * old->stride);
	assert_true(move(&n, 2) > 0);
	for (uint32_t u = 0; u < n.f->nsw; u++)
		for (uint32_t lid = 1; lid <= n.f->max_lid; lid++) {
			uint32_t end = n.f->lid_end[lid];

			if (end < n.f->nterm && n.f->term_lid[end] == lid)
				continue;
			assert_int_equal(tables_row(n.t, u)[lid], tables_row(old, u)[lid]);
		}
	tables_put(old);
	net_end(&n);
}

/* Of that LID it is not known where its packets turn. */
static void nothing_moves_where_a_path_is_missing(void **state)
{
	struct net n;

	(void)state;
	net_begin(&n, "dragonfly:p=2");
	tables_row(n.t, 0)[n.f->sw_lid[1]] = 0;
	assert_int_equal(move(&n, 2), 0);
	net_end(&n);
}

static void a_cancel_ends_the_search(void **state)
{
	struct progress progress = { .report = NULL };
	struct shift_detours *x;
	uint64_t moved;
	struct pace p;
	struct net n;

	(void)state;
	net_begin(&n, "dragonfly:p=3");
	x = shift_detours_new(n.t, n.f, &n.how);
	pace_begin(&p, &progress, "paths", 1);
	atomic_store(&progress.cancel, true);
	assert_int_equal(shift_detours_move(&moved, x, 25, 100, &p), -ECANCELED);
	shift_detours_free(x);
	net_end(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flows_of_shifts_get_more_and_all_paths_climb),
		cmocka_unit_test(no_path_gets_longer_than_it_may_and_no_channel_fuller),
		cmocka_unit_test(other_entries_stay),
		cmocka_unit_test(nothing_moves_where_a_path_is_missing),
		cmocka_unit_test(a_cancel_ends_the_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
