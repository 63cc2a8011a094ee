/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/balance/balanced_sssp.h"

#include "engines/graph/balance/dagset.h"
#include "engines/graph/graph.h"
#include "engines/graph/shift_search.h"
#include "engines/graph/updown_order.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/pool.h"
#include "fabric/model/tables/route_limits.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DAGS_MAX    (128u << 20) /* bytes; beyond that the LIDs come switch by switch */
#define SHARED_WORK (1u << 24)	 /* terminals times channels from which on threads pay */
#define HOT_PARTS   16		 /* of the LIDs that are looked at */
#define AGAIN_SHARE 20		 /* most loaded: within a 20th of the maximum */
#define AGAIN_WORK  (64u << 20)	 /* edges that these rounds may look at, so that they stay cheap */

struct even {
	const struct fabric *f;
	struct tables *t;
	struct min_load_tree *b;
	struct dagset *set;
	const struct balanced_sssp_how *how;
	struct chan_weights weights;
	struct dest *dests; /* in the order in which they are routed */
	uint32_t n, nterm;  /* LIDs of terminals come first, ... */
	uint32_t npinned;   /* ... then these of theirs, whose routes stay as installed, ... */
	uint32_t nbeside;   /* ... then those that may be routed beside those of terminals */
	bool beside;	    /* and have been */
	const bool *pin;    /* by end; NULL: none */
	uint64_t *pinned;   /* by channel: their routes as installed; NULL: none */
	uint8_t lmc;
	struct pool *pool; /* NULL: one thread, or too small for more */
	struct pace pace;
	uint64_t done;
	uint64_t work; /* left for the rounds */
};

/* A round, so that it can be taken back. */
struct round {
	uint64_t *load; /* as they were */
	struct dest *dest;
	uint8_t *column; /* nsw ports of each of them */
	uint32_t n, room;
};

static bool balanced_sssp_takes_turns(const struct fabric *f)
{
	uint32_t without = 0;

	for (uint32_t u = 0; u < f->nsw; u++)
		without += !f->sw_nterm[u];
	return without <= f->nsw / 8;
}

/* May another order be tried? */
static bool balanced_sssp_is_small(const struct even *e)
{
	return (uint64_t)e->nterm * e->f->nchan <= AGAIN_WORK;
}

/* Those of terminals from the first on: the pinned ones go behind the others. */
static void balanced_sssp_set_apart(struct even *e)
{
	uint32_t all = e->f->nterm << e->lmc;
	struct dest *last = xcalloc(all, sizeof(*last));

	e->nterm = e->npinned = 0;
	for (uint32_t i = 0; i < all; i++)
		if (e->pin && e->pin[e->dests[i].end])
			last[e->npinned++] = e->dests[i];
		else
			e->dests[e->nterm++] = e->dests[i];
	memcpy(e->dests + e->nterm, last, e->npinned * sizeof(*last));
	free(last);
}

/* Switches without hosts: nobody but the management asks for them, so they need not see the loads,
 * and where they do not, damaged trees need fewer VLs.  Not where the order of the LIDs may change.
 */
static void balanced_sssp_find_beside(struct even *e)
{
	struct dest *rest = e->dests + e->nterm + e->npinned, *last;
	uint32_t n = e->n - e->nterm - e->npinned, nlast = 0;

	e->nbeside = 0;
	if (!min_load_tree_in_lanes(e->f) || balanced_sssp_is_small(e) ||
	    (!e->how->build && e->f->nend > e->f->nterm))
		return;
	last = xcalloc(n + 1, sizeof(*last));
	for (uint32_t i = 0; i < n; i++)
		if (rest[i].end >= e->f->nend && !e->f->sw_nterm[rest[i].sw])
			rest[e->nbeside++] = rest[i];
		else
			last[nlast++] = rest[i];
	memcpy(rest + e->nbeside, last, nlast * sizeof(*last));
	free(last);
}

static void balanced_sssp_by_switch(struct even *e)
{
	free(e->dests);
	e->dests = graph_dests_by_switch(&e->n, e->f, e->lmc);
	balanced_sssp_set_apart(e);
	balanced_sssp_find_beside(e);
}

/* The first LID of every switch, then the second of every switch, ... */
static void balanced_sssp_take_turns(struct even *e)
{
	struct dest *out = xcalloc(e->n, sizeof(*out));
	uint32_t *next = xcalloc(e->f->nsw + 1, sizeof(*next)), k = 0;
	uint32_t *begin = xcalloc(e->f->nsw + 1, sizeof(*begin));

	for (uint32_t i = 0; i < e->nterm; i++)
		begin[e->dests[i].sw + 1]++;
	for (uint32_t u = 0; u < e->f->nsw; u++) {
		begin[u + 1] += begin[u];
		next[u] = begin[u];
	}
	while (k < e->nterm)
		for (uint32_t u = 0; u < e->f->nsw; u++)
			if (next[u] < begin[u + 1])
				out[k++] = e->dests[next[u]++];
	memcpy(out + k, e->dests + k, (e->n - k) * sizeof(*out));
	free(e->dests);
	e->dests = out;
	free(begin);
	free(next);
}

static void balanced_sssp_build_one(void *ctx, unsigned worker, struct spdag *g,
				    const struct fabric *f, uint32_t root)
{
	struct even *e = ctx;

	(void)worker;
	if (e->how->build)
		e->how->build(e->how->ctx, g, f, root);
	else
		spdag_shortest(g, f, root);
}

static bool balanced_sssp_stop_building(void *ctx)
{
	struct even *e = ctx;

	return pace_tick(&e->pace, 0, e->f->nchan);
}

/* The callers' build may keep notes of its own, so only ours runs on several threads. */
static void balanced_sssp_make_dags(struct even *e, const struct engine_params *params)
{
	bool shared = params && (!e->how->build || e->how->threads);
	struct pool *pool = pool_new(shared ? params->threads : 1);

	e->set = dagset_new(e->f, pool, DAGS_MAX, balanced_sssp_build_one,
			    balanced_sssp_stop_building, e);
	if (e->set)
		min_load_tree_use(e->b, e->set);
	pool_free(pool);
}

static int balanced_sssp_route_switch_by_switch(struct even *e)
{
	e->beside = e->nbeside;
	return min_load_tree_route_by_switch(e->b, e->dests, e->nterm, e->f->sw_nterm,
					     e->dests + e->nterm + e->npinned, e->nbeside, &e->pace,
					     &e->done);
}

static int balanced_sssp_route_terminals(struct even *e)
{
	if (!e->set)
		return balanced_sssp_route_switch_by_switch(e);
	for (uint32_t i = 0; i < e->nterm;) {
		uint64_t work;
		uint32_t run = min_load_tree_route_some(e->b, e->dests + i, e->nterm - i,
							e->f->sw_nterm, &work);

		i += run;
		e->done += run;
		if (pace_tick(&e->pace, e->done, work))
			return -ECANCELED;
	}
	return 0;
}

static uint64_t balanced_sssp_greatest(const struct even *e)
{
	const uint64_t *load = min_load_tree_loads(e->b);
	uint64_t max = 0;

	for (uint32_t c = 0; c < e->f->nchan; c++)
		max = load[c] > max ? load[c] : max;
	return max;
}

/* What must leave, or arrive at, the switch that is worst off. */
static uint64_t balanced_sssp_least_possible(const struct even *e)
{
	const struct fabric *f = e->f;
	uint64_t bound = 0;

	for (uint32_t u = 0; u < f->nsw; u++) {
		uint64_t inside = f->sw_nterm[u], routes = inside * (f->nterm - inside) << e->lmc;
		uint64_t least;
		double chans = 0;

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
			chans += 1.0 / chan_weight(&e->weights, c);
		least = chans > 0 ? (uint64_t)ceil((double)routes / chans - 1e-6) : 0;
		bound = least > bound ? least : bound;
	}
	return bound;
}

/* What is looked for in the LFTs. */
struct search_hot {
	struct even *e;
	uint64_t least;
	uint8_t *hot;
};

/* Some LIDs in the rows of all switches. */
static bool balanced_sssp_find_hot_part(void *ctx, unsigned worker, uint32_t part)
{
	const struct search_hot *s = ctx;
	const struct fabric *f = s->e->f;
	const uint64_t *load = min_load_tree_loads(s->e->b);
	uint64_t all = f->max_lid + 1u;
	uint32_t from = (uint32_t)(all * part / HOT_PARTS);
	uint32_t to = (uint32_t)(all * (part + 1) / HOT_PARTS);

	for (uint32_t u = 0; u < f->nsw; u++) {
		const uint8_t *row = tables_row(s->e->t, u);
		bool port[FAB_NO_PORT + 1] = { false }, any = false;

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
			any |= port[f->chan_port[c]] = load[c] >= s->least;
		for (uint32_t lid = from; any && lid < to; lid++)
			s->hot[lid] |= port[row[lid]];
		if (!worker &&
		    pace_tick(&s->e->pace, s->e->done, any ? to - from : f->nchan / f->nsw))
			return true;
	}
	return false;
}

/* LIDs by number whose paths use a channel with that load or more. */
static int balanced_sssp_find_hot(struct even *e, uint64_t least, uint8_t *hot)
{
	struct search_hot s = { e, least, hot };
	bool stop = false;

	memset(hot, 0, e->f->max_lid + 1u);
	if (e->pool)
		stop = pool_for(e->pool, HOT_PARTS, balanced_sssp_find_hot_part, &s);
	for (uint32_t i = 0; i < HOT_PARTS && !e->pool && !stop; i++)
		stop = balanced_sssp_find_hot_part(&s, 0, i);
	return stop ? -ECANCELED : 0;
}

/* Room for the columns of a group more. */
static uint8_t *balanced_sssp_room(struct round *r, const struct even *e)
{
	if (r->n + MIN_LOAD_TREE_MOST > r->room) {
		r->room = 2 * r->room + MIN_LOAD_TREE_MOST;
		r->dest = xrealloc(r->dest, r->room, sizeof(*r->dest));
		r->column = xrealloc(r->column, r->room, e->f->nsw);
	}
	return r->column + (size_t)r->n * e->f->nsw;
}

/* By some switches at a time, whose rows stay near. */
static int balanced_sssp_take_back(const struct round *r, struct even *e)
{
	const uint32_t nsw = e->f->nsw, some = 64;

	memcpy(min_load_tree_loads(e->b), r->load, e->f->nchan * sizeof(*r->load));
	for (uint32_t from = 0; from < nsw; from += some) {
		uint32_t to = from + some < nsw ? from + some : nsw;

		for (uint32_t k = 0; k < r->n; k++) {
			const uint8_t *column = r->column + (size_t)k * nsw;
			uint16_t lid = r->dest[k].lid;

			for (uint32_t u = from; u < to; u++)
				tables_row(e->t, u)[lid] = column[u];
		}
		if (pace_tick(&e->pace, e->done, (uint64_t)r->n * some))
			return -ECANCELED;
	}
	return 0;
}

static uint32_t balanced_sssp_list_hot(const struct even *e, const uint8_t *hot, struct dest *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->nterm; i++)
		if (hot[e->dests[i].lid])
			list[n++] = e->dests[i];
	return n;
}

/* Routes the hot LIDs once more. */
static int balanced_sssp_route_hot(struct even *e, const uint8_t *hot, struct round *r)
{
	struct dest *list = xcalloc(e->nterm + 1, sizeof(*list));
	uint32_t n = balanced_sssp_list_hot(e, hot, list);
	int rc = 0;

	for (uint32_t i = 0, run; i < n && e->work && !rc; i += run) {
		uint8_t *was = balanced_sssp_room(r, e);
		uint64_t work;

		run = min_load_tree_route_again(e->b, list + i, n - i, e->f->sw_nterm, was, &work);
		memcpy(r->dest + r->n, list + i, run * sizeof(*list));
		r->n += run;
		e->work -= work < e->work ? work : e->work;
		if (pace_tick(&e->pace, e->done, work))
			rc = -ECANCELED;
	}
	min_load_tree_settle(e->b);
	free(list);
	return rc;
}

/* Sets *max to the greatest load afterwards, unless that is no less: then nothing has changed. */
static int balanced_sssp_one_round(struct even *e, uint64_t *max, uint8_t *hot)
{
	struct round r = { .load = NULL };
	size_t size = e->f->nchan * sizeof(*r.load);
	uint64_t now;
	int rc = balanced_sssp_find_hot(e, *max - *max / AGAIN_SHARE, hot);

	r.load = memcpy(xcalloc(e->f->nchan, sizeof(*r.load)), min_load_tree_loads(e->b), size);
	if (!rc)
		rc = balanced_sssp_route_hot(e, hot, &r);
	now = balanced_sssp_greatest(e);
	if (now < *max)
		*max = now;
	else if (!rc)
		rc = balanced_sssp_take_back(&r, e);
	free(r.load);
	free(r.dest);
	free(r.column);
	return rc;
}

static int balanced_sssp_route_again(struct even *e)
{
	uint8_t *hot = xcalloc(e->f->max_lid + 1u, 1);
	uint64_t max = balanced_sssp_greatest(e), bound = balanced_sssp_least_possible(e),
		 before = max + 1;
	int rc = 0;

	e->work = AGAIN_WORK;
	for (unsigned i = 0; !rc && i < e->how->rounds && max > bound && max < before && e->work;
	     i++) {
		before = max;
		rc = balanced_sssp_one_round(e, &max, hot);
	}
	free(hot);
	return rc;
}

/* Terminals in the order at hand, from the loads of the pinned ones on. */
static int balanced_sssp_route_ordered(struct even *e, uint64_t *max)
{
	int rc;

	e->done = 0;
	if (e->pinned)
		memcpy(min_load_tree_loads(e->b), e->pinned, e->f->nchan * sizeof(uint64_t));
	else
		memset(min_load_tree_loads(e->b), 0, e->f->nchan * sizeof(uint64_t));
	rc = balanced_sssp_route_terminals(e);
	*max = balanced_sssp_greatest(e);
	return rc;
}

/* The order that is usually better is not so on every uneven tree or irregular fabric; on a large
 * one trying the other is not worth the time. */
static int balanced_sssp_try_other_order(struct even *e, const struct engine_params *params,
					 bool turns, uint64_t *max)
{
	size_t size = (size_t)e->t->nsw * e->t->stride;
	size_t loads = e->f->nchan * sizeof(uint64_t);
	uint64_t bound = balanced_sssp_least_possible(e), other, *load;
	uint8_t *lft;
	int rc;

	if (*max <= bound + bound / 50 || !balanced_sssp_is_small(e))
		return 0;
	if (!turns)
		balanced_sssp_make_dags(e, params);
	if (!e->set)
		return 0;
	lft = memcpy(xcalloc(size, 1), e->t->lft, size);
	load = memcpy(xcalloc(loads, 1), min_load_tree_loads(e->b), loads);
	if (turns)
		balanced_sssp_by_switch(e);
	else
		balanced_sssp_take_turns(e);
	rc = balanced_sssp_route_ordered(e, &other);
	if (other < *max) {
		*max = other;
	} else {
		memcpy(e->t->lft, lft, size);
		memcpy(min_load_tree_loads(e->b), load, loads);
	}
	free(lft);
	free(load);
	return rc;
}

/* The loads are counted again, for what is routed later. */
static int balanced_sssp_search_shifts(struct even *e)
{
	struct shift_search_how how = { .build = e->how->build,
					.ctx = e->how->ctx,
					.weights = &e->weights,
					.others = SHIFT_SEARCH_OTHERS,
					.rounds = SHIFT_SEARCH_ROUNDS };
	uint64_t moved = 0;
	int rc = shift_search(&moved, e->t, e->f, &how, &e->pace);

	if (rc || !moved)
		return rc;
	memset(min_load_tree_loads(e->b), 0, e->f->nchan * sizeof(uint64_t));
	for (uint32_t i = 0; i < e->nterm; i++)
		if (pace_work(&e->pace, min_load_tree_put_in(e->b, e->dests + i, e->f->sw_nterm)))
			return -ECANCELED;
	return 0;
}

static int balanced_sssp_route_all_terminals(struct even *e, const struct engine_params *params,
					     uint64_t *max)
{
	bool turns = !e->how->by_switch && balanced_sssp_takes_turns(e->f);
	int rc;

	if (turns)
		balanced_sssp_make_dags(e, params);
	if (e->set)
		balanced_sssp_take_turns(e);
	rc = balanced_sssp_route_ordered(e, max);
	if (!rc && !e->how->by_switch && e->how->rounds &&
	    (!turns || e->how->rule == BALANCE_PORTS))
		rc = balanced_sssp_try_other_order(e, params, turns, max);
	if (!rc)
		rc = balanced_sssp_route_again(e);
	if (!rc && e->how->shifts && !e->pin)
		rc = balanced_sssp_search_shifts(e);
	*max = balanced_sssp_greatest(e);
	return rc;
}

/* The routes to a LID as installed, from every terminal. */
static void balanced_sssp_count_installed(struct even *e, const struct tables *t, uint32_t dst,
					  uint32_t lid)
{
	const struct fabric *f = e->f;

	for (uint32_t first = 0; first < f->nsw; first++) {
		uint32_t u = f->sw_nterm[first] ? first : dst;

		for (uint32_t hops = 0; u != dst && hops < f->nsw; hops++) {
			uint32_t c = fabric_chan(f, u, tables_row(t, u)[lid]);

			if (c == FAB_NONE)
				break;
			e->pinned[c] += (uint64_t)f->sw_nterm[first] * chan_weight(&e->weights, c);
			u = f->chan_dst[c];
		}
	}
}

/* What the other routes have to share the channels with. */
static void balanced_sssp_find_pinned(struct even *e, const struct engine_params *params)
{
	const struct fabric *f = e->f;

	if (!params || !params->limits || !params->limits->pin || !params->current)
		return;
	e->pin = params->limits->pin;
	e->pinned = xcalloc(f->nchan, sizeof(*e->pinned));
	for (uint32_t term = 0; term < f->nterm; term++)
		for (uint32_t k = 0; e->pin[term] && k < 1u << e->lmc; k++)
			balanced_sssp_count_installed(e, params->current, f->term_sw[term],
						      f->term_lid[term] + k);
}

/* Paths that make these tables whole, in loads that have them as they are installed. */
static int balanced_sssp_route_pinned(struct even *e)
{
	const struct dest *d = e->dests + e->nterm;

	for (uint32_t i = 0; i < e->npinned;) {
		uint32_t run = min_load_tree_run(e->b, d + i, e->npinned - i);
		uint64_t work = min_load_tree_route(e->b, d + i, run, NULL);

		i += run;
		e->done += run;
		if (pace_tick(&e->pace, e->done, work))
			return -ECANCELED;
	}
	return 0;
}

static void balanced_sssp_build_legal(void *ctx, struct spdag *g, const struct fabric *f,
				      uint32_t root)
{
	updown_dag(ctx, g, f, root);
}

/* Uncounted ends and switches.  In a tree with aggregation nodes on its spines these paths go up,
 * then down a ranking of all, so that they take no VL of their own. */
static int balanced_sssp_route_rest(struct even *e)
{
	uint32_t from = e->nterm + e->npinned + (e->beside ? e->nbeside : 0), n = e->n - from;
	const struct dest *d = e->dests + from;
	struct min_load_tree *b;
	struct updown ud;
	bool found = false;
	int rc = 0;

	if (!e->how->build && e->f->nend > e->f->nterm)
		rc = updown_order_layered(&ud, &found, e->f, e->pool, &e->pace);
	if (rc || !found)
		return rc ? rc : min_load_tree_route_all(e->b, d, n, &e->pace, &e->done);
	b = min_load_tree_new(e->f, e->t, e->how->rule, balanced_sssp_build_legal, &ud);
	if (e->pool)
		min_load_tree_share(b, e->pool);
	rc = min_load_tree_route_all(b, d, n, &e->pace, &e->done);
	min_load_tree_free(b);
	updown_done(&ud);
	return rc;
}

int balanced_sssp_route(struct tables *t, const struct fabric *f,
			const struct engine_params *params, const struct balanced_sssp_how *how,
			struct progress *progress)
{
	struct even e = { .f = f, .t = t, .how = how, .lmc = graph_lmc(f, params) };
	uint64_t max = 0;
	int rc;

	chan_weights_init(&e.weights, f, params && params->ignore_rates);
	balanced_sssp_find_pinned(&e, params);
	balanced_sssp_by_switch(&e);
	e.b = min_load_tree_new(f, t, how->rule, how->build, how->ctx);
	min_load_tree_tell(e.b, how->hops);
	min_load_tree_weigh(e.b, &e.weights);
	if ((!how->build || how->threads) && (uint64_t)f->nterm * f->nchan > SHARED_WORK)
		e.pool = pool_new(params ? params->threads : 1);
	if (e.pool)
		min_load_tree_share(e.b, e.pool);
	rc = pace_begin(&e.pace, progress, "paths", e.n) ? -ECANCELED : 0;
	if (!rc && f->nterm)
		rc = balanced_sssp_route_all_terminals(&e, params, &max);
	if (!rc)
		rc = balanced_sssp_route_pinned(&e);
	if (!rc)
		rc = balanced_sssp_route_rest(&e);
	if (how->max)
		*how->max = max;
	min_load_tree_free(e.b);
	pool_free(e.pool);
	if (how->dags)
		*how->dags = e.set;
	else
		dagset_free(e.set);
	chan_weights_done(&e.weights);
	free(e.dests);
	free(e.pinned);
	return rc;
}
