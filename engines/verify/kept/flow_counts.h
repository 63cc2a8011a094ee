/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow_counts: how many ends send over every channel, turn and port of delivery, by lane.
 *
 * A lane is an SL on a VL: what a packet is on a channel.  Counts are of pairs (end, LID), so that
 * what some paths take along with them can be taken off again.
 */
#pragma once

#include "engines/verify/kept/moved_paths.h"
#include "fabric/model/tables/tables.h"

#include <stdbool.h>
#include <stdint.h>

#define FLOW_LANES 32
#define FLOW_VLS   15 /* 0 to 14 */
#define NO_LANE	   0xff

/* Told of each dependency that is new; false: that is not allowed. */
struct flow_watch {
	bool (*added)(void *ctx, uint32_t c, unsigned vl, uint32_t e, unsigned vl2);
	void *ctx;
};

struct flow_counts {
	const struct fabric *f;
	const struct tables *t; /* of the SL2VL tables */
	struct {
		uint8_t sl, vl;
	} lane[FLOW_LANES];
	uint32_t n;		       /* lanes that may be */
	uint8_t of[FAB_SLS][FLOW_VLS]; /* lane by SL and VL; NO_LANE */
	bool by_vl;		       /* no two lanes have the same VL */
	size_t *base;		       /* turn (c, e): base[c] + e; delivered: chan_off[dst + 1] */
	size_t nturns;
	uint32_t *turn;		      /* [turn * n + lane] */
	uint32_t *chan;		      /* [chan * n + lane] */
	uint32_t *port;		      /* [fabric port * FLOW_VLS + VL] */
	uint32_t *flow;		      /* scratch: [switch * n + lane] */
	uint64_t of_lane[FLOW_LANES]; /* over all channels */
	uint64_t vertices, edges;     /* (channel, VL) in use, dependencies in use */
	bool lost;		      /* something is dropped, or on no lane */
	uint8_t *gone;		      /* by switch: its ends send nothing */
	/* ends that stand for those of their switch with the same SLs and SL2VL tables */
	uint32_t *source_off, *source, *ends;
	struct flow_watch watch;
};

/* -ENOTSUP: there are more lanes than fit. */
int flow_counts_init(struct flow_counts *x, const struct fabric *f, const struct tables *t);
void flow_counts_done(struct flow_counts *x);

/* What the ends of those switches send by the paths as they were followed; sign 1 or -1.  False:
 * something does not arrive, or watch did not want it. */
bool flow_counts_add(struct flow_counts *x, const struct moved_paths *m, int sign);

/* What the ends on the LID's own switch send to it. */
bool flow_counts_add_own(struct flow_counts *x, const struct moved_paths *m, int sign);

/* VL on e behind the turn (c, e) of that lane. */
uint8_t flow_counts_next_vl(const struct flow_counts *x, uint32_t c, uint32_t e, uint32_t lane);

static inline uint32_t flow_counts_of_turn(const struct flow_counts *x, uint32_t c, uint32_t e,
					   uint32_t lane)
{
	return x->turn[(x->base[c] + e) * x->n + lane];
}
