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

/* From a switch to that of the LID, over the cables that there are. */
static uint32_t needed_entries_dist(struct needed_entries *n, const struct fabric *f, uint32_t from,
				    uint32_t to)
{
	if (n->dist_to != to) {
		n->queue[0] = to;
		fabric_hops(n->dist, n->queue, f, 1);
		n->dist_to = to;
	}
	return n->dist[from];
}

static bool needed_entries_is(struct needed_entries *n, const struct repair_state *r, uint32_t sw,
			      const struct dest *d, const struct lid_tree *x)
{
	uint32_t c;

	if (sw == d->sw)
		return true;
	c = fabric_chan(r->f, sw, tables_row(r->was, sw)[d->lid]);
	return c == FAB_NONE ||
	       needed_entries_dist(n, r->f, r->f->chan_dst[c], d->sw) + 1 > x->hops[sw];
}

void needed_entries_add(struct needed_entries *n, const struct repair_state *r,
			const struct dest *d, const struct lid_tree *x)
{
	for (uint32_t sw = 0; sw < r->f->nsw; sw++) {
		if (tables_row(r->t, sw)[d->lid] == tables_row(r->was, sw)[d->lid])
			continue;
		n->changed++;
		n->needed += needed_entries_is(n, r, sw, d, x);
	}
}
