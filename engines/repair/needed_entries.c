/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/repair/needed_entries.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

void needed_entries_init(struct needed_entries *n, const struct fabric *f)
{
	*n = (struct needed_entries){ .dist_to = FAB_NONE };
	n->dist = xcalloc(f->nsw, sizeof(*n->dist));
	n->queue = xcalloc(f->nsw, sizeof(*n->queue));
}

void needed_entries_done(struct needed_entries *n)
{
	free(n->dist);
	free(n->queue);
	memset(n, 0, sizeof(*n));
}

void needed_entries_forget(struct needed_entries *n)
{
	n->dist_to = FAB_NONE;
}

/* Distances to a switch over the cables that there are. */
static void needed_entries_measure(struct needed_entries *n, const struct repair_state *r,
				   uint32_t to)
{
	const struct fabric *f = r->f;
	uint32_t end = 1;

	memset(n->dist, 0xff, f->nsw * sizeof(*n->dist));
	n->queue[0] = to;
	n->dist[to] = 0;
	for (uint32_t i = 0; i < end; i++) {
		uint32_t u = n->queue[i];

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			uint32_t v = f->chan_dst[c];

			if (n->dist[v] != FAB_NONE || r->down[c])
				continue;
			n->dist[v] = n->dist[u] + 1;
			n->queue[end++] = v;
		}
	}
	n->dist_to = to;
}

static bool needed_entries_is(struct needed_entries *n, const struct repair_state *r,
			      const struct entry_change *e, const struct dest *d,
			      const struct lid_tree *x)
{
	uint32_t c = repair_state_chan(r, e->sw, e->port_was), far;

	if (e->sw == d->sw || c == FAB_NONE)
		return true;
	if (n->dist_to != d->sw)
		needed_entries_measure(n, r, d->sw);
	far = n->dist[r->f->chan_dst[c]];
	return far == FAB_NONE || far + 1 > x->hops[e->sw];
}

void needed_entries_add(struct needed_entries *n, const struct repair_state *r,
			const struct dest *d, const struct lid_tree *x, uint32_t first)
{
	for (uint32_t i = first; i < r->changes->n; i++) {
		const struct entry_change *e = &r->changes->list[i];

		if (e->port == e->port_was)
			continue;
		n->changed++;
		n->needed += needed_entries_is(n, r, e, d, x);
	}
}
