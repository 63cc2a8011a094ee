/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load_lanes: balanced paths to many LIDs, some lanes of them side by side.
 *
 * A LID's path follows the loads of all before it, which leaves nothing for a second thread.  So
 * LIDs go in rounds: each lane takes its part of a round, LID by LID, on loads of its own, which
 * are those before the round and what the lane has added; then the loads of all lanes become one.
 * On a fabric with thousands of terminals what the other lanes add meanwhile does not matter.
 * Threads exchange loads once in a round, for that costs more than the choices where cores are far
 * apart. The lanes are the same for any number of threads.
 */
#pragma once

#include "engines/graph/balance/dagset.h"
#include "engines/graph/graph.h"
#include "engines/graph/lft_hops.h"
#include "fabric/base/memory/pool.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdint.h>

#define LOAD_LANES_ROUND 256 /* LIDs at most */

struct load_lanes;

/* Writes to t.  pool: NULL, one thread.  hops: gets the ports, too, or NULL.  All of them outlive
 * it.  by_ports as in packed_tree_new(). */
struct load_lanes *load_lanes_new(const struct fabric *f, struct tables *t,
				  const struct dagset *set, struct pool *pool,
				  struct lft_hops *hops, bool by_ports);
void load_lanes_free(struct load_lanes *x); /* NULL is fine */

/* Routes n LIDs, at most LOAD_LANES_ROUND, whose DAGs are all in the set; load: routes by channel,
 * those of the LIDs are added; weight: routes by source switch.  was: NULL, or they were routed
 * with that weight: their routes are taken out of the loads first, and their ports by switch go
 * there (n columns of nsw).  Returns the edges looked at. */
uint64_t load_lanes_route(struct load_lanes *x, uint64_t *load, const struct dest *d, uint32_t n,
			  const uint32_t *weight, uint8_t *was);
