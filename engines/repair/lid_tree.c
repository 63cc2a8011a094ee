/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/repair/lid_tree.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define NOT_YET	  (UINT16_MAX - 1)
#define UNDER_WAY (UINT16_MAX - 2)

void lid_tree_init(struct lid_tree *x, const struct fabric *f)
{
	*x = (struct lid_tree){ .f = f };
	x->chan = xcalloc(f->nsw, sizeof(*x->chan));
	x->hops = xcalloc(f->nsw, sizeof(*x->hops));
	x->order = xcalloc(f->nsw, sizeof(*x->order));
	x->stack = xcalloc(f->nsw, sizeof(*x->stack));
	x->start = xcalloc(f->nsw + 1u, sizeof(*x->start));
}

void lid_tree_done(struct lid_tree *x)
{
	free(x->chan);
	free(x->hops);
	free(x->order);
	free(x->stack);
	free(x->start);
	memset(x, 0, sizeof(*x));
}

/* From u on to the first switch of which it is known. */
static void lid_tree_follow(struct lid_tree *x, uint32_t u)
{
	const uint32_t *to = x->f->chan_dst;
	uint32_t n = 0;
	uint16_t h;

	while (x->hops[u] == NOT_YET) {
		x->hops[u] = UNDER_WAY;
		x->stack[n++] = u;
		if (x->chan[u] == FAB_NONE)
			break;
		u = to[x->chan[u]];
	}
	h = x->hops[u] >= UNDER_WAY ? LID_TREE_BROKEN : x->hops[u];
	while (n) {
		h = (uint16_t)(h + (h != LID_TREE_BROKEN));
		x->hops[x->stack[--n]] = h;
	}
}

static void lid_tree_sort(struct lid_tree *x)
{
	uint32_t most = 0, n = 0;

	for (uint32_t u = 0; u < x->f->nsw; u++)
		if (x->hops[u] != LID_TREE_BROKEN && x->hops[u] > most)
			most = x->hops[u];
	memset(x->start, 0, (most + 1u) * sizeof(*x->start));
	for (uint32_t u = 0; u < x->f->nsw; u++)
		if (x->hops[u] != LID_TREE_BROKEN)
			x->start[x->hops[u]]++;
	for (uint32_t h = most + 1; h-- > 0;) {
		uint32_t of_h = x->start[h];

		x->start[h] = n;
		n += of_h;
	}
	for (uint32_t u = 0; u < x->f->nsw; u++)
		if (x->hops[u] != LID_TREE_BROKEN)
			x->order[x->start[x->hops[u]]++] = u;
	x->norder = n;
}

uint32_t lid_tree_read(struct lid_tree *x, const uint8_t *ports, const uint32_t *out, uint32_t dst)
{
	const struct fabric *f = x->f;

	x->dst = dst;
	for (uint32_t u = 0; u < f->nsw; u++) {
		x->chan[u] =
			ports[u] <= f->sw_nports[u] ? out[f->port_off[u] + ports[u]] : FAB_NONE;
		x->hops[u] = NOT_YET;
	}
	x->chan[dst] = FAB_NONE;
	x->hops[dst] = 0;
	for (uint32_t u = 0; u < f->nsw; u++)
		if (x->hops[u] == NOT_YET)
			lid_tree_follow(x, u);
	lid_tree_sort(x);
	return f->nsw - x->norder;
}
