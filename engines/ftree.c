/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/ftree.h"

#include "engines/geometry/fattree.h"
#include "engines/geometry/fattree_turns.h"
#include "engines/geometry/topology_kind.h"
#include "engines/graph/balanced_sssp.h"
#include "engines/graph/graph.h"
#include "engines/graph/min_load_tree.h"
#include "engines/graph/shift_search.h"
#include "engines/graph/updown.h"
#include "engines/time/shift_choice.h"
#include "engines/time/shift_time.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/chan_weight.h"
#include "fabric/model/topology/without.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH	      64 /* LIDs of one destination switch whose ports are written row by row */
#define SEARCH_ROUNDS 4

/* How a position chooses among its edges. */
enum way {
	WAY_SLOT,  /* up, by the slot of the destination's turn, all of which are edges */
	WAY_SOME,  /* the same, but not all are */
	WAY_CHILD, /* to the only switch below, by the cable that the destination would go up */
	WAY_TURN,  /* any edge, in turn */
};

struct ftree {
	const struct fabric *f;
	struct arena *arena;
	struct tables *t;
	struct topology_kind *topology;
	const uint8_t *level; /* its own */
	struct fattree *tree;
	struct fattree_turns *turns;
	uint32_t *own; /* by LID: the number whose turns it takes */
	struct updown ud;
	struct spdag dag;
	bool whole; /* no position of the DAG is WAY_SOME */
	struct chan_weights weights;
	uint64_t *load; /* by channel: routes times its weight */

	/* by position of the DAG */
	uint8_t *way;
	bool *up;	/* its edges go up the ranking */
	bool *open;	/* it was left open */
	uint32_t *chan; /* FAB_NONE: its slot is of no use, or leads where that is so */
	uint8_t *port;	/* by LID of the batch * nsw + position */
	uint64_t *routes;
	uint32_t *child; /* channel down that the destination at hand would come up, or FAB_NONE */

	uint32_t *turn; /* by pattern: slot of the destination at hand */

	/* a bit by terminal * nsw + switch: entries of base LIDs of terminals that are not what the
	 * turns alone would have them */
	uint64_t *free;
	uint64_t nfree;
};

static uint32_t ftree_level_at(const struct ftree *r, uint32_t i)
{
	return r->level[r->dag.sw[i]];
}

static uint32_t ftree_slots_at(const struct ftree *r, uint32_t i)
{
	return r->tree->pattern[r->tree->pattern_of[r->dag.sw[i]]].nslot;
}

/* Is the channel an edge of the DAG?  It leaves the switch at position i. */
static bool ftree_is_edge(const struct ftree *r, uint32_t i, uint32_t c)
{
	const struct spdag *g = &r->dag;
	uint32_t to = g->pos[r->f->chan_dst[c]];

	if (g->dist[to] + 1 != g->dist[i] || updown_is_up(&r->ud, r->f, c) != r->up[i])
		return false;
	return r->up[i] || !to || !r->up[to];
}

static enum way ftree_way_up(const struct ftree *r, uint32_t i)
{
	const struct fattree *tree = r->tree;
	const uint32_t *slot = tree->slot + tree->slot_off[r->dag.sw[i]];
	uint32_t n = ftree_slots_at(r, i);

	if (!n)
		return WAY_TURN;
	for (uint32_t k = 0; k < n; k++)
		if (slot[k] == FAB_NONE || !ftree_is_edge(r, i, slot[k]))
			return WAY_SOME;
	return WAY_SLOT;
}

static enum way ftree_find_way(const struct ftree *r, uint32_t i)
{
	const struct spdag *g = &r->dag;
	uint32_t first = g->to[g->off[i]], level = ftree_level_at(r, i);

	if (level == TREE_IDLE)
		return WAY_TURN;
	if (ftree_level_at(r, first) == level + 1)
		return ftree_way_up(r, i);
	for (uint32_t e = g->off[i] + 1; e < g->off[i + 1]; e++)
		if (g->to[e] != first)
			return WAY_TURN;
	return WAY_CHILD;
}

static void ftree_build(struct ftree *r, uint32_t root)
{
	const struct spdag *g = &r->dag;

	if (g->root == root)
		return;
	updown_dag(&r->ud, &r->dag, r->f, root);
	r->whole = true;
	for (uint32_t i = 1; i < g->n; i++) {
		r->up[i] = updown_is_up(&r->ud, r->f, g->chan[g->off[i]]);
		r->way[i] = (uint8_t)ftree_find_way(r, i);
		r->whole &= r->way[i] != WAY_SOME;
	}
}

/* Cable up from u of number j, FAB_NONE: it is missing, or u has none. */
static uint32_t ftree_up_chan(const struct ftree *r, uint32_t u, uint32_t j)
{
	const struct fattree *tree = r->tree;
	const struct fattree_pattern *pat = &tree->pattern[tree->pattern_of[u]];

	if (!pat->nslot)
		return FAB_NONE;
	return tree
		->slot[tree->slot_off[u] + fattree_turns_slot(r->turns, pat->level, pat->nslot, j)];
}

static bool ftree_is_top(const struct ftree *r, uint32_t u)
{
	return !r->tree->pattern[r->tree->pattern_of[u]].nslot;
}

/* The way up that number j would take by itself, backwards. */
static void ftree_climb(struct ftree *r, uint32_t j)
{
	const struct fattree *tree = r->tree;
	const struct fabric *f = r->f;
	uint32_t u = r->dag.root, c;

	for (uint32_t p = 0; p < tree->npattern; p++) {
		const struct fattree_pattern *pat = &tree->pattern[p];

		if (pat->nslot)
			r->turn[p] = fattree_turns_slot(r->turns, pat->level, pat->nslot, j);
	}
	memset(r->child, 0xff, r->topology->tree->nlevel * sizeof(*r->child));
	while ((c = ftree_up_chan(r, u, j)) != FAB_NONE) {
		r->child[r->level[u]] = f->chan_rev[c];
		u = f->chan_dst[c];
	}
}

/* Down to the only switch below. */
static uint32_t ftree_child_chan(const struct ftree *r, uint32_t i, uint64_t j)
{
	const struct spdag *g = &r->dag;
	const struct fattree *tree = r->tree;
	uint32_t n = g->off[i + 1] - g->off[i], u = g->sw[i], level = r->level[u];

	if (n > 1 && level && r->child[level - 1] != FAB_NONE &&
	    r->f->chan_src[r->child[level - 1]] == u && ftree_is_edge(r, i, r->child[level - 1]))
		return r->child[level - 1];
	return g->chan[g->off[i] + (uint32_t)(j / tree->div[level] % n)];
}

static uint32_t ftree_slot_chan(const struct ftree *r, uint32_t i)
{
	uint32_t u = r->dag.sw[i];

	return r->tree->slot[r->tree->slot_off[u] + r->turn[r->tree->pattern_of[u]]];
}

static uint32_t ftree_any_chan(const struct ftree *r, uint32_t i, uint64_t j)
{
	const struct spdag *g = &r->dag;

	return g->chan[g->off[i] + (uint32_t)(j % (g->off[i + 1] - g->off[i]))];
}

/* What position i would choose if all were well. */
static uint32_t ftree_wanted_chan(const struct ftree *r, uint32_t i, uint64_t j)
{
	uint32_t c;

	switch ((enum way)r->way[i]) {
	case WAY_SLOT:
		return ftree_slot_chan(r, i);
	case WAY_SOME:
		c = ftree_slot_chan(r, i);
		return c != FAB_NONE && ftree_is_edge(r, i, c) ? c : FAB_NONE;
	case WAY_CHILD:
		return ftree_child_chan(r, i, j);
	case WAY_TURN:
		break;
	}
	return ftree_any_chan(r, i, j);
}

/* Channels of all positions towards destination number j.  free: leave those open that cannot
 * have theirs; returns how many that are.  Else they take any. */
static uint32_t ftree_choose(struct ftree *r, uint32_t j, bool free)
{
	const struct spdag *g = &r->dag;
	uint32_t nopen = 0;

	ftree_climb(r, j);
	if (r->whole) {
		for (uint32_t i = 1; i < g->n; i++)
			r->chan[i] = ftree_wanted_chan(r, i, j);
		return 0;
	}
	for (uint32_t i = 1; i < g->n; i++) {
		uint32_t c = ftree_wanted_chan(r, i, j), to;

		if (c == FAB_NONE && !free)
			c = ftree_any_chan(r, i, j);
		to = c == FAB_NONE ? 0 : g->pos[r->f->chan_dst[c]];
		if (to && r->chan[to] == FAB_NONE)
			c = FAB_NONE;
		r->chan[i] = c;
		nopen += c == FAB_NONE;
	}
	return nopen;
}

/* Adds what comes over ways that are not open. */
static void ftree_add_loads(struct ftree *r)
{
	const struct spdag *g = &r->dag;

	for (uint32_t i = 1; i < g->n; i++)
		r->routes[i] = r->chan[i] == FAB_NONE ? 0 : r->f->sw_nterm[g->sw[i]];
	r->routes[0] = 0;
	for (uint32_t i = g->n; i-- > 1;) {
		if (r->chan[i] == FAB_NONE)
			continue;
		r->load[r->chan[i]] += r->routes[i] * chan_weight(&r->weights, r->chan[i]);
		r->routes[g->pos[r->f->chan_dst[r->chan[i]]]] += r->routes[i];
	}
}

/* The most loaded channel on the way from channel c on, in steps of three quarters of what leads to
 * one destination alone. */
static uint64_t ftree_way_steps(const struct ftree *r, uint32_t c)
{
	uint64_t most = 0;

	for (;;) {
		uint32_t to = r->dag.pos[r->f->chan_dst[c]];

		most = r->load[c] > most ? r->load[c] : most;
		if (!to)
			break;
		c = r->chan[to];
	}
	return 4 * most / (3ull * r->f->nterm + 1);
}

/* The cheapest way for an open position, starting to look at another edge for each j. */
static void ftree_close_way(struct ftree *r, uint32_t i, uint64_t j)
{
	const struct spdag *g = &r->dag;
	uint32_t n = g->off[i + 1] - g->off[i], best = FAB_NONE;
	uint64_t least = UINT64_MAX;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t c = g->chan[g->off[i] + (uint32_t)((j + k) % n)];
		uint64_t cost = (ftree_way_steps(r, c) << 40) + r->load[c];

		if (cost >= least)
			continue;
		least = cost;
		best = c;
	}
	r->chan[i] = best;
	for (uint32_t c = best, to = 1; r->f->sw_nterm[g->sw[i]] && to; c = r->chan[to]) {
		r->load[c] += (uint64_t)r->f->sw_nterm[g->sw[i]] * chan_weight(&r->weights, c);
		to = g->pos[r->f->chan_dst[c]];
	}
}

/* Looks at the open positions from the nearest to the farthest; returns the work. */
static uint64_t ftree_close_ways(struct ftree *r, uint64_t j)
{
	const struct spdag *g = &r->dag;
	uint64_t work = g->n;

	for (uint32_t i = 1; i < g->n; i++) {
		r->open[i] = r->chan[i] == FAB_NONE;
		if (!r->open[i])
			continue;
		ftree_close_way(r, i, j);
		work += (uint64_t)(g->off[i + 1] - g->off[i]) * g->dist[i];
	}
	return work;
}

static uint32_t ftree_number_of(const struct ftree *r, const struct dest *d)
{
	uint32_t j = d->sw;

	if (d->end < r->f->nend)
		j = r->tree->number[d->end] + d->lid - r->f->term_lid[d->end];
	return j % r->turns->n;
}

/* Entries to a terminal that could be others. */
static void ftree_remember_open(struct ftree *r, const struct dest *d)
{
	bool stands_in = r->own[d->lid] != ftree_number_of(r, d);

	if (!r->free || d->lid != r->f->term_lid[d->end])
		return;
	for (uint32_t i = 1; i < r->dag.n; i++) {
		uint64_t bit = (uint64_t)d->end * r->f->nsw + r->dag.sw[i];

		if ((!r->open[i] && !stands_in) || r->dag.off[i + 1] - r->dag.off[i] < 2)
			continue;
		r->free[bit / 64] |= 1ull << bit % 64;
		r->nfree++;
	}
}

/* The ports chosen for the k-th LID of the batch. */
static void ftree_keep_ports(struct ftree *r, uint32_t k)
{
	uint8_t *port = r->port + (size_t)k * r->f->nsw;

	for (uint32_t i = 1; i < r->dag.n; i++)
		port[i] = r->f->chan_port[r->chan[i]];
}

static void ftree_write_rows(struct ftree *r, const struct dest *d, uint32_t n)
{
	for (uint32_t i = 1; i < r->dag.n; i++) {
		uint8_t *row = tables_row(r->t, r->dag.sw[i]);

		for (uint32_t k = 0; k < n; k++)
			row[d[k].lid] = r->port[(size_t)k * r->f->nsw + i];
	}
	for (uint32_t k = 0; k < n; k++)
		tables_row(r->t, r->dag.root)[d[k].lid] = d[k].port;
}

/* Which LIDs of a run are at hand. */
enum pass {
	PASS_CLEAR, /* those with all ways as wanted; the others only add their loads */
	PASS_OPEN,  /* the others */
	PASS_REST,  /* all, and they add no loads */
};

/* Routes the LIDs of the run, all of one switch, that are at hand; open: by LID, set in
 * PASS_CLEAR.  Returns the work. */
static uint64_t ftree_route_run(struct ftree *r, const struct dest *d, uint32_t n, enum pass pass,
				bool *open)
{
	struct dest batch[BATCH];
	uint64_t work = r->dag.root == d->sw ? 0 : 2 * r->f->nchan;
	uint32_t nbatch = 0;

	ftree_build(r, d->sw);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t j = r->own[d[k].lid];

		if (pass == PASS_OPEN && !open[d[k].lid])
			continue;
		open[d[k].lid] = ftree_choose(r, j, pass != PASS_REST);
		work += r->dag.n;
		if (pass == PASS_CLEAR && !r->tree->whole)
			ftree_add_loads(r);
		if (pass == PASS_CLEAR && open[d[k].lid])
			continue;
		if (pass == PASS_OPEN)
			work += ftree_close_ways(r, j);
		if (pass == PASS_OPEN)
			ftree_remember_open(r, &d[k]);
		ftree_keep_ports(r, nbatch);
		batch[nbatch++] = d[k];
	}
	ftree_write_rows(r, batch, nbatch);
	return work;
}

/* Whether the cables up that number j takes from u on are all there; adds one to the uses of each,
 * and tells the most and the sum of them. */
static bool ftree_try_climb(const struct ftree *r, uint32_t *use, uint32_t u, uint32_t j,
			    uint32_t one, uint32_t *most, uint32_t *sum)
{
	*most = *sum = 0;
	while (!ftree_is_top(r, u)) {
		uint32_t c = ftree_up_chan(r, u, j);

		if (c == FAB_NONE)
			return false;
		*most = use[c] > *most ? use[c] : *most;
		*sum += use[c];
		use[c] += one;
		u = r->f->chan_dst[c];
	}
	return true;
}

/* The number next to j whose cables up are all there and have the fewest destinations. */
static uint32_t ftree_stand_in(const struct ftree *r, uint32_t *use, uint32_t u, uint32_t j)
{
	uint32_t n = r->turns->n, best = j, most, sum;
	uint64_t least = UINT64_MAX, far = 1;

	for (uint32_t l = 0; l < r->topology->tree->nlevel && far < n; l++)
		far *= r->turns->level[l].usual;
	far = far < n ? far : n;
	for (uint32_t k = 2; k < 2 * far && least; k++) {
		uint32_t other = k % 2 ? (j + k / 2) % n : (j + n - k / 2) % n;

		if (!ftree_try_climb(r, use, u, other, 0, &most, &sum) ||
		    ((uint64_t)most << 32 | sum) >= least)
			continue;
		least = (uint64_t)most << 32 | sum;
		best = other;
	}
	return best;
}

/* Numbers of the LIDs of terminals; those whose own cables up are missing stand in with another,
 * so that from wherever they are sent to they share the whole way of one destination at most. */
static void ftree_find_own(struct ftree *r, const struct dest *d, uint32_t n, uint32_t offset)
{
	uint32_t *use = xcalloc(r->f->nchan, sizeof(*use)), most, sum;

	for (int broken = 0; broken < 2; broken++)
		for (uint32_t i = 0; i < n; i++) {
			uint32_t j = ftree_number_of(r, &d[i]);
			bool whole;

			if (d[i].lid != r->f->term_lid[d[i].end] + offset)
				continue;
			whole = ftree_try_climb(r, use, d[i].sw, j, 0, &most, &sum);
			if (whole == broken)
				continue;
			if (broken)
				j = ftree_stand_in(r, use, d[i].sw, j);
			ftree_try_climb(r, use, d[i].sw, j, 1, &most, &sum);
			r->own[d[i].lid] = j;
		}
	free(use);
}

static bool ftree_any_open(const bool *open, const struct dest *d, uint32_t n)
{
	while (n && !open[d[n - 1].lid])
		n--;
	return n;
}

static int ftree_route_pass(struct ftree *r, const struct dest *d, uint32_t n, enum pass pass,
			    bool *open, struct pace *p, uint64_t *done)
{
	for (uint32_t i = 0, k; i < n; i += k) {
		uint64_t work = 1;

		for (k = 1; k < BATCH && i + k < n && d[i + k].sw == d[i].sw; k++)
			;
		if (pass != PASS_OPEN || ftree_any_open(open, d + i, k))
			work = ftree_route_run(r, d + i, k, pass, open);
		*done += pass == PASS_OPEN ? 0 : k;
		if (pace_tick(p, *done, work))
			return -ECANCELED;
	}
	return 0;
}

static void ftree_build_dag(void *ctx, struct spdag *g, const struct fabric *f, uint32_t root)
{
	const struct ftree *r = ctx;

	updown_dag(&r->ud, g, f, root);
}

static bool ftree_is_free(void *ctx, uint32_t sw, uint32_t term)
{
	const struct ftree *r = ctx;
	uint64_t bit = (uint64_t)term * r->f->nsw + sw;

	return r->free[bit / 64] >> bit % 64 & 1;
}

/* Moves entries that are not what the turns alone would have them to where the flows of shifts meet
 * least, as long as that helps. */
static int ftree_search(struct ftree *r, struct pace *p)
{
	struct shift_search_how how = { .build = ftree_build_dag,
					.ctx = r,
					.weights = &r->weights,
					.is_free = ftree_is_free,
					.rounds = SEARCH_ROUNDS };

	return r->nfree ? shift_search(NULL, r->t, r->f, &how, p) : 0;
}

static int ftree_route_all(struct ftree *r, uint8_t lmc, struct progress *progress)
{
	uint32_t n, nterm = 0;
	struct dest *d = graph_dests_by_switch(&n, r->f, lmc);
	bool *open = xcalloc(r->f->max_lid + 1u, sizeof(*open));
	struct pace p;
	uint64_t done = 0;
	int rc = pace_begin(&p, progress, "paths", n) ? -ECANCELED : 0;

	while (nterm < n && d[nterm].end < r->f->nterm)
		nterm++;
	for (uint32_t i = 0; i < n; i++)
		r->own[d[i].lid] = ftree_number_of(r, &d[i]);
	for (uint32_t offset = 0; offset < 1u << lmc && !r->tree->whole; offset++)
		ftree_find_own(r, d, nterm, offset);
	if (!rc)
		rc = ftree_route_pass(r, d, nterm, PASS_CLEAR, open, &p, &done);
	if (!rc)
		rc = ftree_route_pass(r, d, nterm, PASS_OPEN, open, &p, &done);
	if (!rc)
		rc = ftree_search(r, &p);
	if (!rc)
		rc = ftree_route_pass(r, d + nterm, n - nterm, PASS_REST, open, &p, &done);
	free(open);
	free(d);
	return rc;
}

static void ftree_init(struct ftree *r, const struct fabric *f, struct tables *t, bool ignore_rates)
{
	r->f = f;
	r->t = t;
	r->level = r->topology->tree->level;
	r->arena = arena_new();
	r->tree = fattree_new(f, r->topology->tree);
	r->turns = fattree_turns_new(f, r->tree);
	spdag_init(&r->dag, f);
	updown_init(&r->ud, f, &r->tree->root, 1);
	chan_weights_init(&r->weights, f, ignore_rates);
	r->load = arena_array(r->arena, uint64_t, f->nchan);
	r->way = arena_array(r->arena, uint8_t, f->nsw);
	r->up = arena_array(r->arena, bool, f->nsw);
	r->open = arena_array(r->arena, bool, f->nsw);
	r->chan = arena_array(r->arena, uint32_t, f->nsw);
	r->port = arena_array(r->arena, uint8_t, (size_t)f->nsw * BATCH);
	r->routes = arena_array(r->arena, uint64_t, f->nsw);
	r->child = arena_array(r->arena, uint32_t, r->topology->tree->nlevel);
	r->turn = arena_array(r->arena, uint32_t, r->tree->npattern);
	r->own = arena_array(r->arena, uint32_t, f->max_lid + 1u);
	if (!r->tree->whole && shift_search_fits(f))
		r->free = arena_array(r->arena, uint64_t, (size_t)f->nterm * f->nsw / 64 + 1);
}

static void ftree_done(struct ftree *r)
{
	spdag_done(&r->dag);
	updown_done(&r->ud);
	fattree_turns_free(r->turns);
	fattree_free(r->tree);
	chan_weights_done(&r->weights);
	topology_kind_free(r->topology);
	arena_free(r->arena);
}

/* Load per cable out of a switch, on average: no routing has a lower maximum. */
static double ftree_leaf_bound(const struct ftree *r)
{
	const struct fabric *f = r->f;
	double most = 0;

	for (uint32_t u = 0; u < f->nsw; u++) {
		double n = f->sw_nterm[u], cables = 0, each;

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
			cables += 1.0 / chan_weight(&r->weights, c);
		each = cables > 0 ? n * (f->nterm - n) / cables : 0;
		most = each > most ? each : most;
	}
	return most;
}

/* Adds the routes to one base LID to the loads, along tables whose paths follow the DAG. */
static void ftree_add_routes(struct ftree *r, const struct tables *t, uint32_t lid)
{
	const struct spdag *g = &r->dag;

	for (uint32_t i = 0; i < g->n; i++)
		r->routes[i] = r->f->sw_nterm[g->sw[i]];
	for (uint32_t i = g->n; i-- > 1;) {
		uint32_t c = fabric_chan(r->f, g->sw[i], tables_row(t, g->sw[i])[lid]);

		r->load[c] += r->routes[i] * chan_weight(&r->weights, c);
		r->routes[g->pos[r->f->chan_dst[c]]] += r->routes[i];
	}
}

/* The largest load of a channel by routes between base LIDs. */
static int ftree_largest_load(uint64_t *max, struct ftree *r, const struct tables *t,
			      struct progress *progress)
{
	const struct fabric *f = r->f;
	struct pace p;

	*max = 0;
	memset(r->load, 0, f->nchan * sizeof(*r->load));
	if (pace_begin(&p, progress, "paths", f->nsw))
		return -ECANCELED;
	for (uint32_t u = 0; u < f->nsw; u++) {
		if (f->sw_nterm[u])
			ftree_build(r, u);
		for (uint32_t k = f->term_off[u]; k < f->term_off[u + 1]; k++)
			if (f->term_list[k] < f->nterm)
				ftree_add_routes(r, t, f->term_lid[f->term_list[k]]);
		if (pace_tick(&p, u + 1, 2 * f->nchan + 4ull * f->sw_nterm[u] * f->nsw))
			return -ECANCELED;
	}
	for (uint32_t c = 0; c < f->nchan; c++)
		*max = r->load[c] > *max ? r->load[c] : *max;
	return 0;
}

/* Shifts meet less in trees that are far from regular, also by the rates of their cables, when
 * these are balanced without turns:
 * replaces r->t by such tables then. */
static int ftree_try_even(struct ftree *r, const struct engine_params *params,
			  struct progress *progress, struct err *err)
{
	struct balanced_sssp_how how = { .rule = BALANCE_PATHS,
					 .build = ftree_build_dag,
					 .ctx = r,
					 .rounds = BALANCED_SSSP_ROUNDS };
	struct tables *other;
	double turns = 0, even = 0;
	uint64_t largest;
	int rc = ftree_largest_load(&largest, r, r->t, progress);

	if (rc || (double)largest <= 1.1 * ftree_leaf_bound(r))
		return rc;
	other = graph_tables(r->f, "ftree", params, progress);
	rc = balanced_sssp_route(other, r->f, params, &how, progress);
	if (!rc)
		rc = shift_time_score(&turns, r->f, r->t, progress, err);
	if (!rc)
		rc = shift_time_score(&even, r->f, other, progress, err);
	if (!rc && even > turns) {
		struct tables *swap = r->t;

		r->t = other;
		other = swap;
	}
	tables_put(other);
	return rc;
}

/* Moves any entries of base LIDs, not only those that the turns left open, where that is better. */
static int ftree_try_moved(struct ftree *r, struct progress *progress, struct err *err)
{
	struct shift_search_how how = { .build = ftree_build_dag,
					.ctx = r,
					.weights = &r->weights,
					.others = SHIFT_SEARCH_OTHERS,
					.rounds = SHIFT_SEARCH_ROUNDS };
	size_t size = (size_t)r->t->nsw * r->t->stride;
	struct tables *other;
	struct pace p;
	uint64_t moved;
	bool better = false;
	int rc = pace_begin(&p, progress, "paths", 1) ? -ECANCELED : 0;

	if (rc || !shift_search_fits(r->f))
		return rc;
	other = tables_new(r->f, r->t->engine);
	memcpy(other->lft, r->t->lft, size);
	rc = shift_search(&moved, other, r->f, &how, &p);
	if (!rc && moved)
		rc = shift_choice_better(&better, r->f, r->t, other, SHIFT_CHOICE_LITTLE_LESS,
					 progress, err);
	if (!rc && better)
		memcpy(r->t->lft, other->lft, size);
	tables_put(other);
	return rc;
}

/* Cables that are slower than the fastest at both of their ends; false: there are none. */
static bool ftree_find_slow(const struct ftree *r, bool *slow)
{
	const struct fabric *f = r->f;
	uint32_t *least = xcalloc(f->nsw, sizeof(*least));
	bool any = false;

	memset(least, 0xff, f->nsw * sizeof(*least));
	for (uint32_t c = 0; c < f->nchan; c++)
		if (chan_weight(&r->weights, c) < least[f->chan_src[c]])
			least[f->chan_src[c]] = chan_weight(&r->weights, c);
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t own = chan_weight(&r->weights, c);

		slow[c] = own > least[f->chan_src[c]] && own > least[f->chan_dst[c]];
		any |= slow[c];
	}
	free(least);
	return any;
}

static int ftree_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		       const struct demand *demand, const struct engine_params *params,
		       struct progress *progress, struct err *err);

/* As if the slow cables were missing, where shifts meet less then: replaces r->t. */
static int ftree_try_without_slow(struct ftree *r, const struct engine_params *params,
				  struct progress *progress, struct err *err)
{
	bool *slow = xcalloc(r->f->nchan, sizeof(*slow)), any = ftree_find_slow(r, slow);
	struct fabric *left = any ? fabric_without(r->f, slow) : NULL;
	struct engine_params own = *params;
	struct tables *other = NULL;
	double before = 0, after = 0;
	int rc = 0;

	own.notes = NULL;
	if (left && fabric_connected(left))
		rc = ftree_route(&other, left, NULL, NULL, &own, progress, NULL);
	if (rc != -ECANCELED)
		rc = 0; /* no tree any more */
	if (!rc && other)
		rc = shift_time_score(&before, r->f, r->t, progress, err);
	if (!rc && other)
		rc = shift_time_score(&after, r->f, other, progress, err);
	if (!rc && after > before) {
		struct tables *swap = r->t;

		r->t = other;
		other = swap;
	}
	tables_put(other);
	fabric_put(left);
	free(slow);
	return rc;
}

static int ftree_suits(const struct fabric *f, struct err *why)
{
	struct topology_kind *topology;
	int rc = topology_kind_find(&topology, f, TOPOLOGY_TREE, NULL, why);

	if (!rc)
		topology_kind_free(topology);
	return rc;
}

static int ftree_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		       const struct demand *demand, const struct engine_params *params,
		       struct progress *progress, struct err *err)
{
	struct ftree r = { 0 };
	int rc = topology_kind_find(&r.topology, f, TOPOLOGY_TREE, progress, err);
	const struct tree *tree;

	(void)jobs;
	(void)demand;
	if (rc)
		return rc;
	tree = r.topology->tree;
	ftree_init(&r, f, graph_tables(f, "ftree", params, progress), params->ignore_rates);
	rc = ftree_route_all(&r, graph_lmc(f, params), progress);
	if (!rc && (!r.tree->whole || r.weights.of))
		rc = ftree_try_even(&r, params, progress, err);
	if (!rc && r.weights.of)
		rc = ftree_try_without_slow(&r, params, progress, err);
	if (!rc && (!r.tree->whole || r.weights.of))
		rc = ftree_try_moved(&r, progress, err);
	notes_set(params->notes, "levels", tree->nlevel, "a fat tree of %u levels", tree->nlevel);
	if (tree->missing)
		notes_set(params->notes, "ways_missing", tree->missing,
			  "%u links from a switch down to a subtree are missing", tree->missing);
	ftree_done(&r);
	if (rc) {
		tables_put(r.t);
		return rc;
	}
	r.t->vls = r.t->sls = 1;
	*out = r.t;
	return 0;
}

const struct engine engine_ftree = {
	.name = "ftree",
	.summary = "fat trees: spreads destinations over the uplinks; shifts without contention",
	.suits = ftree_suits,
	.route = ftree_route,
};
