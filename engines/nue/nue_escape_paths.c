/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue/nue_escape_paths.h"

#include "engines/nue/nue_channel_order.h"
#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define NOT_NEAR UINT16_MAX

struct edge {
	uint32_t place; /* of the channel */
	uint16_t to;	/* position */
};

struct node {
	uint32_t top;  /* place of the tree's channel */
	uint16_t near; /* hops, plus 1, if its path along the tree climbs */
	uint16_t pos;
};

struct nue_escape_paths_maker {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	const uint32_t *place;		/* of the layer ... */
	struct nue_channel_order order; /* ... whose order is this */
	const uint16_t *sw;		/* by position */
	struct node *node;		/* by switch */
	uint32_t *count;		/* by hops */
	struct edge *tree;		/* by switch */
	uint32_t *need; /* by switch: sure channels enter it up to this place, plus 1 */
	struct edge *edge;
};

struct nue_escape_paths_maker *nue_escape_paths_maker_new(const struct fabric *f)
{
	struct arena *mem = arena_new();
	struct nue_escape_paths_maker *m = arena_alloc(mem, 1, sizeof(*m));

	m->mem = mem;
	m->f = f;
	m->node = arena_alloc(mem, f->nsw, sizeof(*m->node));
	m->count = arena_alloc(mem, f->nsw + 1, sizeof(*m->count));
	m->tree = arena_alloc(mem, f->nsw, sizeof(*m->tree));
	m->need = arena_alloc(mem, f->nsw, sizeof(*m->need));
	m->edge = arena_alloc(mem, f->nchan + 1, sizeof(*m->edge)); /* the first is never kept */
	nue_channel_order_init(&m->order, f, mem);
	return m;
}

void nue_escape_paths_maker_free(struct nue_escape_paths_maker *m)
{
	if (m)
		arena_free(m->mem);
}

static void nue_escape_paths_put_in_order(struct nue_escape_paths *w,
					  struct nue_escape_paths_maker *m, const uint16_t *hops)
{
	uint32_t n = m->f->nsw;

	memset(m->count, 0, (n + 1) * sizeof(*m->count));
	for (uint32_t u = 0; u < n; u++)
		m->count[hops[u] + 1]++;
	for (uint32_t h = 0; h < n; h++)
		m->count[h + 1] += m->count[h];
	for (uint32_t u = 0; u < n; u++) {
		uint32_t p = m->count[hops[u]]++;

		m->node[u].pos = (uint16_t)p;
		w->sw[p] = (uint16_t)u;
		w->ends[p] = m->f->sw_nterm[u];
	}
}

/* Which switches the tree leads on in the order. */
static void nue_escape_paths_find_climbs(struct nue_escape_paths_maker *m,
					 const struct nue_escape_paths *w,
					 const struct nue_trees *t, uint32_t i,
					 const uint16_t *hops)
{
	const struct fabric *f = m->f;

	memset(m->need, 0, f->nsw * sizeof(*m->need));
	m->node[w->sw[0]] = (struct node){ .top = UINT32_MAX, .near = 1 };
	for (uint32_t p = 1; p < f->nsw; p++) {
		uint32_t u = w->sw[p], c = nue_trees_next(t, f, i, u), v = f->chan_dst[c];
		struct node *to = &m->node[v];
		bool climbs = to->near != NOT_NEAR && t->place[c] < to->top;

		m->tree[u] = (struct edge){ t->place[c], to->pos };
		m->node[u].top = t->place[c];
		m->node[u].near = climbs ? (uint16_t)(hops[u] + 1) : NOT_NEAR;
	}
}

/*
 * The edges of position p, in front of those of farther switches, which fixed what need is.  The
 * sure channel is the one that asks least of the switch where it arrives, as it comes first in the
 * order; all come before the tree's channel from there.  Returns where the edges begin.
 */
static uint32_t nue_escape_paths_find_edges(struct nue_escape_paths_maker *m, uint32_t u,
					    uint32_t n)
{
	const struct nue_ordered_channel *r = m->order.out + m->f->chan_off[u];
	const struct nue_ordered_channel *end = m->order.out + m->f->chan_off[u + 1];
	const struct node *node = m->node;
	struct node own = node[u];
	struct edge *edge = m->edge;
	uint32_t need = m->need[u], v;

	if (own.near == NOT_NEAR) {
		edge[--n] = m->tree[u];
		return n;
	}
	for (; r < end && r->place >= need; r++) {
		struct node to = node[r->sw];

		edge[n - 1] = (struct edge){ r->place, to.pos };
		n -= (to.near + 1 == own.near) & (r->place < to.top);
	}
	v = m->sw[edge[n].to];
	m->need[v] = edge[n].place >= m->need[v] ? edge[n].place + 1 : m->need[v];
	return n;
}

/* Copies the edges that can be taken whatever is chosen where they arrive, as the sure ones can;
 * nearly all others come after every choice there.  With parallel cables those between are many,
 * and copied, too. */
static void nue_escape_paths_keep_edges(struct nue_escape_paths *w,
					struct nue_escape_paths_maker *m)
{
	const uint32_t *chan = m->order.chan;
	const uint8_t *chan_port = m->f->chan_port;
	const struct edge *edge = m->edge;
	uint32_t *bound = m->need, *w_chan = w->chan, n = 0, e = w->off[0];
	uint16_t *to = w->to;
	uint8_t *port = w->port;

	bound[0] = UINT32_MAX; /* by position: edges that arrive there come before */
	w->off[0] = 0;
	for (uint32_t p = 0; p < w->n; p++) {
		uint32_t end = w->off[p + 1], low = UINT32_MAX, high = 0;

		for (uint32_t sure = e; e < end; e++) {
			struct edge x = edge[e];
			bool kept = (e == sure) | (x.place < bound[x.to]);
			uint32_t c = chan[x.place];

			to[n] = x.to;
			port[n] = chan_port[c];
			w_chan[n] = c;
			n += kept;
			low = kept && x.place < low ? x.place : low;
			high = kept && x.place > high ? x.place : high;
		}
		if (p)
			bound[p] = w->bound ? high : low;
		w->off[p + 1] = n;
	}
	w->nedge = n;
	for (uint32_t k = 0; k < n; k++)
		w->ninner = to[k] >= w->ninner ? to[k] + 1u : w->ninner;
}

void nue_escape_paths_make(struct nue_escape_paths *w, struct nue_escape_paths_maker *m,
			   const struct nue_trees *t, uint32_t i, bool parallel)
{
	const struct fabric *f = m->f;
	const uint16_t *hops = t->hops + (size_t)i * f->nsw;
	uint32_t n = f->nchan + 1;

	if (m->place != t->place)
		nue_channel_order_sort(&m->order, f, t->place);
	m->place = t->place;
	*w = (struct nue_escape_paths){ .n = f->nsw, .bound = parallel };
	m->sw = w->sw = xcalloc(f->nsw, sizeof(*w->sw));
	w->off = xcalloc(f->nsw + 1, sizeof(*w->off));
	w->ends = xcalloc(f->nsw, sizeof(*w->ends));
	nue_escape_paths_put_in_order(w, m, hops);
	nue_escape_paths_find_climbs(m, w, t, i, hops);
	w->off[f->nsw] = n;
	for (uint32_t p = f->nsw; p-- > 1;)
		w->off[p] = n = nue_escape_paths_find_edges(m, w->sw[p], n);
	w->off[0] = n;
	n = f->nchan + 1 - n;
	w->chan = xcalloc(n, sizeof(*w->chan));
	w->to = xcalloc(n, sizeof(*w->to));
	w->port = xcalloc(n, 1);
	nue_escape_paths_keep_edges(w, m);
}

void nue_escape_paths_done(struct nue_escape_paths *w)
{
	free(w->sw);
	free(w->off);
	free(w->chan);
	free(w->to);
	free(w->port);
	free(w->ends);
	*w = (struct nue_escape_paths){ .n = 0 };
}

uint64_t nue_escape_paths_bytes(const struct nue_escape_paths *w)
{
	return w->n * (sizeof(*w->sw) + sizeof(*w->off) + sizeof(*w->ends)) +
	       (uint64_t)w->nedge * (sizeof(*w->chan) + sizeof(*w->to) + sizeof(*w->port));
}
