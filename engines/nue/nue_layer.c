/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue/nue_layer.h"

#include "engines/nue/nue_escape.h"
#include "engines/nue/nue_tree.h"
#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define PAUSE_WORK (1u << 20)
#define CLASSES	   3
#define SAMPLE	   16
#define LEAVES	   4 /* that an escape tree is tried from */

/* Where one path in so many is longer than need be, nearly all turns that are left close cycles:
 * looking for welcome ones takes a quarter of the time, and finds hardly any. */
#define MANY_DETOURS 12

/* When a search is asked to pause, and whether it was stopped then. */
struct pauses {
	const struct nue_pause *pause;
	uint64_t work;
	uint32_t steps;
	bool stopped;
};

static bool nue_layer_pause_after(struct pauses *p, uint64_t work, uint32_t steps)
{
	p->work += work;
	p->steps += steps;
	if (p->work >= PAUSE_WORK && p->pause && !p->stopped) {
		p->stopped = p->pause->stop(p->pause->ctx, p->steps);
		p->work = p->steps = 0;
	}
	return p->stopped;
}

struct nue_search {
	struct arena *mem; /* owns the arrays */
	const struct nue_net *net;
	struct nue_tree *tree;
	uint32_t *open; /* from chan_off of a switch to its open_end: channels that lead on */
	uint32_t *open_end;
	uint32_t *queue;
	uint32_t *order; /* of the channels to begin with */
	struct nue_channel_order sorted;
	uint32_t *place;      /* of a switch */
	uint32_t *turn;	      /* indices of the layer's destinations as they are searched */
	struct pauses pauses; /* of the search at hand */
	const struct nue_how *how;
	bool *led;	  /* by index in dst: has its tree before the search begins */
	uint64_t counted; /* of the tree's work */
};

struct nue_search *nue_search_new(const struct nue_net *net)
{
	const struct fabric *f = net->f;
	struct arena *mem = arena_new();
	struct nue_search *s = arena_alloc(mem, 1, sizeof(*s));

	s->mem = mem;
	s->net = net;
	s->tree = nue_tree_new(net);
	s->led = arena_alloc(mem, f->nsw, sizeof(*s->led));
	s->open = arena_alloc(mem, f->nchan, sizeof(*s->open));
	s->open_end = arena_alloc(mem, f->nsw, sizeof(*s->open_end));
	s->queue = arena_alloc(mem, f->nsw, sizeof(*s->queue));
	s->order = arena_alloc(mem, f->nchan, sizeof(*s->order));
	nue_channel_order_init(&s->sorted, f, mem);
	s->place = arena_alloc(mem, f->nsw, sizeof(*s->place));
	s->turn = arena_alloc(mem, f->nsw, sizeof(*s->turn));
	return s;
}

void nue_search_free(struct nue_search *s)
{
	if (!s)
		return;
	nue_tree_free(s->tree);
	arena_free(s->mem);
}

static void nue_layer_find_roots(struct nue_layer *l)
{
	const struct fabric *f = l->net->f;
	uint64_t *sum = xcalloc(f->nsw, sizeof(*sum));
	uint32_t *root = l->root;

	for (uint32_t i = 0; i < l->ndst; i++) {
		const uint16_t *dist = l->dist + (size_t)i * f->nsw;

		for (uint32_t u = 0; u < f->nsw && !l->net->idle[l->dst[i]]; u++)
			sum[u] += dist[u];
	}
	for (uint32_t u = 1; u < f->nsw; u++) {
		uint32_t chans = f->chan_off[u + 1] - f->chan_off[u];
		uint32_t fewest = f->chan_off[root[1] + 1] - f->chan_off[root[1]];

		if (sum[u] < sum[root[0]])
			root[0] = u;
		if (chans < fewest || (chans == fewest && sum[u] < sum[root[1]]))
			root[1] = u;
	}
	free(sum);
}

bool nue_layer_init(struct nue_layer *l, const struct nue_pause *pause)
{
	struct pauses p = { .pause = pause };
	uint32_t nsw = l->net->f->nsw;
	bool stop = false;

	l->dist = xcalloc((size_t)l->ndst * nsw, sizeof(*l->dist));
	for (uint32_t i = 0; i < l->ndst && !stop; i += NUE_NET_MANY) {
		uint32_t n = l->ndst - i < NUE_NET_MANY ? l->ndst - i : NUE_NET_MANY;

		nue_net_hops(l->net, l->dst + i, n, l->dist + (size_t)i * nsw);
		stop = nue_layer_pause_after(&p, (uint64_t)n * l->net->f->nchan, 0);
	}
	if (!stop)
		nue_layer_find_roots(l);
	if (l->net->tree)
		l->root[0] = l->root[1] = l->net->at[0];
	return stop;
}

void nue_layer_done(struct nue_layer *l)
{
	free(l->dist);
}

/* To be called after every step; true when the search was stopped. */
static bool nue_layer_after_step(struct nue_layer *l, struct nue_search *s, uint64_t more,
				 uint32_t steps)
{
	uint64_t work = nue_tree_work(s->tree) - s->counted;

	s->counted += work;
	l->work += work + more;
	return nue_layer_pause_after(&s->pauses, work + more, steps);
}

/* Places of all channels as the order is now, sorted at each switch, too. */
static void nue_layer_take_places(struct nue_search *s, uint32_t *place)
{
	nue_tree_places(s->tree, place);
	nue_channel_order_sort(&s->sorted, s->net->f, place);
}

/* How much farther than need be the terminals are from destination i in the tree as it is. */
static uint64_t nue_layer_excess(const struct nue_layer *l, const struct nue_search *s, uint32_t i)
{
	const struct fabric *f = l->net->f;
	const uint16_t *dist = l->dist + (size_t)i * f->nsw;
	const uint32_t *hops = nue_tree_hops(s->tree);
	uint64_t sum = 0;

	for (uint32_t u = 0; u < f->nsw; u++) {
		uint64_t far = hops[u] == FAB_NONE ? f->nsw : hops[u];

		sum += (far - dist[u]) * f->sw_nterm[u];
	}
	return sum * f->sw_nterm[l->dst[i]];
}

static uint32_t nue_layer_common_divisor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

static void nue_layer_rank_by_stride(struct nue_layer *l, struct nue_search *s, bool backward)
{
	uint32_t step = (uint32_t)((uint64_t)l->ndst * 618 / 1000); /* the golden section */

	while (nue_layer_common_divisor(step, l->ndst) != 1)
		step++;
	step = backward ? l->ndst - step : step;
	for (uint32_t i = 0; i < l->ndst; i++)
		s->turn[i] = (uint32_t)((uint64_t)i * step % l->ndst);
}

struct ranked {
	uint64_t excess;
	uint32_t at, i;
};

static int nue_layer_worse_first(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->excess != y->excess)
		return x->excess < y->excess ? 1 : -1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* In classes; those of a class stay in the order they are in. */
static void nue_layer_rank_by_excess(struct nue_layer *l, struct nue_search *s, uint32_t *place)
{
	struct ranked *r = xcalloc(l->ndst, sizeof(*r));
	uint64_t max = 0;

	nue_layer_take_places(s, place);
	for (uint32_t k = 0; k < l->ndst; k++) {
		if (nue_layer_after_step(l, s, 0, 0))
			break;
		nue_tree_climb(s->tree, &s->sorted, l->dst[s->turn[k]]);
		r[k] = (struct ranked){ nue_layer_excess(l, s, s->turn[k]), k, s->turn[k] };
		max = r[k].excess > max ? r[k].excess : max;
	}
	for (uint32_t k = 0; k < l->ndst; k++)
		r[k].excess = r[k].excess * CLASSES / (max + 1);
	qsort(r, l->ndst, sizeof(*r), nue_layer_worse_first);
	for (uint32_t k = 0; k < l->ndst && !s->pauses.stopped; k++)
		s->turn[k] = r[k].i;
	free(r);
}

/* Are paths up, then down from the root much longer than the shortest?  Judged by the first few
 * destinations.  So it is in dragonflies. */
static bool nue_layer_is_far(struct nue_layer *l, struct nue_search *s, uint32_t *place)
{
	const struct fabric *f = l->net->f;
	uint64_t more = 0, least = 0;

	nue_layer_take_places(s, place);
	for (uint32_t k = 0; k < l->ndst && k < SAMPLE; k++) {
		uint32_t i = s->turn[k];
		const uint16_t *dist = l->dist + (size_t)i * f->nsw;

		nue_tree_climb(s->tree, &s->sorted, l->dst[i]);
		more += nue_layer_excess(l, s, i);
		for (uint32_t u = 0; u < f->nsw; u++)
			least += (uint64_t)dist[u] * f->sw_nterm[u] * f->sw_nterm[l->dst[i]];
	}
	return more > least / 5;
}

/* Destinations with that mark come last, the others stay in the order they are in. */
static void nue_layer_marked_last(struct nue_layer *l, struct nue_search *s, const bool *mark,
				  bool marked)
{
	uint32_t n = 0;

	for (int last = 0; last < 2; last++)
		for (uint32_t i = 0; i < l->ndst; i++)
			if ((mark[l->dst[s->turn[i]]] == marked) == last)
				s->queue[n++] = s->turn[i];
	memcpy(s->turn, s->queue, n * sizeof(*s->turn));
}

/* Destinations without ends come last: they matter to nobody but the management. */
static void nue_layer_rank(struct nue_layer *l, struct nue_search *s, enum nue_order order,
			   uint32_t *place)
{
	for (uint32_t i = 0; i < l->ndst; i++)
		s->turn[i] = i;
	if (order != NUE_BY_INDEX)
		nue_layer_rank_by_stride(l, s, false);
	if (order == NUE_WORST_FIRST || (order == NUE_BY_NEED && nue_layer_is_far(l, s, place)))
		nue_layer_rank_by_excess(l, s, place);
	else if (s->how->backward)
		nue_layer_rank_by_stride(l, s, true);
	if (s->how->full_first)
		nue_layer_marked_last(l, s, s->how->full, false);
	nue_layer_marked_last(l, s, l->net->idle, true);
}

static void nue_layer_keep_tree(struct nue_trees *t, const struct nue_layer *l,
				const struct nue_search *s, uint32_t i)
{
	const struct fabric *f = l->net->f;
	const uint32_t *from_next = nue_tree_next(s->tree), *from_hops = nue_tree_hops(s->tree);
	uint8_t *next = t->next + (size_t)i * f->nsw;
	uint16_t *hops = t->hops + (size_t)i * f->nsw;

	for (uint32_t u = 0; u < f->nsw; u++) {
		next[u] = (uint8_t)(from_next[u] - f->chan_off[u]);
		hops[u] = (uint16_t)from_hops[u];
	}
}

/* The layer's first turns: those of the escape tree. */
static void nue_layer_begin_layer(struct nue_layer *l, struct nue_search *s, struct nue_escape *e)
{
	const struct nue_net *net = l->net;
	const struct fabric *f = net->f;
	bool *to = xcalloc(f->nsw, sizeof(*to));

	for (uint32_t i = 0; i < l->ndst; i++)
		to[l->dst[i]] = true;
	nue_escape_init(e, f, l->root[s->how->root], to);
	for (uint32_t i = 0; i < f->nsw; i++)
		s->place[e->at[i]] = i;
	nue_escape_order(s->order, f, net->tree ? net->at : e->at,
			 net->tree ? net->place : s->place);
	nue_tree_layer(s->tree, s->order);
	nue_tree_escape(s->tree, e);
	memset(s->led, 0, l->ndst * sizeof(*s->led));
	free(to);
}

/* Up, then down: the layer's paths to all destinations that these serve best, and to those without
 * ends that they serve.  True when those are all. */
static bool nue_layer_climb_all(struct nue_layer *l, struct nue_search *s, struct nue_trees *t)
{
	const struct fabric *f = l->net->f;
	bool all = true;

	nue_escape_order(s->order, f, l->net->at, l->net->place);
	for (uint32_t c = 0; c < f->nchan; c++)
		t->place[s->order[c]] = c;
	nue_channel_order_sort(&s->sorted, f, t->place);
	for (uint32_t i = 0; i < l->ndst && !s->pauses.stopped; i++) {
		s->led[i] = nue_tree_climb(s->tree, &s->sorted, l->dst[i]) &&
			    (l->net->idle[l->dst[i]] || !nue_layer_excess(l, s, i));
		all &= s->led[i];
		if (s->led[i])
			nue_layer_keep_tree(t, l, s, i);
		nue_layer_after_step(l, s, f->nsw, 0);
	}
	return all;
}

/* Lists, for each switch, the channels that are as near as the tree's and can follow with it. */
static void nue_layer_find_open(const struct nue_layer *l, struct nue_search *s,
				const struct nue_trees *t, uint32_t i)
{
	const struct fabric *f = l->net->f;
	const uint16_t *hops = t->hops + (size_t)i * f->nsw;

	for (uint32_t u = 0; u < f->nsw; u++) {
		uint32_t n = f->chan_off[u];

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			uint32_t v = f->chan_dst[c];

			if (hops[v] + 1 == hops[u] &&
			    (!hops[v] ||
			     nue_tree_easy_turn(s->tree, c, nue_trees_next(t, f, i, v))))
				s->open[n++] = c;
		}
		s->open_end[u] = n;
	}
}

/* Turns that would let switches choose between channels that are equally near: first onto the
 * tree, then from the tree onto those channels. */
static void nue_layer_widen(const struct nue_layer *l, struct nue_search *s,
			    const struct nue_trees *t, uint32_t i)
{
	const struct fabric *f = l->net->f;
	const uint16_t *hops = t->hops + (size_t)i * f->nsw;

	nue_layer_find_open(l, s, t, i);
	for (uint32_t w = 0; w < f->nsw; w++) {
		uint32_t c, u;

		if (hops[w] < 2)
			continue;
		c = nue_trees_next(t, f, i, w);
		u = f->chan_dst[c];
		for (uint32_t k = f->chan_off[u]; k < s->open_end[u]; k++)
			nue_tree_easy_turn(s->tree, c, s->open[k]);
	}
}

/* The same between those channels themselves, where cables run in parallel.  Returns the turns
 * looked at. */
static uint64_t nue_layer_widen_parallel(const struct nue_layer *l, struct nue_search *s,
					 const struct nue_trees *t, uint32_t i)
{
	const struct fabric *f = l->net->f;
	const uint16_t *hops = t->hops + (size_t)i * f->nsw;
	uint64_t looked = 0;

	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t u = f->chan_src[c], v = f->chan_dst[c];

		if (hops[v] + 1 != hops[u] || !hops[v])
			continue;
		for (uint32_t d = f->chan_off[v]; d < f->chan_off[v + 1]; d++)
			if (hops[f->chan_dst[d]] + 1 == hops[v])
				nue_tree_easy_turn(s->tree, c, d);
		looked += f->chan_off[v + 1] - f->chan_off[v];
	}
	return looked;
}

/* Takes the tree that climbs unless the one at hand is nearer for more. */
static void nue_layer_improve(struct nue_layer *l, struct nue_search *s, struct nue_trees *t,
			      uint32_t i)
{
	const struct fabric *f = l->net->f;
	const uint16_t *hops = t->hops + (size_t)i * f->nsw;
	const uint32_t *climbed = nue_tree_hops(s->tree);
	uint64_t was = 0, is = 0;

	if (!nue_tree_climb(s->tree, &s->sorted, l->dst[i]))
		return;
	for (uint32_t u = 0; u < f->nsw; u++) {
		uint64_t weight = f->sw_nterm[u] * (uint64_t)f->nsw + 1;

		was += weight * hops[u];
		is += weight * climbed[u];
	}
	if (is <= was)
		nue_layer_keep_tree(t, l, s, i);
}

/* Switches with ends that are farther from destination i than need be. */
static uint32_t nue_layer_count_detours(const struct nue_layer *l, const struct nue_trees *t,
					uint32_t i)
{
	const struct fabric *f = l->net->f;
	const uint16_t *hops = t->hops + (size_t)i * f->nsw, *dist = l->dist + (size_t)i * f->nsw;
	uint32_t n = 0;

	for (uint32_t u = 0; u < f->nsw; u++)
		n += (hops[u] > dist[u]) & !l->net->idle[u];
	return n;
}

static void nue_layer_count_hops(const struct nue_layer *l, struct nue_trees *t, uint32_t i)
{
	const struct fabric *f = l->net->f;
	const uint16_t *hops = t->hops + (size_t)i * f->nsw;
	uint64_t sum = 0;

	for (uint32_t u = 0; u < f->nsw; u++)
		sum += (uint64_t)hops[u] * f->sw_nterm[u];
	t->detours += nue_layer_count_detours(l, t, i);
	t->cost += sum * f->sw_nterm[l->dst[i]];
}

static void nue_layer_grow_all(struct nue_trees *t, struct nue_layer *l, struct nue_search *s)
{
	for (uint32_t k = 0; k < l->ndst; k++) {
		uint32_t i = s->turn[k];
		bool all;

		if (s->led[i])
			continue;
		t->impasses += nue_tree_grow(s->tree, l->dst[i], s->how->limit, &all);
		t->escape_dst += all;
		nue_layer_keep_tree(t, l, s, i);
		if (nue_layer_after_step(l, s, 0, 1))
			return;
	}
}

static void nue_layer_widen_all(struct nue_trees *t, struct nue_layer *l, struct nue_search *s)
{
	uint32_t n = 0; /* those with ends come first */
	uint64_t detours = 0;

	for (; n < l->ndst && !l->net->idle[l->dst[s->turn[n]]]; n++)
		detours += nue_layer_count_detours(l, t, s->turn[n]);
	if (detours > (uint64_t)n * l->net->f->nsw / MANY_DETOURS)
		return;
	for (uint32_t k = 0; k < n; k++) {
		if (!s->led[s->turn[k]])
			nue_layer_widen(l, s, t, s->turn[k]);
		if (nue_layer_after_step(l, s, l->net->f->nchan, 1))
			return;
	}
	for (uint32_t k = 0; k < n && l->net->parallel; k++)
		if (nue_layer_after_step(l, s, nue_layer_widen_parallel(l, s, t, s->turn[k]), 0))
			return;
}

static void nue_layer_improve_all(struct nue_trees *t, struct nue_layer *l, struct nue_search *s)
{
	nue_layer_take_places(s, t->place);
	for (uint32_t i = 0; i < l->ndst; i++) {
		if (l->net->idle[l->dst[i]])
			continue;
		if (nue_layer_count_detours(l, t, i))
			nue_layer_improve(l, s, t, i);
		nue_layer_count_hops(l, t, i);
		if (nue_layer_after_step(l, s, 0, 1))
			return;
	}
}

/* Around an escape tree. */
static void nue_layer_do_search(struct nue_trees *t, struct nue_layer *l, struct nue_search *s)
{
	struct nue_escape e;

	nue_layer_begin_layer(l, s, &e);
	nue_layer_rank(l, s, s->how->order, t->place);
	if (!s->pauses.stopped)
		nue_layer_grow_all(t, l, s);
	if (!s->pauses.stopped)
		nue_layer_widen_all(t, l, s);
	if (!s->pauses.stopped)
		nue_layer_improve_all(t, l, s);
	nue_escape_done(&e);
}

/* The switch with ends that has the most channels, of those with as many the skip-th next one. */
static uint32_t nue_layer_leaf_root(const struct nue_net *net, uint32_t skip)
{
	const uint32_t *off = net->f->chan_off;
	uint32_t best = FAB_NONE;

	for (uint32_t u = 0; u < net->f->nsw; u++) {
		bool more = best == FAB_NONE || off[u + 1] - off[u] > off[best + 1] - off[best];

		if (!net->idle[u] && more)
			best = u;
	}
	for (uint32_t u = best + 1; best != FAB_NONE && u < net->f->nsw && skip; u++)
		if (!net->idle[u] && off[u + 1] - off[u] == off[best + 1] - off[best]) {
			best = u;
			skip--;
		}
	return best;
}

/* An escape tree for the destinations that are left, beside all turns that climb.  From a leaf it
 * turns up again only near that leaf, which closes no cycle but where many cables are missing. */
static bool nue_layer_begin_leaf(struct nue_layer *l, struct nue_search *s, struct nue_escape *e,
				 const uint32_t *place)
{
	const struct fabric *f = l->net->f;
	bool *to = xcalloc(f->nsw, sizeof(*to)), found = false;

	for (uint32_t i = 0; i < l->ndst; i++)
		to[l->dst[i]] = !s->led[i];
	for (uint32_t i = 0; i < LEAVES && !found; i++) {
		nue_tree_layer(s->tree, s->order);
		nue_tree_climbing(s->tree, place);
		nue_escape_init(e, f, nue_layer_leaf_root(l->net, i), to);
		found = nue_tree_escape(s->tree, e);
		if (!found)
			nue_escape_done(e);
	}
	free(to);
	return found;
}

/* In a tree, paths up, then down serve nearly all destinations, even when cables are missing.  The
 * turns of all such paths come first, and what is left grows around them.  False when it cannot. */
static bool nue_layer_search_tree(struct nue_trees *t, struct nue_layer *l, struct nue_search *s)
{
	struct nue_escape e;

	if (!nue_layer_climb_all(l, s, t) && !s->pauses.stopped) {
		if (!nue_layer_begin_leaf(l, s, &e, t->place))
			return false;
		nue_layer_rank(l, s, NUE_BY_INDEX, t->place);
		nue_layer_grow_all(t, l, s);
		if (!s->pauses.stopped)
			nue_layer_widen_all(t, l, s);
		nue_tree_places(s->tree, t->place);
		nue_escape_done(&e);
	}
	for (uint32_t i = 0; i < l->ndst && !s->pauses.stopped; i++)
		nue_layer_count_hops(l, t, i);
	return true;
}

bool nue_layer_search(struct nue_trees *t, struct nue_layer *l, struct nue_search *s,
		      const struct nue_how *how, const struct nue_pause *pause)
{
	const struct fabric *f = l->net->f;

	*t = (struct nue_trees){ .cost = 0 };
	t->next = xcalloc((size_t)l->ndst * f->nsw, sizeof(*t->next));
	t->hops = xcalloc((size_t)l->ndst * f->nsw, sizeof(*t->hops));
	t->place = xcalloc(f->nchan, sizeof(*t->place));
	s->how = how;
	s->pauses = (struct pauses){ .pause = pause };
	if (!l->net->tree || !nue_layer_search_tree(t, l, s))
		nue_layer_do_search(t, l, s);
	return s->pauses.stopped;
}

void nue_trees_done(struct nue_trees *t)
{
	free(t->next);
	free(t->hops);
	free(t->place);
	*t = (struct nue_trees){ .cost = 0 };
}
