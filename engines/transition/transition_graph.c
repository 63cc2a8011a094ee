/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/transition/transition_graph.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#include <stdlib.h>
#include <string.h>

#define SLICE 16384 /* vertices or dependencies between two looks at the clock of others */
#define LOOKS 8	    /* work of one of them, each a miss of the cache or two */

struct tedge {
	uint32_t from, to, count, points;
	uint32_t next_turn; /* another one of the same turn */
	bool tried, closes; /* of tgraph_closes() */
	bool kept;	    /* inside a component that was there from the beginning */
};

/* An edge as a vertex sees it: the representative at the other end. */
struct arc {
	uint32_t to, edge;
};

/* The arcs of a vertex, the oldest first; their capacity is the next power of two. */
struct arcs {
	uint32_t at, n;
};

struct vertex {
	uint32_t ord;  /* its place in the order */
	uint32_t mark; /* of a search: stamp */
};

struct tgraph {
	struct arena *mem; /* owns the arrays */
	uint32_t n;
	struct pace *pace;
	VEC(struct tedge) edge;
	VEC(struct arc) arc;   /* of all vertices */
	uint32_t unused[32];   /* first free block of each power of two in arc, linked by to */
	uint32_t *turn;	       /* first edge of each turn */
	uint64_t *closing;     /* by turn, a bit: has it an edge that closes a cycle? */
	struct arcs *out, *in; /* of each vertex */
	uint32_t *rep;	       /* vertex that stands for the component; NULL: each for itself */
	struct vertex *v;
	uint32_t *at;  /* vertex at a place of the order */
	uint32_t *via; /* of a search: the edge that led there */
	uint32_t *list, *places;
	uint32_t stamp;
	uint32_t last; /* edge that closes the cycle found last */
	uint64_t work, shown;
};

/* Called with i from 0 on: now and then, whether to stop. */
static bool tgraph_stop_at(struct tgraph *g, uint64_t i)
{
	return i % SLICE == SLICE - 1 && pace_work(g->pace, LOOKS * SLICE) &&
	       pace_cancelled(g->pace);
}

/* One dependency may take a search through all of the graph. */
static inline void tgraph_show(struct tgraph *g)
{
	if (g->work - g->shown < SLICE)
		return;
	pace_work(g->pace, LOOKS * SLICE);
	g->shown = g->work;
}

/* In slices: the first look at many pages takes long. */
static uint32_t *tgraph_all_none(struct tgraph *g, uint32_t n)
{
	uint32_t *v = xcalloc(n, sizeof(*v));

	for (uint32_t i = 0; i < n; i += SLICE) {
		memset(v + i, 0xff, (n - i < SLICE ? n - i : SLICE) * sizeof(*v));
		pace_work(g->pace, SLICE);
	}
	return v;
}

struct tgraph *tgraph_new(const struct fabric *f, const struct turns *turns, uint32_t nvl,
			  struct pace *pace)
{
	struct arena *mem = arena_new();
	struct tgraph *g = arena_alloc(mem, 1, sizeof(*g));

	g->mem = mem;
	g->n = f->nchan * nvl;
	g->pace = pace;
	g->turn = tgraph_all_none(g, turns->n);
	g->closing = arena_alloc(mem, turns->n / 64 + 1, sizeof(*g->closing));
	g->out = arena_alloc(mem, g->n, sizeof(*g->out));
	g->in = arena_alloc(mem, g->n, sizeof(*g->in));
	memset(g->unused, 0xff, sizeof(g->unused));
	g->v = arena_alloc(mem, g->n, sizeof(*g->v));
	g->at = arena_alloc(mem, g->n, sizeof(*g->at));
	g->via = arena_alloc(mem, g->n, sizeof(*g->via));
	g->list = arena_alloc(mem, g->n, sizeof(*g->list));
	g->places = arena_alloc(mem, g->n, sizeof(*g->places));
	vec_reserve(&g->arc, 1); /* what has none is asked for its place, too */
	for (uint32_t v = 0; v < g->n; v++) {
		g->v[v].ord = g->at[v] = v;
		tgraph_stop_at(g, v);
	}
	return g;
}
/* In slices: giving many pages back takes long. */
static void tgraph_free_edges(struct tgraph *g)
{
	while (g->edge.n > 8 * SLICE) {
		g->edge.n -= 8 * SLICE;
		g->edge.v = xrealloc(g->edge.v, g->edge.n, sizeof(*g->edge.v));
		pace_work(g->pace, 8 * SLICE);
	}
	while (g->arc.n > 32 * SLICE) {
		g->arc.n -= 32 * SLICE;
		g->arc.v = xrealloc(g->arc.v, g->arc.n, sizeof(*g->arc.v));
		pace_work(g->pace, 8 * SLICE);
	}
	vec_free(&g->edge);
	vec_free(&g->arc);
}

void tgraph_free(struct tgraph *g)
{
	if (!g)
		return;
	tgraph_free_edges(g);
	free(g->turn);
	free(g->rep);
	arena_free(g->mem);
}

uint64_t tgraph_work(const struct tgraph *g)
{
	return g->work;
}

static uint32_t tgraph_rep_of(const struct tgraph *g, uint32_t v)
{
	return g->rep ? g->rep[v] : v;
}

static uint32_t tgraph_find(const struct tgraph *g, const struct tdep *d)
{
	uint32_t e = g->turn[d->turn];

	while (e != FAB_NONE && (g->edge.v[e].from != d->from || g->edge.v[e].to != d->to))
		e = g->edge.v[e].next_turn;
	return e;
}

/* v with capacity for want things of that size, n of which are there; in slices: moving much takes
 * long.
 */
static void *tgraph_with_room(struct tgraph *g, void *v, size_t n, size_t *cap, size_t want,
			      size_t size)
{
	char *more;

	if (*cap >= want)
		return v;
	*cap = 2 * *cap > want ? 2 * *cap : want;
	more = xrealloc(NULL, *cap, size);
	for (size_t at = 0; at < n; at += SLICE) {
		size_t some = n - at < SLICE ? n - at : SLICE;

		memcpy(more + at * size, (char *)v + at * size, some * size);
		pace_work(g->pace, some);
	}
	free(v);
	return more;
}

/* Room for that many arcs, a power of two. */
static uint32_t tgraph_find_room(struct tgraph *g, uint32_t want)
{
	uint32_t *unused = &g->unused[__builtin_ctz(want)], at = *unused;

	if (at != FAB_NONE) {
		*unused = g->arc.v[at].to;
		return at;
	}
	at = (uint32_t)g->arc.n;
	g->arc.v = tgraph_with_room(g, g->arc.v, g->arc.n, &g->arc.cap, g->arc.n + want,
				    sizeof(*g->arc.v));
	g->arc.n += want;
	return at;
}

static void tgraph_push_arc(struct tgraph *g, struct arcs *list, uint32_t to, uint32_t e)
{
	uint32_t n = list->n, old = list->at;

	if (!(n & (n - 1))) {
		list->at = tgraph_find_room(g, n ? 2 * n : 1);
		if (n) {
			uint32_t *unused = &g->unused[__builtin_ctz(n)];

			memcpy(&g->arc.v[list->at], &g->arc.v[old], n * sizeof(struct arc));
			g->arc.v[old].to = *unused;
			*unused = old;
		}
	}
	g->arc.v[list->at + list->n++] = (struct arc){ to, e };
}

static void tgraph_link_edge(struct tgraph *g, uint32_t e)
{
	const struct tedge *x = &g->edge.v[e];
	uint32_t a = tgraph_rep_of(g, x->from), b = tgraph_rep_of(g, x->to);

	tgraph_push_arc(g, &g->out[a], b, e);
	tgraph_push_arc(g, &g->in[b], a, e);
}

static uint32_t tgraph_make(struct tgraph *g, const struct tdep *d)
{
	uint32_t e = (uint32_t)g->edge.n;

	g->edge.v = tgraph_with_room(g, g->edge.v, g->edge.n, &g->edge.cap, g->edge.n + 1,
				     sizeof(*g->edge.v));
	g->edge.v[g->edge.n++] =
		(struct tedge){ .from = d->from, .to = d->to, .next_turn = g->turn[d->turn] };
	g->turn[d->turn] = e;
	tgraph_link_edge(g, e);
	return e;
}

void tgraph_put(struct tgraph *g, const struct tdep *d)
{
	uint32_t e = tgraph_find(g, d);

	g->work++;
	e = e != FAB_NONE ? e : tgraph_make(g, d);
	g->edge.v[e].count++;
}

/* Before the first of n is looked for: where those some places on are is asked for ahead of time,
 * each is a miss of the cache or two. */
static inline __attribute__((always_inline)) void look_ahead(const struct tgraph *g,
							     const struct tdep *d, uint32_t n)
{
	uint32_t e;

	if (n > 16)
		__builtin_prefetch(&g->turn[d[16].turn]);
	e = n > 8 ? g->turn[d[8].turn] : FAB_NONE;
	if (e != FAB_NONE)
		__builtin_prefetch(&g->edge.v[e]);
}

void tgraph_put_all(struct tgraph *g, const struct tdep *d, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		look_ahead(g, d + i, n - i);
		tgraph_put(g, &d[i]);
	}
}

void tgraph_remove(struct tgraph *g, const struct tdep *d)
{
	g->work++;
	g->edge.v[tgraph_find(g, d)].count--;
}

void tgraph_remove_all(struct tgraph *g, const struct tdep *d, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		look_ahead(g, d + i, n - i);
		tgraph_remove(g, &d[i]);
	}
}

/* Does it order two vertices at present? */
static bool tgraph_counts(const struct tgraph *g, const struct tedge *x)
{
	return x->count && tgraph_rep_of(g, x->from) != tgraph_rep_of(g, x->to);
}

/* Is it in a component now, and was not when that was contracted? */
static bool tgraph_adds_inside(const struct tgraph *g, const struct tedge *x)
{
	return g->rep && x->count && !x->kept && g->rep[x->from] == g->rep[x->to];
}

bool tgraph_sort(struct tgraph *g)
{
	uint32_t *degree = g->places, *order = g->list, n = 0;
	uint64_t looks = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		degree[v] = 0;
		tgraph_stop_at(g, v);
	}
	for (size_t e = 0; e < g->edge.n; e++) {
		degree[tgraph_rep_of(g, g->edge.v[e].to)] += tgraph_counts(g, &g->edge.v[e]);
		if (tgraph_adds_inside(g, &g->edge.v[e]) || tgraph_stop_at(g, e))
			return false;
	}
	for (uint32_t v = 0; v < g->n; v++) {
		if (!degree[v])
			order[n++] = v;
		tgraph_stop_at(g, v);
	}
	for (uint32_t i = 0; i < n; i++) {
		size_t first = g->out[order[i]].at;

		for (size_t k = g->out[order[i]].n; k-- > 0;) {
			const struct arc *x = &g->arc.v[first + k];

			if (tgraph_counts(g, &g->edge.v[x->edge]) && !--degree[x->to])
				order[n++] = x->to;
			if (tgraph_stop_at(g, looks++))
				return false;
		}
		if (tgraph_stop_at(g, looks++))
			return false;
	}
	g->work += g->edge.n;
	if (n < g->n)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		g->v[order[i]].ord = i;
		g->at[i] = order[i];
		tgraph_stop_at(g, i);
	}
	return true;
}

/* ---- components (Tarjan, without recursion) ---- */

struct scc {
	uint32_t *low, *index, *next, *stack, *path;
	uint32_t nstack, npath, count;
	uint64_t looks;
};

static void tgraph_scc_enter(struct scc *s, const struct tgraph *g, uint32_t v)
{
	s->index[v] = s->low[v] = ++s->count;
	s->next[v] = g->out[v].n;
	s->stack[s->nstack++] = v;
	s->path[s->npath++] = v;
}

static void tgraph_scc_leave(struct scc *s, struct tgraph *g, uint32_t v)
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
static bool tgraph_scc_from(struct scc *s, struct tgraph *g, uint32_t root)
{
	tgraph_scc_enter(s, g, root);
	while (s->npath) {
		uint32_t v = s->path[s->npath - 1], to;
		const struct arc *x;

		if (tgraph_stop_at(g, s->looks++))
			return false;
		if (!s->next[v]) {
			tgraph_scc_leave(s, g, v);
			continue;
		}
		x = &g->arc.v[g->out[v].at + --s->next[v]];
		to = x->to;
		if (!g->edge.v[x->edge].count)
			continue;
		if (!s->index[to])
			tgraph_scc_enter(s, g, to);
		else if (s->low[to] != UINT32_MAX && s->index[to] < s->low[v])
			s->low[v] = s->index[to];
	}
	return true;
}

/* Links of the components instead of those of the vertices. */
static void tgraph_link_components(struct tgraph *g)
{
	g->arc.n = 0;
	memset(g->unused, 0xff, sizeof(g->unused));
	for (uint32_t v = 0; v < g->n; v++) {
		g->out[v].n = g->in[v].n = 0;
		tgraph_stop_at(g, v);
	}
	for (uint32_t e = 0; e < g->edge.n; e++) {
		struct tedge *x = &g->edge.v[e];

		x->kept = x->count && g->rep[x->from] == g->rep[x->to];
		tgraph_link_edge(g, e);
		tgraph_stop_at(g, e);
	}
}

/* Sets rep; NULL: cancelled. */
static void tgraph_find_components(struct tgraph *g)
{
	struct arena *mem = arena_new();
	struct scc s = { .low = arena_alloc(mem, g->n, sizeof(uint32_t)),
			 .index = arena_alloc(mem, g->n, sizeof(uint32_t)),
			 .next = arena_alloc(mem, g->n, sizeof(uint32_t)),
			 .stack = arena_alloc(mem, g->n, sizeof(uint32_t)),
			 .path = arena_alloc(mem, g->n, sizeof(uint32_t)) };
	bool stop = false;

	g->rep = xcalloc(g->n, sizeof(*g->rep));
	for (uint32_t v = 0; v < g->n && !stop; v++)
		stop = !s.index[v] && !tgraph_scc_from(&s, g, v);
	if (stop) {
		free(g->rep);
		g->rep = NULL;
	}
	arena_free(mem);
}

void tgraph_contract(struct tgraph *g)
{
	tgraph_find_components(g);
	if (g->rep)
		tgraph_link_components(g);
}

void tgraph_keep(struct tgraph *g)
{
	for (size_t e = 0; e < g->edge.n; e++)
		g->edge.v[e].kept = g->edge.v[e].count;
}

bool tgraph_cycles_kept(struct tgraph *g, uint32_t *from)
{
	bool yes = true;

	tgraph_find_components(g);
	for (size_t e = 0; g->rep && e < g->edge.n && yes; e++) {
		const struct tedge *x = &g->edge.v[e];

		*from = x->from;
		yes = !x->count || x->kept || g->rep[x->from] != g->rep[x->to];
	}
	free(g->rep);
	g->rep = NULL;
	return yes;
}

/* ---- one more ---- */

static void tgraph_meet(struct tgraph *g, uint32_t v, uint32_t e, uint32_t *n)
{
	g->v[v].mark = g->stamp;
	g->via[v] = e;
	g->list[(*n)++] = v;
}

/* Where the arcs are of those that are looked at soon: each is a miss of the cache or two. */
static inline __attribute__((always_inline)) void
fetch_arcs(const struct tgraph *g, const struct arcs *arcs, const uint32_t *list, uint32_t n)
{
	if (n > 4)
		__builtin_prefetch(&arcs[list[4]]);
	if (n > 2)
		__builtin_prefetch(&g->arc.v[arcs[list[2]].at + arcs[list[2]].n - 1]);
}

/* The same of vertices that arcs from first to x lead to. */
static inline __attribute__((always_inline)) void
fetch_vertex(const struct tgraph *g, const struct arc *first, const struct arc *x)
{
	if (x - first > 6)
		__builtin_prefetch(&g->v[x[-6].to]);
}

/* What is ahead of from up to the place high; true when that is reached, which is a cycle. */
static bool tgraph_search_ahead(struct tgraph *g, uint32_t from, uint32_t high, uint32_t *n)
{
	tgraph_meet(g, from, FAB_NONE, n);
	for (uint32_t i = 0; i < *n; i++) {
		const struct arc *first = &g->arc.v[g->out[g->list[i]].at];

		tgraph_show(g);
		fetch_arcs(g, g->out, g->list + i, *n - i);
		for (const struct arc *x = first + g->out[g->list[i]].n; x-- > first;) {
			uint32_t ord = g->v[x->to].ord;

			fetch_vertex(g, first, x);
			g->work++;
			if (ord > high || g->v[x->to].mark == g->stamp ||
			    !tgraph_counts(g, &g->edge.v[x->edge]))
				continue;
			if (ord == high) {
				g->last = x->edge;
				return true;
			}
			tgraph_meet(g, x->to, x->edge, n);
		}
	}
	return false;
}

static void tgraph_search_behind(struct tgraph *g, uint32_t from, uint32_t low, uint32_t *n)
{
	uint32_t first_met = *n;

	tgraph_meet(g, from, FAB_NONE, n);
	for (uint32_t i = first_met; i < *n; i++) {
		const struct arc *first = &g->arc.v[g->in[g->list[i]].at];

		tgraph_show(g);
		for (const struct arc *x = first + g->in [g->list[i]].n; x-- > first;) {
			g->work++;
			if (g->v[x->to].ord >= low && g->v[x->to].mark != g->stamp &&
			    tgraph_counts(g, &g->edge.v[x->edge]))
				tgraph_meet(g, x->to, x->edge, n);
		}
	}
}

static int tgraph_by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

#define DIGIT 11		 /* bits */
#define FEW   (1u << DIGIT >> 2) /* for which counting digits does not pay */

/* n places below end, ascending; tmp holds as many. */
static void tgraph_sort_places(uint32_t *v, uint32_t *tmp, uint32_t n, uint32_t end)
{
	uint32_t *from = v, *to = tmp;

	if (n < FEW) {
		qsort(v, n, sizeof(*v), tgraph_by_value);
		return;
	}
	for (uint32_t shift = 0; shift < 32 && end >> shift; shift += DIGIT) {
		uint32_t first[(1 << DIGIT) + 1] = { 0 }, *other = from;

		for (uint32_t i = 0; i < n; i++)
			first[(from[i] >> shift & ((1 << DIGIT) - 1)) + 1]++;
		for (uint32_t d = 0; d < 1 << DIGIT; d++)
			first[d + 1] += first[d];
		for (uint32_t i = 0; i < n; i++)
			to[first[from[i] >> shift & ((1 << DIGIT) - 1)]++] = from[i];
		from = to;
		to = other;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
}

/* The places of list[0..ahead) and list[ahead..n) go to the second lot first. */
static void tgraph_reorder(struct tgraph *g, uint32_t ahead, uint32_t n)
{
	uint32_t *places = g->places, k = 0, j = ahead;

	for (uint32_t i = 0; i < n; i++)
		places[i] = g->v[g->list[i]].ord;
	tgraph_sort_places(places, g->via, ahead, g->n); /* via is for cycles: there is none */
	tgraph_sort_places(places + ahead, g->via, n - ahead, g->n);
	for (uint32_t i = ahead; i < n; i++)
		g->list[k++] = g->at[places[i]];
	for (uint32_t i = 0; i < ahead; i++)
		g->list[k++] = g->at[places[i]];
	k = 0;
	for (uint32_t i = 0; i < n; i++) {
		bool first = j == n || (k < ahead && places[k] < places[j]);
		uint32_t place = first ? places[k++] : places[j++];

		g->v[g->list[i]].ord = place;
		g->at[place] = g->list[i];
	}
	g->work += 4 * (uint64_t)n; /* sorting is slower than looking */
}

static bool tgraph_make_room(struct tgraph *g, uint32_t a, uint32_t b)
{
	uint32_t ahead = 0, n;

	g->stamp++;
	if (tgraph_search_ahead(g, b, g->v[a].ord, &ahead))
		return false;
	n = ahead;
	tgraph_search_behind(g, a, g->v[b].ord, &n);
	tgraph_reorder(g, ahead, n);
	return true;
}

bool tgraph_add(struct tgraph *g, const struct tdep *d)
{
	uint32_t e = tgraph_find(g, d), a = tgraph_rep_of(g, d->from), b = tgraph_rep_of(g, d->to);

	g->work++;
	g->last = FAB_NONE;
	if (e != FAB_NONE && g->edge.v[e].count) {
		g->edge.v[e].count++;
		return true;
	}
	if (a == b && (e == FAB_NONE || !g->edge.v[e].kept))
		return false;
	if (a != b && g->v[a].ord > g->v[b].ord && !tgraph_make_room(g, a, b))
		return false;
	e = e != FAB_NONE ? e : tgraph_make(g, d);
	g->edge.v[e].count++;
	return true;
}

uint32_t tgraph_add_some(struct tgraph *g, const struct tdep *d, uint32_t n, uint32_t most)
{
	uint32_t i = 0;

	for (; i < n && i < most; i++) {
		look_ahead(g, d + i, n - i);
		if (!tgraph_add(g, &d[i]))
			break;
	}
	return i;
}

static bool tgraph_is_there(const struct tgraph *g, const struct tdep *d)
{
	uint32_t e = tgraph_find(g, d);

	return e != FAB_NONE && (g->edge.v[e].count || g->edge.v[e].kept);
}

bool tgraph_agrees(const struct tgraph *g, const struct tdep *d)
{
	return g->v[tgraph_rep_of(g, d->from)].ord < g->v[tgraph_rep_of(g, d->to)].ord ||
	       tgraph_is_there(g, d);
}

/* One step of a search from one end towards the other, between the places low and high: true
 * when it meets what the other has marked. */
static bool tgraph_step(struct tgraph *g, uint32_t *list, uint32_t i, uint32_t *n, bool ahead,
			uint32_t low, uint32_t high)
{
	uint32_t mine = g->stamp - ahead, other = g->stamp - !ahead;
	struct arcs all = ahead ? g->out[list[i]] : g->in[list[i]];
	const struct arc *first = &g->arc.v[all.at];

	for (const struct arc *x = first + all.n; x-- > first;) {
		uint32_t v = x->to;

		g->work++;
		if (g->v[v].ord < low || g->v[v].ord > high || g->v[v].mark == mine ||
		    !tgraph_counts(g, &g->edge.v[x->edge]))
			continue;
		if (g->v[v].mark == other)
			return true;
		g->v[v].mark = mine;
		list[(*n)++] = v;
	}
	return false;
}

/* From both ends, the smaller one first, until they meet or one has seen all. */
static bool tgraph_meet_between(struct tgraph *g, uint32_t a, uint32_t b, uint64_t looks)
{
	uint32_t i = 0, k = 0, ni = 1, nk = 1, low = g->v[b].ord, high = g->v[a].ord;
	uint64_t limit = g->work + looks;

	g->stamp += 2;
	g->list[0] = b;
	g->v[b].mark = g->stamp - 1;
	g->places[0] = a;
	g->v[a].mark = g->stamp;
	while (i < ni && k < nk && g->work < limit)
		if (ni - i <= nk - k ? tgraph_step(g, g->list, i++, &ni, true, low, high)
				     : tgraph_step(g, g->places, k++, &nk, false, low, high))
			return true;
	return false;
}

bool tgraph_closes(struct tgraph *g, const struct tdep *d, uint64_t looks)
{
	uint32_t a = tgraph_rep_of(g, d->from), b = tgraph_rep_of(g, d->to), e;
	bool closes;

	if (tgraph_agrees(g, d))
		return false;
	closes = a == b || tgraph_meet_between(g, a, b, looks);
	e = tgraph_find(g, d);
	e = e != FAB_NONE ? e : tgraph_make(g, d);
	g->edge.v[e].tried = true;
	g->edge.v[e].closes = closes;
	if (closes)
		g->closing[d->turn / 64] |= 1ull << d->turn % 64;
	return closes;
}

bool tgraph_closed(const struct tgraph *g, const struct tdep *d)
{
	uint32_t e;

	if (!(g->closing[d->turn / 64] >> d->turn % 64 & 1))
		return false;
	e = tgraph_find(g, d);
	return e != FAB_NONE && g->edge.v[e].closes;
}

uint32_t tgraph_closed_any(const struct tgraph *g, const struct tdep *d, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && !tgraph_closed(g, &d[i]))
		i++;
	return i;
}

bool tgraph_tried(const struct tgraph *g, const struct tdep *d)
{
	uint32_t e = tgraph_find(g, d);

	return e != FAB_NONE && g->edge.v[e].tried;
}

void tgraph_blame(struct tgraph *g)
{
	for (uint32_t e = g->last; e != FAB_NONE; e = g->via[tgraph_rep_of(g, g->edge.v[e].from)])
		g->edge.v[e].points++;
}

uint32_t tgraph_blamed(const struct tgraph *g, const struct tdep *d)
{
	uint32_t e = tgraph_find(g, d);

	return e == FAB_NONE ? 0 : g->edge.v[e].points;
}

void tgraph_forgive(struct tgraph *g)
{
	for (size_t e = 0; e < g->edge.n; e++) {
		g->edge.v[e].points = 0;
		tgraph_stop_at(g, e);
	}
}
