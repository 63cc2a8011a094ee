/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/transition_graph.h"

#include "fabric/base/mem.h"
#include "fabric/base/vec.h"

#include <stdlib.h>
#include <string.h>

#define SLICE 16384 /* vertices or dependencies between two looks at the clock of others */
#define LOOKS 8	    /* work of one of them, each a miss of the cache or two */

struct tedge {
	uint32_t from, to, count, points;
	uint32_t next_turn; /* another one of the same turn */
	uint32_t next_out, next_in;
	bool tried, closes; /* of tgraph_closes() */
	bool kept;	    /* inside a component that was there from the beginning */
};

struct tgraph {
	uint32_t n;
	struct pace *pace;
	VEC(struct tedge) edge;
	uint32_t *turn;	      /* first edge of each turn */
	uint32_t *out, *in;   /* first edge of each vertex */
	uint32_t *rep;	      /* vertex that stands for the component; NULL: each for itself */
	uint32_t *ord, *at;   /* place in the order, and back */
	uint32_t *mark, *via; /* of a search: stamp, and the edge that led there */
	uint32_t *list, *places;
	uint32_t stamp;
	uint32_t last; /* edge that closes the cycle found last */
	uint64_t work;
};

/* Called with i from 0 on: now and then, whether to stop. */
static bool stop_at(struct tgraph *g, uint64_t i)
{
	return i % SLICE == SLICE - 1 && pace_work(g->pace, LOOKS * SLICE) &&
	       pace_cancelled(g->pace);
}

/* In slices: the first look at many pages takes long. */
static void set_none(struct tgraph *g, uint32_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i += SLICE) {
		memset(v + i, 0xff, (n - i < SLICE ? n - i : SLICE) * sizeof(*v));
		pace_work(g->pace, SLICE);
	}
}

static uint32_t *all_none(struct tgraph *g, uint32_t n)
{
	uint32_t *v = xcalloc(n, sizeof(*v));

	set_none(g, v, n);
	return v;
}

struct tgraph *tgraph_new(const struct fabric *f, const struct turns *turns, uint32_t nvl,
			  struct pace *pace)
{
	struct tgraph *g = xcalloc(1, sizeof(*g));

	g->n = f->nchan * nvl;
	g->pace = pace;
	g->turn = all_none(g, turns->n);
	g->out = all_none(g, g->n);
	g->in = all_none(g, g->n);
	g->ord = xcalloc(g->n, sizeof(*g->ord));
	g->at = xcalloc(g->n, sizeof(*g->at));
	g->mark = xcalloc(g->n, sizeof(*g->mark));
	g->via = xcalloc(g->n, sizeof(*g->via));
	g->list = xcalloc(g->n, sizeof(*g->list));
	g->places = xcalloc(g->n, sizeof(*g->places));
	for (uint32_t v = 0; v < g->n; v++) {
		g->ord[v] = g->at[v] = v;
		stop_at(g, v);
	}
	return g;
}

/* In slices: giving many pages back takes long. */
static void free_edges(struct tgraph *g)
{
	while (g->edge.n > 8 * SLICE) {
		g->edge.n -= 8 * SLICE;
		g->edge.v = xrealloc(g->edge.v, g->edge.n, sizeof(*g->edge.v));
		pace_work(g->pace, 8 * SLICE);
	}
	vec_free(&g->edge);
}

void tgraph_free(struct tgraph *g)
{
	if (!g)
		return;
	free_edges(g);
	free(g->turn);
	free(g->out);
	free(g->in);
	free(g->rep);
	free(g->ord);
	free(g->at);
	free(g->mark);
	free(g->via);
	free(g->list);
	free(g->places);
	free(g);
}

uint64_t tgraph_work(const struct tgraph *g)
{
	return g->work;
}

static uint32_t rep_of(const struct tgraph *g, uint32_t v)
{
	return g->rep ? g->rep[v] : v;
}

static uint32_t find(const struct tgraph *g, const struct tdep *d)
{
	uint32_t e = g->turn[d->turn];

	while (e != FAB_NONE && (g->edge.v[e].from != d->from || g->edge.v[e].to != d->to))
		e = g->edge.v[e].next_turn;
	return e;
}

static void link_edge(struct tgraph *g, uint32_t e)
{
	struct tedge *x = &g->edge.v[e];
	uint32_t a = rep_of(g, x->from), b = rep_of(g, x->to);

	x->next_out = g->out[a];
	g->out[a] = e;
	x->next_in = g->in[b];
	g->in[b] = e;
}

static uint32_t make(struct tgraph *g, const struct tdep *d)
{
	uint32_t e = (uint32_t)g->edge.n;

	vec_push(&g->edge,
		 (struct tedge){ .from = d->from, .to = d->to, .next_turn = g->turn[d->turn] });
	g->turn[d->turn] = e;
	link_edge(g, e);
	return e;
}

void tgraph_put(struct tgraph *g, const struct tdep *d)
{
	uint32_t e = find(g, d);

	g->work++;
	e = e != FAB_NONE ? e : make(g, d);
	g->edge.v[e].count++;
}

/* Where the next ones are is asked for ahead of time: each is a miss of the cache or two. */
void tgraph_put_all(struct tgraph *g, const struct tdep *d, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t e;

		if (i + 16 < n)
			__builtin_prefetch(&g->turn[d[i + 16].turn]);
		e = i + 8 < n ? g->turn[d[i + 8].turn] : FAB_NONE;
		if (e != FAB_NONE)
			__builtin_prefetch(&g->edge.v[e]);
		tgraph_put(g, &d[i]);
	}
}

void tgraph_remove(struct tgraph *g, const struct tdep *d)
{
	g->work++;
	g->edge.v[find(g, d)].count--;
}

/* Does it order two vertices at present? */
static bool counts(const struct tgraph *g, const struct tedge *x)
{
	return x->count && rep_of(g, x->from) != rep_of(g, x->to);
}

bool tgraph_sort(struct tgraph *g)
{
	uint32_t *degree = g->places, *order = g->list, n = 0;
	uint64_t looks = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		degree[v] = 0;
		stop_at(g, v);
	}
	for (size_t e = 0; e < g->edge.n; e++) {
		degree[rep_of(g, g->edge.v[e].to)] += counts(g, &g->edge.v[e]);
		if (stop_at(g, e))
			return false;
	}
	for (uint32_t v = 0; v < g->n; v++) {
		if (!degree[v])
			order[n++] = v;
		stop_at(g, v);
	}
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t e = g->out[order[i]]; e != FAB_NONE; e = g->edge.v[e].next_out) {
			uint32_t to = rep_of(g, g->edge.v[e].to);

			if (counts(g, &g->edge.v[e]) && !--degree[to])
				order[n++] = to;
			if (stop_at(g, looks++))
				return false;
		}
		if (stop_at(g, looks++))
			return false;
	}
	g->work += g->edge.n;
	if (n < g->n)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		g->ord[order[i]] = i;
		g->at[i] = order[i];
		stop_at(g, i);
	}
	return true;
}

/* ---- components (Tarjan, without recursion) ---- */

struct scc {
	uint32_t *low, *index, *next, *stack, *path;
	uint32_t nstack, npath, count;
	uint64_t looks;
};

static void scc_enter(struct scc *s, const struct tgraph *g, uint32_t v)
{
	s->index[v] = s->low[v] = ++s->count;
	s->next[v] = g->out[v];
	s->stack[s->nstack++] = v;
	s->path[s->npath++] = v;
}

static void scc_leave(struct scc *s, struct tgraph *g, uint32_t v)
{
	uint32_t w, up;

	s->npath--;
	if (s->npath) {
		up = s->path[s->npath - 1];
		s->low[up] = s->low[v] < s->low[up] ? s->low[v] : s->low[up];
	}
	if (s->low[v] != s->index[v])
		return;
	do {
		w = s->stack[--s->nstack];
		g->rep[w] = v;
		s->low[w] = UINT32_MAX; /* done: never lowers anybody */
	} while (w != v);
}

/* False when cancelled. */
static bool scc_from(struct scc *s, struct tgraph *g, uint32_t root)
{
	scc_enter(s, g, root);
	while (s->npath) {
		uint32_t v = s->path[s->npath - 1], e = s->next[v], to;

		if (stop_at(g, s->looks++))
			return false;
		if (e == FAB_NONE) {
			scc_leave(s, g, v);
			continue;
		}
		s->next[v] = g->edge.v[e].next_out;
		to = g->edge.v[e].to;
		if (!g->edge.v[e].count)
			continue;
		if (!s->index[to])
			scc_enter(s, g, to);
		else if (s->low[to] != UINT32_MAX && s->index[to] < s->low[v])
			s->low[v] = s->index[to];
	}
	return true;
}

/* Links of the components instead of those of the vertices. */
static void link_components(struct tgraph *g)
{
	set_none(g, g->out, g->n);
	set_none(g, g->in, g->n);
	for (uint32_t e = 0; e < g->edge.n; e++) {
		struct tedge *x = &g->edge.v[e];

		x->kept = x->count && g->rep[x->from] == g->rep[x->to];
		link_edge(g, e);
		stop_at(g, e);
	}
}

void tgraph_contract(struct tgraph *g)
{
	struct scc s = { .low = xcalloc(g->n, sizeof(uint32_t)),
			 .index = xcalloc(g->n, sizeof(uint32_t)),
			 .next = xcalloc(g->n, sizeof(uint32_t)),
			 .stack = xcalloc(g->n, sizeof(uint32_t)),
			 .path = xcalloc(g->n, sizeof(uint32_t)) };

	bool stop = false;

	g->rep = xcalloc(g->n, sizeof(*g->rep));
	for (uint32_t v = 0; v < g->n && !stop; v++)
		stop = !s.index[v] && !scc_from(&s, g, v);
	if (stop) {
		free(g->rep);
		g->rep = NULL;
	} else {
		link_components(g);
	}
	free(s.low);
	free(s.index);
	free(s.next);
	free(s.stack);
	free(s.path);
}

/* ---- one more ---- */

static void meet(struct tgraph *g, uint32_t v, uint32_t e, uint32_t *n)
{
	g->mark[v] = g->stamp;
	g->via[v] = e;
	g->list[(*n)++] = v;
}

/* What is ahead of from up to the place high; true when that is reached, which is a cycle. */
static bool search_ahead(struct tgraph *g, uint32_t from, uint32_t high, uint32_t *n)
{
	meet(g, from, FAB_NONE, n);
	for (uint32_t i = 0; i < *n; i++) {
		for (uint32_t e = g->out[g->list[i]]; e != FAB_NONE; e = g->edge.v[e].next_out) {
			uint32_t to = rep_of(g, g->edge.v[e].to);

			g->work++;
			if (!counts(g, &g->edge.v[e]) || g->ord[to] > high)
				continue;
			if (g->ord[to] == high) {
				g->last = e;
				return true;
			}
			if (g->mark[to] != g->stamp)
				meet(g, to, e, n);
		}
	}
	return false;
}

static void search_behind(struct tgraph *g, uint32_t from, uint32_t low, uint32_t *n)
{
	uint32_t first = *n;

	meet(g, from, FAB_NONE, n);
	for (uint32_t i = first; i < *n; i++) {
		for (uint32_t e = g->in [g->list[i]]; e != FAB_NONE; e = g->edge.v[e].next_in) {
			uint32_t v = rep_of(g, g->edge.v[e].from);

			g->work++;
			if (counts(g, &g->edge.v[e]) && g->ord[v] >= low && g->mark[v] != g->stamp)
				meet(g, v, e, n);
		}
	}
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The places of list[0..ahead) and list[ahead..n) go to the second lot first. */
static void reorder(struct tgraph *g, uint32_t ahead, uint32_t n)
{
	uint32_t *places = g->places, k = 0;

	for (uint32_t i = 0; i < n; i++)
		places[i] = g->ord[g->list[i]];
	qsort(places, ahead, sizeof(*places), by_value);
	qsort(places + ahead, n - ahead, sizeof(*places), by_value);
	for (uint32_t i = ahead; i < n; i++)
		g->list[k++] = g->at[places[i]];
	for (uint32_t i = 0; i < ahead; i++)
		g->list[k++] = g->at[places[i]];
	qsort(places, n, sizeof(*places), by_value);
	for (uint32_t i = 0; i < n; i++) {
		g->ord[g->list[i]] = places[i];
		g->at[places[i]] = g->list[i];
	}
	g->work += 4 * (uint64_t)n; /* sorting is slower than looking */
}

static bool make_room(struct tgraph *g, uint32_t a, uint32_t b)
{
	uint32_t ahead = 0, n;

	g->stamp++;
	if (search_ahead(g, b, g->ord[a], &ahead))
		return false;
	n = ahead;
	search_behind(g, a, g->ord[b], &n);
	reorder(g, ahead, n);
	return true;
}

bool tgraph_add(struct tgraph *g, const struct tdep *d)
{
	uint32_t e = find(g, d), a = rep_of(g, d->from), b = rep_of(g, d->to);

	g->work++;
	g->last = FAB_NONE;
	if (e != FAB_NONE && g->edge.v[e].count) {
		g->edge.v[e].count++;
		return true;
	}
	if (a == b && (e == FAB_NONE || !g->edge.v[e].kept))
		return false;
	if (a != b && g->ord[a] > g->ord[b] && !make_room(g, a, b))
		return false;
	e = e != FAB_NONE ? e : make(g, d);
	g->edge.v[e].count++;
	return true;
}

static bool is_there(const struct tgraph *g, const struct tdep *d)
{
	uint32_t e = find(g, d);

	return e != FAB_NONE && (g->edge.v[e].count || g->edge.v[e].kept);
}

bool tgraph_agrees(const struct tgraph *g, const struct tdep *d)
{
	return g->ord[rep_of(g, d->from)] < g->ord[rep_of(g, d->to)] || is_there(g, d);
}

/* One step of a search from one end towards the other, between the places low and high: true
 * when it meets what the other has marked. */
static bool step(struct tgraph *g, uint32_t *list, uint32_t i, uint32_t *n, bool ahead,
		 uint32_t low, uint32_t high)
{
	uint32_t mine = g->stamp - ahead, other = g->stamp - !ahead;
	uint32_t e = ahead ? g->out[list[i]] : g->in[list[i]];

	while (e != FAB_NONE) {
		const struct tedge *x = &g->edge.v[e];
		uint32_t v = rep_of(g, ahead ? x->to : x->from);

		e = ahead ? x->next_out : x->next_in;
		g->work++;
		if (!counts(g, x) || g->ord[v] < low || g->ord[v] > high || g->mark[v] == mine)
			continue;
		if (g->mark[v] == other)
			return true;
		g->mark[v] = mine;
		list[(*n)++] = v;
	}
	return false;
}

/* From both ends, the smaller one first, until they meet or one has seen all. */
static bool meet_between(struct tgraph *g, uint32_t a, uint32_t b, uint64_t looks)
{
	uint32_t i = 0, k = 0, ni = 1, nk = 1, low = g->ord[b], high = g->ord[a];
	uint64_t tired = g->work + looks;

	g->stamp += 2;
	g->list[0] = b;
	g->mark[b] = g->stamp - 1;
	g->places[0] = a;
	g->mark[a] = g->stamp;
	while (i < ni && k < nk && g->work < tired)
		if (ni - i <= nk - k ? step(g, g->list, i++, &ni, true, low, high)
				     : step(g, g->places, k++, &nk, false, low, high))
			return true;
	return false;
}

bool tgraph_closes(struct tgraph *g, const struct tdep *d, uint64_t looks)
{
	uint32_t a = rep_of(g, d->from), b = rep_of(g, d->to), e;
	bool closes;

	if (tgraph_agrees(g, d))
		return false;
	closes = a == b || meet_between(g, a, b, looks);
	e = find(g, d);
	e = e != FAB_NONE ? e : make(g, d);
	g->edge.v[e].tried = true;
	g->edge.v[e].closes = closes;
	return closes;
}

bool tgraph_closed(const struct tgraph *g, const struct tdep *d)
{
	uint32_t e = find(g, d);

	return e != FAB_NONE && g->edge.v[e].closes;
}

bool tgraph_tried(const struct tgraph *g, const struct tdep *d)
{
	uint32_t e = find(g, d);

	return e != FAB_NONE && g->edge.v[e].tried;
}

void tgraph_blame(struct tgraph *g)
{
	for (uint32_t e = g->last; e != FAB_NONE; e = g->via[rep_of(g, g->edge.v[e].from)])
		g->edge.v[e].points++;
}

uint32_t tgraph_blamed(const struct tgraph *g, const struct tdep *d)
{
	uint32_t e = find(g, d);

	return e == FAB_NONE ? 0 : g->edge.v[e].points;
}

void tgraph_forgive(struct tgraph *g)
{
	for (size_t e = 0; e < g->edge.n; e++) {
		g->edge.v[e].points = 0;
		stop_at(g, e);
	}
}
