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
	uint32_t *tree;	 /* by switch: the tree's channel */
	uint32_t *need;	 /* by switch: sure channels enter it up to this place, plus 1 */
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
	m->tree = xcalloc(f->nsw, sizeof(*m->tree));
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
	free(m->tree);
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
		w->ends[m->pos[u]] = m->f->sw_nterm[u];
	}
}

/* Which switches the tree leads on in the order. */
static void find_climbs(struct nue_ways_maker *m, const struct nue_ways *w,
			const struct nue_trees *t, uint32_t i)
{
	const struct fabric *f = m->f;

	memset(m->need, 0, f->nsw * sizeof(*m->need));
	m->climbs[w->sw[0]] = true;
	m->top[w->sw[0]] = UINT32_MAX;
	for (uint32_t p = 1; p < f->nsw; p++) {
		uint32_t u = w->sw[p], c = nue_trees_next(t, f, i, u), v = f->chan_dst[c];

		m->tree[u] = c;
		m->top[u] = t->place[c];
		m->climbs[u] = m->climbs[v] && t->place[c] < m->top[v];
	}
}

static void put_first(struct nue_ways_maker *m, uint32_t first, uint32_t e)
{
	uint32_t chan = m->chan[first];
	uint16_t to = m->to[first];

	m->chan[first] = m->chan[e];
	m->to[first] = m->to[e];
	m->chan[e] = chan;
	m->to[e] = to;
}

/*
 * The ways from position p, in front of those of farther switches, which fixed what need is.  The
 * sure channel is the one that asks least of the switch where it arrives: it comes first in the
 * order, of those before the tree's channel goes on from there.  Returns where the edges begin.
 */
static uint32_t find_edges(struct nue_ways_maker *m, const struct nue_ways *w,
			   const struct nue_trees *t, const uint16_t *hops, uint32_t p, uint32_t n)
{
	const struct fabric *f = m->f;
	uint32_t u = w->sw[p], sure = n - 1, need = m->need[u];
	uint32_t tree = m->tree[u], v = f->chan_dst[tree], first = t->place[tree];

	m->chan[--n] = tree;
	m->to[n] = (uint16_t)m->pos[v];
	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1] && m->climbs[u]; c++) {
		v = f->chan_dst[c];
		if (hops[v] + 1 != hops[u] || t->place[c] < need || c == tree || !m->climbs[v])
			continue;
		m->chan[--n] = c;
		m->to[n] = (uint16_t)m->pos[v];
		if (t->place[c] < first && t->place[c] < m->top[v]) {
			first = t->place[c];
			sure = n;
		}
	}
	v = f->chan_dst[m->chan[sure]];
	if (m->climbs[u] && first >= m->need[v])
		m->need[v] = first + 1;
	put_first(m, n, sure);
	return n;
}

/* Copies the edges that can be taken whatever is chosen where they arrive, as the sure ones can;
 * nearly all others come after every choice there.  With parallel cables those between are many,
 * and copied, too. */
static void keep_edges(struct nue_ways *w, struct nue_ways_maker *m, const uint32_t *place)
{
	const struct fabric *f = m->f;
	uint32_t *bound = m->need, n = 0, e = w->off[0];

	bound[0] = UINT32_MAX; /* by position: edges that arrive there come before */
	w->off[0] = 0;
	for (uint32_t p = 0; p < w->n; p++) {
		uint32_t end = w->off[p + 1], low = UINT32_MAX, high = 0;

		for (uint32_t sure = e; e < end; e++) {
			uint32_t c = m->chan[e], at = place[c];

			if (e != sure && at >= bound[m->to[e]])
				continue;
			low = at < low ? at : low;
			high = at > high ? at : high;
			w->to[n] = m->to[e];
			w->port[n] = f->chan_port[c];
			w->chan[n++] = c;
		}
		if (p)
			bound[p] = w->bound ? high : low;
		w->off[p + 1] = n;
	}
	w->nedge = n;
}

void nue_ways_make(struct nue_ways *w, struct nue_ways_maker *m, const struct nue_trees *t,
		   uint32_t i, bool parallel)
{
	const struct fabric *f = m->f;
	const uint16_t *hops = t->hops + (size_t)i * f->nsw;
	uint32_t n = f->nchan;

	*w = (struct nue_ways){ .n = f->nsw, .bound = parallel };
	w->sw = xcalloc(f->nsw, sizeof(*w->sw));
	w->off = xcalloc(f->nsw + 1, sizeof(*w->off));
	w->ends = xcalloc(f->nsw, sizeof(*w->ends));
	put_in_order(w, m, hops);
	find_climbs(m, w, t, i);
	w->off[f->nsw] = n;
	for (uint32_t p = f->nsw; p-- > 1;)
		w->off[p] = n = find_edges(m, w, t, hops, p, n);
	w->off[0] = n;
	w->chan = xcalloc(f->nchan - n, sizeof(*w->chan));
	w->to = xcalloc(f->nchan - n, sizeof(*w->to));
	w->port = xcalloc(f->nchan - n, 1);
	keep_edges(w, m, t->place);
}

void nue_ways_done(struct nue_ways *w)
{
	free(w->sw);
	free(w->off);
	free(w->chan);
	free(w->to);
	free(w->port);
	free(w->ends);
	*w = (struct nue_ways){ .n = 0 };
}

uint64_t nue_ways_bytes(const struct nue_ways *w)
{
	return w->n * (sizeof(*w->sw) + sizeof(*w->off) + sizeof(*w->ends)) +
	       (uint64_t)w->nedge * (sizeof(*w->chan) + sizeof(*w->to) + sizeof(*w->port));
}
