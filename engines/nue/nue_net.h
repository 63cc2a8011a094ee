/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nue_net: what all layers look at and none changes. */
#pragma once

#include "fabric/model/topology/chan_weight.h"
#include "engines/graph/graph.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct nue_net {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	struct chan_weights weights;
	bool *bare;	 /* by switch: has no ends, so that no packet begins there */
	bool *idle;	 /* by switch: has no terminals, so that nobody minds how far it is */
	bool parallel;	 /* has parallel cables, and is no tree */
	bool tree;	 /* the fabric looks like a tree, ranked like that: */
	uint32_t *at;	 /* switches, the highest first */
	uint32_t *place; /* of a switch in at */
	bool even;	 /* a tree where the hosts of a switch share its cables up exactly */
};

/* -ECANCELED; to be freed in any case.  The fabric is connected. */
int nue_net_init(struct nue_net *net, const struct fabric *f, bool ignore_rates, struct pace *pace);
void nue_net_done(struct nue_net *net);

#define NUE_NET_MANY 64

/* Hops to n of the switches, NUE_NET_MANY at most, all of them in one search, a bit each: by index
 * in dst * nsw + switch.  Time goes with the channels times the hops to the farthest switch. */
void nue_net_hops(const struct nue_net *net, const uint32_t *dst, uint32_t n, uint16_t *hops);
