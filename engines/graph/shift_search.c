/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/shift_search.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define WORK	    (256u << 20) /* channels times flows looked at */
#define MUCH	    6		 /* a share of what the first round has moved */
#define MILD_OTHERS 110		 /* as SHIFT_SEARCH_OTHERS, in mild rounds */

struct shift_search {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	struct tables *t;
	const struct shift_search_how *how;
	struct spdag dag;
	struct shift_flows flows;

	/* towards the terminal at hand */
	uint32_t *first, *last; /* by position: switches whose flows come through; FAB_NONE: none */
	uint32_t *after;	/* by switch: the next of these */
	uint32_t *floor; /* by position: greatest place of a channel by which it is entered, + 1 */
	uint64_t moved;
};

static void shift_search_take(struct shift_search *x, uint32_t i, int one)
{
	shift_flows_add(&x->flows, x->flows.taken[i], one);
	x->flows.through[i] += (uint64_t)((int64_t)one * x->flows.nshift);
}

/* Channels taken towards a terminal on the root; false: a path leaves the DAG, or there is none. */
static bool shift_search_read(struct shift_search *x, uint32_t term)
{
	const struct spdag *g = &x->dag;
	const struct fabric *f = x->f;

	x->flows.taken[0] = FAB_NONE;
	for (uint32_t i = 1; i < g->n; i++) {
		uint32_t u = g->sw[i],
			 c = fabric_chan(f, u, tables_row(x->t, u)[f->term_lid[term]]);

		x->flows.taken[i] = c;
		if (c == FAB_NONE || g->pos[f->chan_dst[c]] >= i)
			return false;
	}
	x->flows.work += g->n;
	return true;
}

/* All flows to a terminal, from the farthest switch to the nearest. */
static void shift_search_count(struct shift_search *x, uint32_t term)
{
	const struct spdag *g = &x->dag;

	for (uint32_t i = 1; i < g->n; i++) {
		x->flows.nshift = 0;
		shift_flows_ask(&x->flows, g->sw[i], term);
		for (uint32_t at = i; x->flows.nshift && at; at = shift_flows_next(&x->flows, at))
			shift_flows_add(&x->flows, x->flows.taken[at], 1);
	}
}

/* May position i take that channel, by the order of the LID's paths?  Where nobody came through so
 * far, they need not climb. */
static bool shift_search_climbs(const struct shift_search *x, const uint32_t *place, uint32_t i,
				uint32_t c)
{
	uint32_t at = x->dag.pos[x->f->chan_dst[c]];

	if (place && place[c] < x->floor[i])
		return false;
	for (uint32_t last = c; place && at; at = x->dag.pos[x->f->chan_dst[last]]) {
		if (place[x->flows.taken[at]] <= place[last])
			return false;
		last = x->flows.taken[at];
	}
	return true;
}

/* The channel that costs the flows at hand least. */
static uint32_t shift_search_choose(struct shift_search *x, uint32_t i, const uint32_t *place)
{
	const struct spdag *g = &x->dag;
	uint32_t was = x->flows.taken[i], best = was;
	uint64_t least;

	x->flows.question++;
	shift_flows_come(&x->flows, i);
	least = shift_flows_way_cost(&x->flows, i);
	for (uint32_t e = g->off[i]; e < g->off[i + 1]; e++) {
		uint32_t c = g->chan[e];
		uint64_t cost;

		if (c == was || !shift_search_climbs(x, place, i, c))
			continue;
		cost = shift_flows_way_cost(&x->flows, g->to[e]);
		if (cost < least)
			cost += shift_flows_cost(&x->flows, c, false, 0, least - cost);
		if (cost >= least)
			continue;
		least = cost;
		best = c;
	}
	return best;
}

static void shift_search_take_chan(struct shift_search *x, uint32_t i, uint32_t term, uint32_t c)
{
	for (uint32_t at = i; at; at = shift_flows_next(&x->flows, at))
		shift_search_take(x, at, -1);
	x->flows.taken[i] = c;
	for (uint32_t at = i; at; at = shift_flows_next(&x->flows, at))
		shift_search_take(x, at, 1);
	x->moved++;
	tables_row(x->t, x->dag.sw[i])[x->f->term_lid[term]] = x->f->chan_port[c];
}

static bool shift_search_is_free(const struct shift_search *x, uint32_t i, uint32_t term)
{
	const struct spdag *g = &x->dag;

	return g->off[i + 1] - g->off[i] > 1 &&
	       (!x->how->is_free || x->how->is_free(x->how->ctx, g->sw[i], term));
}

static void shift_search_move(struct shift_search *x, uint32_t i, uint32_t term,
			      const uint32_t *place)
{
	uint32_t best;

	x->flows.nshift = 0;
	for (uint32_t u = x->first[i]; u != FAB_NONE; u = x->after[u])
		shift_flows_ask(&x->flows, u, term);
	best = x->flows.nshift ? shift_search_choose(x, i, place) : x->flows.taken[i];
	if (best != x->flows.taken[i])
		shift_search_take_chan(x, i, term, best);
}

/* What comes through position i goes on to the next one. */
static void shift_search_pass_on(struct shift_search *x, uint32_t i, const uint32_t *place)
{
	uint32_t to = shift_flows_next(&x->flows, i);

	if (place && place[x->flows.taken[i]] + 1 > x->floor[to])
		x->floor[to] = place[x->flows.taken[i]] + 1;
	if (x->first[i] == FAB_NONE)
		return;
	if (x->first[to] == FAB_NONE)
		x->first[to] = x->first[i];
	else
		x->after[x->last[to]] = x->first[i];
	x->last[to] = x->last[i];
}

/* Flows by position. */
static void shift_search_sum(struct shift_search *x, uint32_t term)
{
	for (uint32_t i = 0; i < x->dag.n; i++) {
		x->flows.nshift = 0;
		shift_flows_ask(&x->flows, x->dag.sw[i], term);
		x->flows.through[i] = x->flows.nshift;
	}
	for (uint32_t i = x->dag.n; i-- > 1;)
		x->flows.through[shift_flows_next(&x->flows, i)] += x->flows.through[i];
}

/* All switches towards one terminal, the farthest first. */
static void shift_search_terminal(struct shift_search *x, uint32_t term)
{
	const struct spdag *g = &x->dag;
	const uint32_t *place = x->how->places ? x->how->places[x->f->term_lid[term]] : NULL;

	if (!shift_search_read(x, term))
		return;
	for (uint32_t i = 0; i < g->n; i++) {
		x->first[i] = x->last[i] = x->f->sw_nterm[g->sw[i]] ? g->sw[i] : FAB_NONE;
		x->after[g->sw[i]] = FAB_NONE;
		x->floor[i] = 0;
	}
	shift_search_sum(x, term);
	for (uint32_t i = g->n; i-- > 1;) {
		if (shift_search_is_free(x, i, term))
			shift_search_move(x, i, term, place);
		shift_search_pass_on(x, i, place);
	}
}

static void shift_search_build(struct shift_search *x, uint32_t root)
{
	if (x->how->build)
		x->how->build(x->how->ctx, &x->dag, x->f, root);
	else
		spdag_shortest(&x->dag, x->f, root);
	x->flows.work += x->f->nchan;
}

/* Once over all terminals; count: only adds their flows. */
static int shift_search_round(struct shift_search *x, bool count, struct pace *p)
{
	const struct fabric *f = x->f;

	for (uint32_t u = 0; u < f->nsw; u++) {
		uint64_t before = x->flows.work;

		if (f->sw_nterm[u])
			shift_search_build(x, u);
		for (uint32_t k = f->term_off[u]; k < f->term_off[u + 1]; k++) {
			uint32_t term = f->term_list[k];

			if (term >= f->nterm || x->flows.work > WORK)
				continue;
			if (count && shift_search_read(x, term))
				shift_search_count(x, term);
			if (!count)
				shift_search_terminal(x, term);
		}
		if (pace_work(p, x->flows.work - before))
			return -ECANCELED;
	}
	return 0;
}

static void shift_search_init(struct shift_search *x, struct tables *t, const struct fabric *f,
			      const struct shift_search_how *how)
{
	*x = (struct shift_search){ .mem = arena_new(), .f = f, .t = t, .how = how };
	spdag_init(&x->dag, f);
	shift_flows_init(&x->flows, f, how->weights, false);
	x->flows.node = x->dag.pos;
	x->first = arena_array(x->mem, uint32_t, f->nsw);
	x->last = arena_array(x->mem, uint32_t, f->nsw);
	x->after = arena_array(x->mem, uint32_t, f->nsw);
	x->floor = arena_array(x->mem, uint32_t, f->nsw);
}

/* So many rounds, as long as anything moves; after mild ones, as long as much does. */
static int shift_search_rounds(struct shift_search *x, bool mild, unsigned rounds, struct pace *p)
{
	struct shift_price price = { .cubed = !mild,
				     .others = mild ? MILD_OTHERS : x->how->others };
	uint64_t first = 0, least = 0, now = UINT64_MAX;
	int rc = 0;

	shift_flows_set_price(&x->flows, &price);
	for (unsigned i = 0; i < rounds && now > least && !rc; i++) {
		uint64_t before = x->moved;

		rc = shift_search_round(x, false, p);
		now = x->moved - before;
		first = i ? first : now;
		least = x->how->mild ? first / MUCH : 0;
	}
	return rc;
}

int shift_search(uint64_t *moved, struct tables *t, const struct fabric *f,
		 const struct shift_search_how *how, struct pace *p)
{
	struct shift_search x;
	int rc;

	if (moved)
		*moved = 0;
	if (!shift_flows_fit(f))
		return 0;
	shift_search_init(&x, t, f, how);
	rc = shift_search_round(&x, true, p);
	shift_flows_set_most(&x.flows, how->fuller_pct);
	if (!rc)
		rc = shift_search_rounds(&x, true, how->mild, p);
	if (!rc)
		rc = shift_search_rounds(&x, false, how->rounds, p);
	if (moved)
		*moved = x.moved;
	spdag_done(&x.dag);
	shift_flows_done(&x.flows);
	arena_free(x.mem);
	return rc;
}
