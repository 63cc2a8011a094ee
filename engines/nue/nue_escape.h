/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nue_escape: the spanning tree of a layer by which every end reaches its destinations, and the
 * order of the channels that the layer's search begins with.
 */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct nue_escape {
	struct arena *mem; /* owns the arrays */
	uint32_t root;
	uint32_t *at;	/* switches by hops from the root */
	uint32_t *up;	/* by switch: channel to its parent, FAB_NONE at the root */
	uint32_t *to;	/* by switch: destinations in its subtree */
	uint32_t *from; /* by switch: switches with ends in its subtree */
};

/* f is connected.  to: by switch, whether it is a destination of the layer. */
void nue_escape_init(struct nue_escape *e, const struct fabric *f, uint32_t root, const bool *to);
void nue_escape_done(struct nue_escape *e);

/* Calls add for every turn of the tree on a path from an end to a destination. */
void nue_escape_turns(const struct nue_escape *e, const struct fabric *f,
		      void (*add)(void *ctx, uint32_t c, uint32_t d), void *ctx);

/* Next channel by switch towards dst along the tree; FAB_NONE at dst. */
void nue_escape_path(const struct nue_escape *e, const struct fabric *f, uint32_t dst,
		     uint32_t *next);

/* All channels in an order in which every path climbs that goes towards the front of at[] first
 * and towards its end then: at lists the switches, place is where each of them is. */
void nue_escape_order(uint32_t *order, const struct fabric *f, const uint32_t *at,
		      const uint32_t *place);
