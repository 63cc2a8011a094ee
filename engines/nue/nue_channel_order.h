/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nue_channel_order: the channels in the order of a layer, sorted at each switch. */
#pragma once

#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/fabric.h"

#include <stdint.h>

/* A channel by its place in the order, and the switch at its other end. */
struct nue_ordered_channel {
	uint32_t place;
	uint32_t sw;
};

struct nue_channel_order {
	uint32_t *chan;			 /* by place */
	struct nue_ordered_channel *in;	 /* from chan_off of a switch: into it, ascending */
	struct nue_ordered_channel *out; /* the same: out of it, descending */
	uint32_t *fill;			 /* by switch */
};

/* The arrays are in mem. */
void nue_channel_order_init(struct nue_channel_order *o, const struct fabric *f, struct arena *mem);

/* Sorts again; place is that of every channel.  Time goes with the channels. */
void nue_channel_order_sort(struct nue_channel_order *o, const struct fabric *f,
			    const uint32_t *place);
