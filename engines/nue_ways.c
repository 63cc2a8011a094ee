/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue_ways.h"

#include "fabric/base/mem.h"

#include <stdlib.h>
#include <string.h>

struct nue_ways_maker {
	const struct fabric *f;
	uint32_t *pos;	 /* by switch */
	uint32_t *count; /* by hops */
	uint32_t *top;	 /* by switch: place of the tree's channel */
	uint32_t *sure;	 /* by switch: the channel that is always possible */
	uint32_t *need;	 /* by switch: those enter it by channels up to this place, plus 1 */
	bool *climbs;	 /* by switch: its way along the tree does */
	uint32_t *chan;
	uint16_t *to;
};

struct nue_ways_maker *nue_ways_maker_new(const struct fabric *f)
{
	struct nue_ways_maker *m = xcalloc(1, sizeof(*m));

	m->f = f;
	m->pos = xcalloc(f->nsw, sizeof(*m->pos));
	m->count = xcalloc(f->nsw + 1, sizeof(*m->count));
	m->top = xcalloc(f->nsw, sizeof(*m->top));
	m->sure = xcalloc(f->nsw, sizeof(*m->sure));
	m->need = xcalloc(f->nsw, sizeof(*m->need));
	m->climbs = xcalloc(f->nsw, sizeof(*m->climbs));
	m->chan = xcalloc(f->nchan, sizeof(*m->chan));
	m->to = xcalloc(f->nchan, sizeof(*m->to));
	return m;
}

void nue_ways_maker_free(struct nue_ways_maker *m)
{
	if (!m)
		return;
	free(m->pos);
	free(m->count);
	free(m->top);
	free(m->sure);
	free(m->need);
	free(m->climbs);
	free(m->chan);
	free(m->to);
	free(m);
}

static void put_in_order(struct nue_ways *w, struct nue_ways_maker *m, const uint16_t *hops)
{
	uint32_t n = m->f->nsw;

	memset(m->count, 0, (n + 1) * sizeof(*m->count));
	for (uint32_t u = 0; u < n; u++)
		m->count[hops[u] + 1]++;
	for (uint32_t h = 0; h < n; h++)
		m->count[h + 1] += m->count[h];
	for (uint32_t u = 0; u < n; u++) {
		m->pos[u] = m->count[hops[u]]++;
		w->sw[m->pos[u]] = (uint16_t)u;
	}
}

/* Which switches the tree leads on in the order. */
static void find_climbs(struct nue_ways_maker *m, const struct nue_ways *w,
			const struct nue_trees *t, uint32_t i)
{
	const struct fabric *f = m->f;

	m->climbs[w->sw[0]] = true;
	m->top[w->sw[0]] = UINT32_MAX;
	for (uint32_t p = 1; p < f->nsw; p++) {
		uint32_t u = w->sw[p], c = nue_trees_next(t, f, i, u), v = f->chan_dst[c];

		m->top[u] = t->place[c];
		m->climbs[u] = m->climbs[v] && t->place[c] < m->top[v];
	}
}

/* The channel that asks least of the switch where it arrives: that comes first in the order, of
 * those after need and before the tree goes on. */
static uint32_t least_demanding(const struct nue_ways_maker *m, const struct nue_trees *t,
				const uint16_t *hops, uint32_t u, uint32_t tree)
{
	const struct fabric *f = m->f;
	uint32_t best = tree;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
		uint32_t v = f->chan_dst[c];

		if (hops[v] + 1 == hops[u] && m->climbs[v] && t->place[c] >= m->need[u] &&
		    t->place[c] < m->top[v] && t->place[c] < t->place[best])
			best = c;
	}
	return best;
}

/* From the far end: a channel of every switch that is always possible, and the place that the
 * channels of a switch must have for that. */
static void find_needs(struct nue_ways_maker *m, const struct nue_ways *w,
		       const struct nue_trees *t, uint32_t i)
{
	const struct fabric *f = m->f;
	const uint16_t *hops = t->hops + (size_t)i * f->nsw;

	memset(m->need, 0, f->nsw * sizeof(*m->need));
	for (uint32_t p = f->nsw; p-- > 1;) {
		uint32_t u = w->sw[p], c = nue_trees_next(t, f, i, u), v;

		if (m->climbs[u])
			c = least_demanding(m, t, hops, u, c);
		v = f->chan_dst[c];
		m->sure[u] = c;
		if (m->climbs[u] && t->place[c] >= m->need[v])
			m->need[v] = t->place[c] + 1;
	}
}

/* All ways from position p, the sure one first; returns the number of edges so far. */
static uint32_t find_edges(struct nue_ways_maker *m, const struct nue_ways *w,
			   const struct nue_trees *t, uint32_t i, uint32_t p, uint32_t n)
{
	const struct fabric *f = m->f;
	const uint16_t *hops = t->hops + (size_t)i * f->nsw;
	uint32_t u = w->sw[p], sure = m->sure[u];

	m->chan[n] = sure;
	m->to[n++] = (uint16_t)m->pos[f->chan_dst[sure]];
	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1] && m->climbs[u]; c++) {
		uint32_t v = f->chan_dst[c];

		if (hops[v] + 1 != hops[u] || c == sure || t->place[c] < m->need[u] ||
		    !m->climbs[v])
			continue;
		m->chan[n] = c;
		m->to[n++] = (uint16_t)m->pos[v];
	}
	return n;
}

void nue_ways_make(struct nue_ways *w, struct nue_ways_maker *m, const struct nue_trees *t,
		   uint32_t i)
{
	const struct fabric *f = m->f;
	uint32_t n = 0;

	*w = (struct nue_ways){ .n = f->nsw };
	w->sw = xcalloc(f->nsw, sizeof(*w->sw));
	w->off = xcalloc(f->nsw + 1, sizeof(*w->off));
	put_in_order(w, m, t->hops + (size_t)i * f->nsw);
	find_climbs(m, w, t, i);
	find_needs(m, w, t, i);
	for (uint32_t p = 1; p < f->nsw; p++) {
		w->off[p] = n;
		n = find_edges(m, w, t, i, p, n);
	}
	w->off[f->nsw] = w->nedge = n;
	w->chan = xcalloc(n, sizeof(*w->chan));
	w->to = xcalloc(n, sizeof(*w->to));
	memcpy(w->chan, m->chan, n * sizeof(*w->chan));
	memcpy(w->to, m->to, n * sizeof(*w->to));
}

void nue_ways_done(struct nue_ways *w)
{
	free(w->sw);
	free(w->off);
	free(w->chan);
	free(w->to);
	*w = (struct nue_ways){ .n = 0 };
}

uint64_t nue_ways_bytes(const struct nue_ways *w)
{
	return w->n * (sizeof(*w->sw) + sizeof(*w->off)) +
	       (uint64_t)w->nedge * (sizeof(*w->chan) + sizeof(*w->to));
}
