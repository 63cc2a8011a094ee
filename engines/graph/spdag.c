/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/spdag.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

void spdag_init(struct spdag *g, const struct fabric *f)
{
	*g = (struct spdag){ .root = FAB_NONE };
	g->sw = xcalloc(f->nsw, sizeof(uint32_t));
	g->pos = xcalloc(f->nsw, sizeof(uint32_t));
	g->dist = xcalloc(f->nsw, sizeof(uint32_t));
	g->off = xcalloc(f->nsw + 1, sizeof(uint32_t));
	g->fill = xcalloc(f->nsw + 1, sizeof(uint32_t));
	g->chan = xcalloc(f->nchan, sizeof(uint32_t));
	g->to = xcalloc(f->nchan, sizeof(uint32_t));
	g->found_from = xcalloc(f->nchan, sizeof(uint32_t));
	g->found_chan = xcalloc(f->nchan, sizeof(uint32_t));
	g->found_to = xcalloc(f->nchan, sizeof(uint32_t));
	g->hops = xcalloc(f->nsw, sizeof(uint32_t));
}

void spdag_done(struct spdag *g)
{
	uint32_t **arrays[] = { &g->sw,		&g->pos,      &g->dist, &g->off,
				&g->fill,	&g->chan,     &g->to,	&g->found_from,
				&g->found_chan, &g->found_to, &g->hops };

	for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++) {
		free(*arrays[i]);
		*arrays[i] = NULL;
	}
}

/* Appends the edges that arrive at position i, and the switches that it discovers. */
static void spdag_expand(struct spdag *g, const struct fabric *f, uint32_t i)
{
	uint32_t u = g->sw[i], m = g->nfound;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
		uint32_t v = f->chan_dst[c], p = g->pos[v];

		if (p == FAB_NONE) {
			p = g->n++;
			g->pos[v] = p;
			g->sw[p] = v;
			g->dist[p] = g->dist[i] + 1;
		}
		g->found_from[m] = p;
		g->found_chan[m] = f->chan_rev[c];
		g->found_to[m] = i;
		m += g->dist[p] == g->dist[i] + 1;
	}
	g->nfound = m;
}

void spdag_sort_edges(struct spdag *g)
{
	uint32_t sum = 0;

	memset(g->fill, 0, (g->n + 1) * sizeof(*g->fill));
	for (uint32_t k = 0; k < g->nfound; k++)
		g->fill[g->found_from[k]]++;
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t deg = g->fill[i];

		g->off[i] = g->fill[i] = sum;
		sum += deg;
	}
	g->off[g->n] = g->nedge = sum;
	for (uint32_t k = 0; k < g->nfound; k++) {
		uint32_t at = g->fill[g->found_from[k]]++;

		g->chan[at] = g->found_chan[k];
		g->to[at] = g->found_to[k];
	}
}

void spdag_shortest(struct spdag *g, const struct fabric *f, uint32_t root)
{
	memset(g->pos, 0xff, f->nsw * sizeof(*g->pos));
	g->root = root;
	g->n = 1;
	g->nfound = 0;
	g->sw[0] = root;
	g->pos[root] = 0;
	g->dist[0] = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		/* nothing is left to discover beyond the last level */
		if (g->n == f->nsw && g->dist[i] == g->dist[g->n - 1])
			break;
		spdag_expand(g, f, i);
	}
	spdag_sort_edges(g);
}
