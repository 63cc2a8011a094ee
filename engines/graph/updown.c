/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/updown.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void updown_list_ups(struct updown *ud, const struct fabric *f)
{
	uint32_t n = 0;

	ud->up_off = xcalloc(f->nsw + 1, sizeof(uint32_t));
	ud->up_chan = xcalloc(f->nchan, sizeof(uint32_t));
	ud->up_dst = xcalloc(f->nchan, sizeof(uint32_t));
	for (uint32_t u = 0; u < f->nsw; u++) {
		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
			if (updown_is_up(ud, f, c)) {
				ud->up_chan[n] = c;
				ud->up_dst[n++] = f->chan_dst[c];
			}
		ud->up_off[u + 1] = n;
	}
}

void updown_init(struct updown *ud, const struct fabric *f, const uint32_t *roots, uint32_t nroots)
{
	uint32_t *count = xcalloc(f->nsw + 1, sizeof(*count));

	ud->rank = xcalloc(f->nsw, sizeof(uint32_t));
	ud->place = xcalloc(f->nsw, sizeof(uint32_t));
	ud->order = xcalloc(f->nsw, sizeof(uint32_t));
	memcpy(ud->order, roots, nroots * sizeof(*roots));
	fabric_hops(ud->rank, ud->order, f, nroots);
	for (uint32_t u = 0; u < f->nsw; u++)
		count[ud->rank[u] + 1]++;
	for (uint32_t r = 0; r < f->nsw; r++)
		count[r + 1] += count[r];
	for (uint32_t u = 0; u < f->nsw; u++) {
		ud->place[u] = count[ud->rank[u]]++;
		ud->order[ud->place[u]] = u;
	}
	free(count);
	updown_list_ups(ud, f);
}

void updown_init_order(struct updown *ud, const struct fabric *f, const uint32_t *order)
{
	ud->rank = xcalloc(f->nsw, sizeof(uint32_t));
	ud->place = xcalloc(f->nsw, sizeof(uint32_t));
	ud->order = xcalloc(f->nsw, sizeof(uint32_t));
	for (uint32_t i = 0; i < f->nsw; i++)
		ud->place[ud->order[i] = order[i]] = i;
	updown_list_ups(ud, f);
}

void updown_done(struct updown *ud)
{
	free(ud->rank);
	free(ud->place);
	free(ud->order);
	free(ud->up_off);
	free(ud->up_chan);
	free(ud->up_dst);
	*ud = (struct updown){ 0 };
}

static void updown_place_switch(struct spdag *g, uint32_t u, uint32_t dist)
{
	g->pos[u] = g->n;
	g->sw[g->n] = u;
	g->dist[g->n++] = dist;
}

static void updown_found_edge(struct spdag *g, uint32_t from, uint32_t c, uint32_t to)
{
	g->found_from[g->nfound] = from;
	g->found_chan[g->nfound] = c;
	g->found_to[g->nfound++] = to;
}

/* Everything that reaches the root going down only, nearest first. */
static void updown_climb_from_root(const struct updown *ud, struct spdag *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t v = g->sw[i];

		for (uint32_t k = ud->up_off[v]; k < ud->up_off[v + 1]; k++)
			if (g->pos[ud->up_dst[k]] == FAB_NONE)
				updown_place_switch(g, ud->up_dst[k], g->dist[i] + 1);
	}
}

/* What is known of the switches from the top down to one. */
struct descent {
	uint32_t *hops; /* to the root */
	uint32_t *ways; /* channels by which one that goes down can begin */
};

/* Adds one to the ways of those that go down through the switch at position i; true: that leaves
 * one without any. */
static bool updown_offer(const struct updown *ud, const struct spdag *g, const struct fabric *f,
			 struct descent *d, uint32_t i, uint32_t one)
{
	uint32_t u = g->sw[i];
	bool none = false;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
		uint32_t v = f->chan_dst[c], p = g->pos[v];

		if (!updown_is_up(ud, f, c) || p == FAB_NONE || g->dist[p] != g->dist[i] + 1 ||
		    d->hops[v] != g->dist[p])
			continue;
		d->ways[v] += one;
		none |= !d->ways[v];
	}
	return none;
}

/* Hops of u by the best switch above it; FAB_NONE when there is none. */
static uint32_t updown_hops_up(const struct updown *ud, const struct fabric *f,
			       const struct descent *d, uint32_t u)
{
	uint32_t least = FAB_NONE;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
		if (updown_is_up(ud, f, c) && d->hops[f->chan_dst[c]] < least)
			least = d->hops[f->chan_dst[c]];
	return least == FAB_NONE ? FAB_NONE : least + 1;
}

static uint32_t updown_links_down(const struct updown *ud, const struct spdag *g,
				  const struct fabric *f, uint32_t i)
{
	uint32_t u = g->sw[i], n = 0;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
		uint32_t p = g->pos[f->chan_dst[c]];

		n += !updown_is_up(ud, f, c) && p != FAB_NONE && g->dist[p] + 1 == g->dist[i];
	}
	return n;
}

/* Switches that reach the root going down, but sooner going up, go up, unless they are the only
 * way down of another.  From the top on: what is above a switch is decided before it. */
static bool updown_decide(const struct updown *ud, const struct spdag *g, const struct fabric *f,
			  struct descent *d)
{
	bool any = false;

	for (uint32_t k = 0; k < f->nsw; k++) {
		uint32_t u = ud->order[k], i = g->pos[u], up = updown_hops_up(ud, f, d, u);

		d->hops[u] = i == FAB_NONE ? up : g->dist[i];
		if (i == FAB_NONE)
			continue;
		d->ways[u] = updown_links_down(ud, g, f, i);
		if (up >= g->dist[i])
			continue;
		if (updown_offer(ud, g, f, d, i, UINT32_MAX)) {
			updown_offer(ud, g, f, d, i, 1);
			continue;
		}
		d->hops[u] = up;
		any = true;
	}
	return any;
}

/* Takes those that go up out of the DAG again. */
static void updown_leave_out(struct spdag *g, const struct descent *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t u = g->sw[i], dist = g->dist[i];

		g->pos[u] = FAB_NONE;
		if (d->hops[u] != dist)
			continue;
		g->pos[u] = n;
		g->sw[n] = u;
		g->dist[n++] = dist;
	}
	g->n = n;
}

/* Ranks are hops from the nearest root, so no way is shorter than they differ: in trees all are. */
static bool updown_all_shortest(const struct updown *ud, const struct spdag *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->dist[i] > ud->rank[g->root] - ud->rank[g->sw[i]])
			return false;
	return true;
}

static void updown_go_up_where_shorter(const struct updown *ud, struct spdag *g,
				       const struct fabric *f)
{
	struct descent d;

	if (updown_all_shortest(ud, g))
		return;
	d = (struct descent){ .hops = xcalloc(f->nsw, sizeof(*d.hops)),
			      .ways = xcalloc(f->nsw, sizeof(*d.ways)) };

	if (updown_decide(ud, g, f, &d))
		updown_leave_out(g, &d);
	free(d.hops);
	free(d.ways);
}

static void updown_find_links_down(const struct updown *ud, struct spdag *g, const struct fabric *f)
{
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t v = g->sw[i];

		for (uint32_t k = ud->up_off[v]; k < ud->up_off[v + 1]; k++) {
			uint32_t p = g->pos[ud->up_dst[k]];

			if (p != FAB_NONE && g->dist[p] == g->dist[i] + 1)
				updown_found_edge(g, p, f->chan_rev[ud->up_chan[k]], i);
		}
	}
}

/* Ends the edges of a switch, which are there, and gives it the last position. */
static void updown_append_switch(struct spdag *g, uint32_t u, uint32_t dist, uint32_t nedge)
{
	updown_place_switch(g, u, dist);
	g->off[g->n] = g->nedge = nedge;
}

/* Puts u behind its best neighbours above it among those in the DAG.  No branch on which these
 * are: nobody could foretell it. */
static bool updown_attach_below(const struct updown *ud, struct spdag *g, uint32_t u)
{
	const uint32_t *v = ud->up_dst + ud->up_off[u], *chan = ud->up_chan + ud->up_off[u];
	uint32_t n = ud->up_off[u + 1] - ud->up_off[u], least = FAB_NONE, m = g->nedge;

	for (uint32_t k = 0; k < n; k++)
		least = g->hops[v[k]] < least ? g->hops[v[k]] : least;
	if (least == FAB_NONE)
		return false;
	for (uint32_t k = 0; k < n; k++) {
		g->chan[m] = chan[k];
		g->to[m] = g->pos[v[k]];
		m += g->hops[v[k]] == least;
	}
	g->hops[u] = least + 1;
	updown_append_switch(g, u, least + 1, m);
	return true;
}

/* Puts u behind its best neighbours among those in the DAG. */
static bool updown_attach_beside(struct spdag *g, const struct fabric *f, uint32_t u)
{
	uint32_t least = FAB_NONE, m = g->nedge;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
		least = g->hops[f->chan_dst[c]] < least ? g->hops[f->chan_dst[c]] : least;
	if (least == FAB_NONE)
		return false;
	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
		if (g->hops[f->chan_dst[c]] != least)
			continue;
		g->chan[m] = c;
		g->to[m++] = g->pos[f->chan_dst[c]];
	}
	g->hops[u] = least + 1;
	updown_append_switch(g, u, least + 1, m);
	return true;
}

void updown_dag_down(const struct updown *ud, struct spdag *g, const struct fabric *f,
		     uint32_t root)
{
	memset(g->pos, 0xff, f->nsw * sizeof(*g->pos));
	memset(g->hops, 0xff, f->nsw * sizeof(*g->hops));
	g->root = root;
	g->n = g->nfound = 0;
	updown_place_switch(g, root, 0);
	updown_climb_from_root(ud, g);
	updown_go_up_where_shorter(ud, g, f);
	updown_find_links_down(ud, g, f);
	spdag_sort_edges(g);
	for (uint32_t i = 0; i < g->n; i++)
		g->hops[g->sw[i]] = g->dist[i];
}

uint32_t updown_dag(const struct updown *ud, struct spdag *g, const struct fabric *f, uint32_t root)
{
	uint32_t legal;

	updown_dag_down(ud, g, f, root);
	for (uint32_t k = 0; k < f->nsw; k++)
		if (g->pos[ud->order[k]] == FAB_NONE)
			updown_attach_below(ud, g, ud->order[k]);
	legal = g->n;
	for (bool more = legal < f->nsw; more;) {
		more = false;
		for (uint32_t k = 0; k < f->nsw; k++)
			if (g->pos[ud->order[k]] == FAB_NONE)
				more |= updown_attach_beside(g, f, ud->order[k]);
	}
	return f->nsw - legal;
}

static void updown_score_dag(struct updown_score *s, const struct spdag *g, const struct fabric *f,
			     uint32_t legal)
{
	s->choices += g->nedge;
	for (uint32_t i = 0; i < f->nsw; i++) {
		if (!f->sw_nterm[g->sw[i]])
			continue;
		s->hops += g->dist[i];
		if (i < legal || s->missing++)
			continue;
		s->from = g->sw[i];
		s->to = g->root;
	}
}

/* Some switches at a time, which threads take. */
#define SOME 16

struct scoring {
	const struct updown *ud;
	const struct fabric *f;
	struct pace *p;
	struct spdag *dag; /* by worker; without arrays: not there yet */
	struct updown_score *some;
};

static uint32_t updown_some_end(const struct fabric *f, uint32_t i)
{
	return f->nsw - i * SOME < SOME ? f->nsw : (i + 1) * SOME;
}

static bool updown_score_some(void *ctx, unsigned worker, uint32_t i)
{
	const struct scoring *s = ctx;
	const struct fabric *f = s->f;
	struct spdag *g = &s->dag[worker];

	s->some[i] = (struct updown_score){ .from = FAB_NONE, .to = FAB_NONE };
	if (!g->sw)
		spdag_init(g, f);
	for (uint32_t t = i * SOME; t < updown_some_end(f, i); t++) {
		if (!f->sw_nterm[t])
			continue;
		updown_score_dag(&s->some[i], g, f, f->nsw - updown_dag(s->ud, g, f, t));
		if (!worker && pace_tick(s->p, 0, 2 * f->nchan))
			return true;
	}
	return false;
}

/* All turns, by the pool where there is one; true: one has stopped. */
static bool updown_for_some(struct pool *pool, const struct fabric *f,
			    bool (*turn)(void *ctx, unsigned worker, uint32_t i), void *ctx)
{
	uint32_t n = (f->nsw + SOME - 1) / SOME;
	bool stop = pool && pool_for(pool, n, turn, ctx);

	for (uint32_t i = 0; i < n && !pool && !stop; i++)
		stop = turn(ctx, 0, i);
	return stop;
}

static void updown_add_score(struct updown_score *sum, const struct updown_score *s)
{
	if (!sum->missing) {
		sum->from = s->from;
		sum->to = s->to;
	}
	sum->missing += s->missing;
	sum->hops += s->hops;
	sum->choices += s->choices;
}

int updown_score(struct updown_score *out, const struct updown *ud, const struct fabric *f,
		 struct pool *pool, struct pace *p)
{
	unsigned workers = pool ? pool_threads(pool) : 1;
	struct scoring s = { .ud = ud, .f = f, .p = p };
	bool stop;

	*out = (struct updown_score){ .from = FAB_NONE, .to = FAB_NONE };
	s.dag = xcalloc(workers, sizeof(*s.dag));
	s.some = xcalloc(f->nsw / SOME + 1, sizeof(*s.some));
	stop = updown_for_some(pool, f, updown_score_some, &s);
	for (uint32_t i = 0; i * SOME < f->nsw && !stop; i++)
		updown_add_score(out, &s.some[i]);
	for (unsigned w = 0; w < workers; w++)
		spdag_done(&s.dag[w]);
	free(s.dag);
	free(s.some);
	return stop ? -ECANCELED : 0;
}

static uint32_t updown_fullest(const struct fabric *f)
{
	uint32_t max = 0;

	for (uint32_t u = 0; u < f->nsw; u++)
		max = f->sw_nterm[u] > max ? f->sw_nterm[u] : max;
	return max;
}

static bool updown_is_leaf(const struct fabric *f, uint32_t u, uint32_t full)
{
	return 2 * f->sw_nterm[u] >= full;
}

void updown_leaf_hops(uint32_t *hops, const struct fabric *f)
{
	uint32_t *queue = xcalloc(f->nsw, sizeof(*queue)), full = updown_fullest(f), n = 0;

	for (uint32_t u = 0; u < f->nsw; u++)
		if (updown_is_leaf(f, u, full))
			queue[n++] = u;
	fabric_hops(hops, queue, f, n);
	free(queue);
}

uint32_t updown_tree_roots(uint32_t *out, const struct fabric *f)
{
	uint32_t *level = xcalloc(f->nsw, sizeof(*level)), n = 0, top = 0;
	bool tree = true;

	updown_leaf_hops(level, f);
	for (uint32_t u = 0; u < f->nsw; u++)
		top = level[u] > top ? level[u] : top;
	for (uint32_t c = 0; c < f->nchan; c++)
		tree &= level[f->chan_src[c]] != level[f->chan_dst[c]];
	n = 0;
	for (uint32_t u = 0; u < f->nsw && tree; u++)
		if (level[u] == top)
			out[n++] = u;
	free(level);
	return n;
}

/* The switch with the least greatest distance to the others, then the least sum; [1] the same
 * among the leaves. */
struct central {
	uint32_t best[2];
	uint64_t least[2];
};

struct centring {
	const struct fabric *f;
	struct pace *p;
	uint32_t full;
	uint32_t **hops; /* by worker: by switch, then a queue; NULL: not there yet */
	struct central *some;
};

static bool updown_central_some(void *ctx, unsigned worker, uint32_t i)
{
	const struct centring *x = ctx;
	const struct fabric *f = x->f;
	struct central *c = &x->some[i];
	uint32_t *hops, *queue;

	if (!x->hops[worker])
		x->hops[worker] = xcalloc(2 * (size_t)f->nsw, sizeof(**x->hops));
	hops = x->hops[worker];
	queue = hops + f->nsw;
	*c = (struct central){ .least = { UINT64_MAX, UINT64_MAX } };
	for (uint32_t u = i * SOME; u < updown_some_end(f, i); u++) {
		uint64_t far = 0, sum = 0;

		queue[0] = u;
		fabric_hops(hops, queue, f, 1);
		for (uint32_t v = 0; v < f->nsw; v++) {
			far = hops[v] > far ? hops[v] : far;
			sum += hops[v];
		}
		for (int k = 0; k <= updown_is_leaf(f, u, x->full); k++) {
			if ((far << 48 | sum) >= c->least[k])
				continue;
			c->least[k] = far << 48 | sum;
			c->best[k] = u;
		}
		if (!worker && pace_tick(x->p, 0, f->nchan))
			return true;
	}
	return false;
}

static int updown_central(uint32_t best[2], const struct fabric *f, struct pool *pool,
			  struct pace *p)
{
	unsigned workers = pool ? pool_threads(pool) : 1;
	struct centring x = { .f = f, .p = p, .full = updown_fullest(f) };
	uint64_t least[2] = { UINT64_MAX, UINT64_MAX };
	bool stop;

	x.hops = xcalloc(workers, sizeof(*x.hops));
	x.some = xcalloc(f->nsw / SOME + 1, sizeof(*x.some));
	stop = updown_for_some(pool, f, updown_central_some, &x);
	for (uint32_t i = 0; i * SOME < f->nsw && !stop; i++)
		for (int k = 0; k < 2; k++)
			if (x.some[i].least[k] < least[k]) {
				least[k] = x.some[i].least[k];
				best[k] = x.some[i].best[k];
			}
	for (unsigned w = 0; w < workers; w++)
		free(x.hops[w]);
	free(x.hops);
	free(x.some);
	return stop ? -ECANCELED : 0;
}

static int updown_score_root(struct updown_score *out, const struct fabric *f, uint32_t root,
			     struct pool *pool, struct pace *p)
{
	struct updown ud;
	int rc;

	updown_init(&ud, f, &root, 1);
	rc = updown_score(out, &ud, f, pool, p);
	updown_done(&ud);
	return rc;
}

int updown_single_root(uint32_t *root, const struct fabric *f, struct pool *pool, struct pace *p)
{
	struct updown_score any, leaf;
	uint32_t best[2] = { 0, 0 };
	int rc = updown_central(best, f, pool, p);

	*root = best[0];
	if (rc || best[1] == best[0])
		return rc;
	rc = updown_score_root(&any, f, best[0], pool, p);
	if (!rc)
		rc = updown_score_root(&leaf, f, best[1], pool, p);
	if (rc)
		return rc;
	if (leaf.hops < any.hops || (leaf.hops == any.hops && leaf.choices > any.choices))
		*root = best[1];
	return 0;
}
