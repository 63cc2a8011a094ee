/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spdag: all permitted next hops towards one destination switch, as a DAG in flat arrays.
 *
 * Switches are renumbered by position: 0 is the destination, and every edge leads from a
 * position to a smaller one, so that one pass upwards computes costs and one pass downwards
 * sums up subtrees.  spdag_shortest() fills it with all shortest paths; an engine with other
 * rules (up and down, say) fills it by itself through the edge list.
 */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdint.h>

struct spdag {
	uint32_t root; /* destination switch, FAB_NONE before the first build */
	uint32_t n;    /* switches in it: all of the fabric when that is connected */
	uint32_t nedge;
	uint32_t *sw;	/* switch at a position */
	uint32_t *pos;	/* position of a switch, FAB_NONE when not in the DAG */
	uint32_t *dist; /* hops to the root, by position */
	uint32_t *off;	/* n+1: edges of a position ... */
	uint32_t *chan; /* ... the channel, in the order in which ties are broken ... */
	uint32_t *to;	/* ... and the position where it arrives */
	/* edges as found, before spdag_sort_edges() */
	uint32_t nfound;
	uint32_t *found_from, *found_chan, *found_to;
	uint32_t *fill;
	uint32_t *hops; /* by switch, while ways up, then down are found */
};

void spdag_init(struct spdag *g, const struct fabric *f);
void spdag_done(struct spdag *g);

/* All shortest paths to root.  Looks only at the channels of switches that are not farthest
 * away.  Edges of a position come by the position where they arrive, then by channel. */
void spdag_shortest(struct spdag *g, const struct fabric *f, uint32_t root);

/* Turns the found edges into CSR, keeping their order within a position. */
void spdag_sort_edges(struct spdag *g);
