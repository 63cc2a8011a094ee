/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packed_tree: the least loaded tree of one LID in a DAG as dagset keeps it.
 *
 * No DAG is unpacked nor any load copied.  Most switches of low-diameter networks are where no edge
 * arrives: they choose and send at once, since nobody asks what they cost and nobody else loads
 * their channels.
 */
#pragma once

#include "engines/graph/balance/dagset.h"
#include "fabric/model/topology/chan_weight.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct packed_tree;

/* load: routes by channel, the caller's, as in the next two.  by_ports: each switch looks at its
 * own channels only, else at the sum over the whole path. */
struct packed_tree *packed_tree_new(const struct fabric *f, uint64_t *load, bool by_ports);
void packed_tree_free(struct packed_tree *t); /* NULL is fine */

/* Chooses the ports of a LID, to port by switch but for the root, and adds its routes to the loads;
 * weight: routes by source switch.  Returns the edges looked at. */
uint64_t packed_tree_route(struct packed_tree *t, const struct packed_dag *g,
			   const uint32_t *weight, uint8_t *port);

/* Adds the routes of a LID with those ports to the loads, times the channels' weights, or takes
 * them away: sign 1 or -1.  Returns the edges looked at. */
uint64_t packed_tree_count(struct packed_tree *t, const struct packed_dag *g,
			   const uint32_t *weight, const uint8_t *port,
			   const struct chan_weights *weights, int64_t sign);
