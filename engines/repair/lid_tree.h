/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lid_tree: who reaches a LID by the tables, and in how many hops.
 *
 * A path stands where every entry of it leads over a cable that is there, to the switch on which
 * the LID ends now.
 */
#pragma once

#include "engines/graph/graph.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

#define LID_TREE_BROKEN UINT16_MAX

struct lid_tree {
	const struct fabric *f;
	uint32_t dst;	 /* the LID's switch */
	uint32_t *chan;	 /* by switch: where its entry leads; FAB_NONE: nowhere */
	uint16_t *hops;	 /* by switch: channels to dst; LID_TREE_BROKEN: it does not get there */
	uint32_t *order; /* those that get there, the farthest first */
	uint32_t norder;
	uint32_t *stack, *start; /* scratch */
};

void lid_tree_init(struct lid_tree *x, const struct fabric *f);
void lid_tree_done(struct lid_tree *x);

/* ports: of all switches towards the LID, a byte each; out: channels by fabric port
 * (lft_columns_ports()).  Returns how many do not get there.  O(switches). */
uint32_t lid_tree_read(struct lid_tree *x, const uint8_t *ports, const uint32_t *out, uint32_t dst);
