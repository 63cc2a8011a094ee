/* SPDX-License-Identifier: GPL-2.0-or-later */
/* predict_fair: max-min fair rates of flows that send at the same time. */
#pragma once

#include "engines/graph/graph.h"
#include "engines/predict/predict_paths.h"
#include "fabric/base/memory/heap.h"

/* Sizes grow with use; all zero to begin with. */
struct fair {
	double *rate; /* result per flow: 1 is the fastest terminal's cable; 0: stranded */

	/* private */
	uint32_t *off;		    /* per flow: its shares ... */
	struct share *share, *user; /* ... by flow, and by link */
	uint32_t cap_flow, cap_share;
	struct link *link; /* per link; unused between calls */
	uint32_t *used;	   /* links with flows */
	uint32_t nused;
	struct heap heap; /* links by the rate at which they are full */
};

void fair_init(struct fair *fr, const struct predict_paths *p);
void fair_done(struct fair *fr);

/*
 * Progressive filling: all rates rise together; where a link is full its flows stay as they are.
 * A flow over several LIDs sends all parts at the pace of the slowest.  flows are those of tr;
 * NULL: its steps are all that there is to share, the cables of the ends among them. True when it
 * was cancelled, as pace says, which gets done.  O(steps log links).
 */
bool fair_rates(struct fair *fr, const struct predict_paths *p, const struct trace *tr,
		const struct flow *flows, struct pace *pace, uint64_t done);
