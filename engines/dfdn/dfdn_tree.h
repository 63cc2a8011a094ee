/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dfdn_tree: the paths of given tables to one LID after another, as a tree in flat arrays.
 *
 * Switches have positions by their distance to the LID: position 0 is the switch on which it
 * ends, and the next switch of any other one has a smaller position.
 */
#pragma once

#include "engines/graph/graph.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

/* What is kept of one position of a tree; or how many of them follow, in turn. */
struct dfdn_step {
	uint32_t turn;
	uint16_t parent;
	uint16_t place; /* the switch there or, where all that is known, the position */
};

struct dfdn_tree {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	const struct tables *t;
	struct turns turns;
	uint32_t n;	  /* switches */
	uint32_t *at;	  /* switch at a position */
	bool *source;	  /* by position: some end hangs on the switch */
	uint32_t *parent; /* position of the next switch; 0 leads to 0 */
	uint32_t *turn;	  /* from the position's channel onto that of its parent; only where
			   * the parent is not position 0 */
	/* Positions, ascending, whose path is not that of the LID before: all but 0 when that
	 * ended on another switch.  Behind such a position there are no others. */
	uint32_t *news, nnews;
	/* its own */
	struct dest *dests;
	uint32_t ndest, visits;
	uint64_t work; /* of the visitor with the tree at hand, in turns, for the pace */
	uint32_t *pos, *depth, *count, *chan;
	uint32_t *out, *next; /* by switch: channel and switch to which it forwards */
	uint32_t *left;
	bool *same;	 /* by position: true but while changes are looked for */
	bool *kids;	 /* by position: it is a parent, or was one for a LID before */
	bool *is_source; /* by switch */
	struct dfdn_step *tape;
	size_t ntape, tape_room; /* steps read or written so far */
	bool recording, taped;
	uint8_t *port; /* by LID of the block * n + switch */
};

/* The LFTs must be complete and of shortest paths, for all LIDs with that LMC. */
void dfdn_tree_init(struct dfdn_tree *x, const struct fabric *f, const struct tables *t,
		    uint8_t lmc);
void dfdn_tree_done(struct dfdn_tree *x);

/*
 * Shows the trees of all LIDs, switch by switch, save those of switches with terminals
 * themselves.  tree() is called for each and leaves the rest out by returning true; k is the
 * place of the LID in a block of at most DFDN_TREE_LIDS, for which lids() (may be NULL) is
 * called when all its trees have been shown.  -ECANCELED.  Time O(LIDs * switches) besides.
 */
#define DFDN_TREE_LIDS 64
struct dfdn_visit {
	bool (*tree)(void *ctx, const struct dfdn_tree *x, uint32_t k);
	void (*lids)(void *ctx, const struct dest *d, uint32_t n);
	void *ctx;
};

int dfdn_tree_visit(struct dfdn_tree *x, const struct dfdn_visit *v, struct pace *p);

/* The turns of the path from a position, the first one first; returns how many. */
static inline uint32_t dfdn_tree_path(const struct dfdn_tree *x, uint32_t i, uint32_t *turn)
{
	uint32_t n = 0;

	for (; x->parent[i]; i = x->parent[i])
		turn[n++] = x->turn[i];
	return n;
}

/*
 * The turns at which the VL must rise.
 *
 * HOTI16 lets it rise at every hop.  It is enough that it rises where a path turns from a
 * channel that leads down to one that leads up (updown.h): on one VL, the turns of packets then
 * cannot close a cycle.  That takes fewer VLs and, as most turns have no say, fewer
 * SLs.
 */
struct dfdn_rises {
	uint8_t *rise;	  /* by turn: 0 or 1 */
	uint32_t longest; /* path from a switch with ends, in hops */
	uint32_t most;	  /* rises on any of these paths; VLs needed, less one */
	bool needless;	  /* the turns of these paths close no cycle even on one VL */
};

/* Up is towards the roots.  Walks all paths: -ECANCELED; free with dfdn_tree_free_rises() all the
 * same. */
int dfdn_tree_find_rises(struct dfdn_rises *r, struct dfdn_tree *x, const uint32_t *roots,
			 uint32_t nroots, struct pace *p);
void dfdn_tree_free_rises(struct dfdn_rises *r);
