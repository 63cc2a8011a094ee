/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * updown: which way is up, and the legal paths up*, then down*.
 *
 * Switches are ranked by hops from the roots; a channel goes up when it leads to a smaller
 * (rank, index).  Paths that never turn from down to up cannot deadlock, on one VL, on any
 * graph (Schroeder et al., "Autonet", 1991).
 */
#pragma once

#include "engines/graph/graph.h"
#include "engines/graph/spdag.h"
#include "fabric/base/memory/pool.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct updown {
	uint32_t *rank;	 /* hops from the nearest root */
	uint32_t *place; /* of a switch in the order by (rank, index) */
	uint32_t *order; /* switch at a place */
	/* channels up from a switch: up_off[switch] onwards, and where each leads */
	uint32_t *up_off, *up_chan, *up_dst;
};

void updown_init(struct updown *ud, const struct fabric *f, const uint32_t *roots, uint32_t nroots);
/* The same for switches in that order, the highest first; ranks are all 0. */
void updown_init_order(struct updown *ud, const struct fabric *f, const uint32_t *order);
void updown_done(struct updown *ud);

static inline bool updown_is_up(const struct updown *ud, const struct fabric *f, uint32_t c)
{
	return ud->place[f->chan_dst[c]] < ud->place[f->chan_src[c]];
}

/* The DAG of next hops to root: down along a shortest path where there is one, else up where
 * the rest is shortest; and up, too, where that is shorter than the path down and no other switch
 * needs this one to go down.  So every switch on the way down goes on down, whoever sent the
 * packet. Switches without a legal path come last, next to a switch that has one; returns how many.
 */
uint32_t updown_dag(const struct updown *ud, struct spdag *g, const struct fabric *f,
		    uint32_t root);

/* The first part of that: positions and edges of the switches that go down, and hops of these by
 * switch; the others have neither position nor hops (FAB_NONE). */
void updown_dag_down(const struct updown *ud, struct spdag *g, const struct fabric *f,
		     uint32_t root);

/* How good a ranking is, over all ordered pairs of switches with terminals. */
struct updown_score {
	uint64_t missing; /* pairs without a legal path; from and to are the first of them */
	uint32_t from, to;
	uint64_t hops;
	uint64_t choices; /* edges of the DAGs that can share the load */
};

/* -ECANCELED.  Time O(nsw * nchan).  pool: threads that share it, here and below; NULL: none. */
int updown_score(struct updown_score *out, const struct updown *ud, const struct fabric *f,
		 struct pool *pool, struct pace *p);

/* Hops from the nearest leaf, a switch with at least half as many terminals as the fullest one. */
void updown_leaf_hops(uint32_t *hops, const struct fabric *f);

/* Roots for a fabric that looks like a tree (no cable joins switches at the same distance from
 * the leaves; leaves are the switches with at least half as many terminals as the fullest one):
 * its top level.  Returns the count, 0 when it is no tree.  out: room for nsw. */
uint32_t updown_tree_roots(uint32_t *out, const struct fabric *f);

/* One root that reaches everything: of the switch with the least greatest distance to the
 * others (then the least sum), and the leaf with the same, the one with better paths: fewer
 * hops, then more choices.  -ECANCELED.  Time O(nsw * nchan). */
int updown_single_root(uint32_t *root, const struct fabric *f, struct pool *pool, struct pace *p);
