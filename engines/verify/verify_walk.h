/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_walk: follows the LFT entries of one LID from all switches at once.
 *
 * The entries of one LID form a graph in which every switch has at most one next hop, so
 * colouring the walks finds in O(switches) which arrive, which end early and which loop.
 */
#pragma once

#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

/* values of hops[] for switches that do not arrive */
#define WALK_DEAD (UINT32_MAX - 1) /* no entry, a port that leads nowhere, or a wrong end */
#define WALK_LOOP (UINT32_MAX - 2)

struct walk {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	const struct tables *t;

	/* of the LID walked last */
	uint32_t dsw;	 /* switch where the LID ends ... */
	uint8_t dport;	 /* ... and its port there; 0: the switch itself */
	uint32_t *chan;	 /* per switch: channel it forwards to; FAB_NONE: none;
			  * dsw, when it delivers: chan_off[dsw + 1] */
	uint32_t *hops;	 /* per switch: channels to dsw, or one of the above */
	uint32_t *order; /* switches that arrive, each before the one it forwards to ... */
	uint32_t norder; /* ... dsw last; nsw when all arrive */
	uint32_t before; /* LID walked before it when that lies in the same block, on the same
			  * switch and at the same distances; else 0 */
	uint32_t *moved; /* where before is not 0: switches that forward to other channels than
			  * for that LID ... */
	uint32_t nmoved; /* ... so many, ascending */
	bool *fresh;	 /* see walk_fresh() */

	/* private */
	uint32_t *hop;	/* sw * width + port: channel or FAB_NONE */
	uint32_t width; /* port 0, those of the largest switch, and one that nobody has */
	uint32_t *next; /* switch where chan leads, or nsw */
	uint32_t *stack;
	uint32_t *left, *level; /* switches of unknown hops, and known ones by hops */
	uint32_t *bucket;
	uint8_t *cols;	     /* LFT entries of one block of LIDs, a row of switches per LID */
	uint32_t block, lid; /* walked last */
	bool *passed;	     /* others forward to that switch, for LID passed_lid */
	uint32_t passed_lid;
	bool sorted; /* order is by descending hops and holds every switch */
};

/* Channel of a switch's output port, or FAB_NONE; fabric_chan() from a denser table. */
static inline uint32_t walk_chan(const struct walk *w, uint32_t sw, uint8_t port)
{
	return w->hop[sw * w->width + (port < w->width ? port : w->width - 1)];
}

struct walk *walk_new(const struct fabric *f, const struct tables *t);
void walk_free(struct walk *w); /* NULL is fine */

/* False when nobody owns the LID.  Fastest for ascending LIDs.  O(nsw). */
bool walk_lid(struct walk *w, uint32_t lid);

/* Where before is not 0: sets fresh[] for the switches whose paths to the LID are not those to the
 * one before. */
void walk_fresh(struct walk *w);

/* Where the walk of a LID from sw ends or, when it circles, where it closes.  Any tables. */
uint32_t walk_last(const struct fabric *f, const struct tables *t, uint32_t sw, uint32_t lid);
