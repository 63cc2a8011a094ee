/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * min_load_tree: least-loaded trees, one destination LID after another.
 *
 * OpenSM's DFSSSP gives every link the start weight P^2, so that its Dijkstra finds the paths
 * with the fewest hops and among those the least sum of loads.  The hops are known from the
 * DAG, so what is left is one pass over its edges per LID, without a heap, and one pass back
 * that adds the new routes to the loads (Domke et al., SC16 Sec. 3.2; Hoefler et
 * al., "Optimized routing for large-scale InfiniBand networks", 2009).
 */
#pragma once

#include "fabric/model/topology/chan_weight.h"
#include "engines/graph/balance/dagset.h"
#include "engines/graph/graph.h"
#include "engines/graph/lft_hops.h"
#include "engines/graph/balance/load_lanes.h"
#include "engines/graph/spdag.h"
#include "fabric/base/memory/pool.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/tables/tables.h"

#include <stdint.h>

enum min_load_rule {		    /* loads count routes, times the channel's weight */
		     BALANCE_PATHS, /* least sum of loads over the whole path */
		     BALANCE_PORTS, /* least loaded channel of each switch alone, the sources decide
				       first */
};

struct min_load_tree;

/* Writes to t, which must outlive it.  Paths are shortest ones unless build says otherwise:
 * it fills the DAG for a destination switch. */
typedef void (*balance_build_fn)(void *ctx, struct spdag *g, const struct fabric *f, uint32_t root);
struct min_load_tree *min_load_tree_new(const struct fabric *f, struct tables *t,
					enum min_load_rule rule, balance_build_fn build, void *ctx);
void min_load_tree_free(struct min_load_tree *b); /* NULL is fine */

/* DAGs are taken from there where it has them; it must outlive b. */
void min_load_tree_use(struct min_load_tree *b, const struct dagset *set);

/* The hops of terminals' LIDs that are routed also go there; it must outlive b. */
void min_load_tree_tell(struct min_load_tree *b, struct lft_hops *hops);

/* Threads that build DAGs and choose ports; it must outlive b, and whoever builds must not mind
 * several of them.  Changes no table. */
void min_load_tree_share(struct min_load_tree *b, struct pool *pool);

/* Channels of different rates: loads are routes times these weights, which must outlive b. */
void min_load_tree_weigh(struct min_load_tree *b, const struct chan_weights *weights);

/* Routes so far by channel, times its weight; the caller may set them between two LIDs. */
uint64_t *min_load_tree_loads(struct min_load_tree *b);

/* Takes the routes of a LID that was routed with that weight out of the loads again. */
uint64_t min_load_tree_take_out(struct min_load_tree *b, const struct dest *d,
				const uint32_t *weight);
/* Adds those of a LID as the tables have it, whoever routed it, along shortest paths. */
uint64_t min_load_tree_put_in(struct min_load_tree *b, const struct dest *d,
			      const uint32_t *weight);

/* Routes n LIDs, one after another, that all end on the same switch.  weight: routes by
 * source switch that each LID adds to the loads; NULL: the LIDs add nothing.
 * Returns the edges looked at.  Time O(n * (edges + switches)). */
uint64_t min_load_tree_route(struct min_load_tree *b, const struct dest *d, uint32_t n,
			     const uint32_t *weight);
/* The same inside a DAG of the caller's, built for their switch. */
uint64_t min_load_tree_route_in(struct min_load_tree *b, const struct spdag *g,
				const struct dest *d, uint32_t n, const uint32_t *weight);

/* Is the fabric so large that up to so many LIDs that follow each other are routed side by side
 * (load_lanes.h), where each ends on another switch and their DAGs are kept? */
#define MIN_LOAD_TREE_MOST LOAD_LANES_ROUND
bool min_load_tree_in_lanes(const struct fabric *f);

/* Routes some of n LIDs that count alike, in that order, and returns how many: at least the first.
 * Cheapest where each ends on another switch than the one before and their DAGs are kept
 * (min_load_tree_use()).  *work: edges looked at. */
uint32_t min_load_tree_route_some(struct min_load_tree *b, const struct dest *d, uint32_t n,
				  const uint32_t *weight, uint64_t *work);

/* Routes n LIDs that count alike, those of a switch one after another and then those of the next;
 * and beside them nrest LIDs that add nothing to the loads, as if there were none.  The threads of
 * min_load_tree_share() do all but choose the ports of the n LIDs.  *done as in
 * min_load_tree_route_all().  -ECANCELED. */
int min_load_tree_route_by_switch(struct min_load_tree *b, const struct dest *d, uint32_t n,
				  const uint32_t *weight, const struct dest *rest, uint32_t nrest,
				  struct pace *p, uint64_t *done);

/* Routes some of n LIDs that were routed with that weight once more: takes all out of the loads
 * before, and puts their ports by switch to was (room for MIN_LOAD_TREE_MOST columns of nsw). */
uint32_t min_load_tree_route_again(struct min_load_tree *b, const struct dest *d, uint32_t n,
				   const uint32_t *weight, uint8_t *was, uint64_t *work);
/* The last of those are in the tables only after this. */
void min_load_tree_settle(struct min_load_tree *b);

/* LIDs from the first on that may go to min_load_tree_route() together: they end on one switch and
 * count alike, and are few enough to cancel soon. */
uint32_t min_load_tree_run(const struct min_load_tree *b, const struct dest *d, uint32_t n);

/* Routes every LID of dests in that order; a terminal's LID adds one route per terminal of the
 * fabric, other LIDs nothing.  A switch's own LID goes the way of the first terminal's base
 * LID on that switch, which must be routed already, so that it needs no turn (and so no VL)
 * of its own.  -ECANCELED.  Adds the LIDs routed to *done, which is what p reports. */
int min_load_tree_route_all(struct min_load_tree *b, const struct dest *dests, uint32_t n,
			    struct pace *p, uint64_t *done);
