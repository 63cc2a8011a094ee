/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sar_traffic: what jobs send while all of them send, phase by phase, by destination.
 *
 * First phases of an all-to-all, in which every job shifts its ranks by a distance of its own, then
 * one phase of each other pattern (job_time.h says what they are).  The distances are drawn
 * job by job from its id, and each is as frequent as the others; they have nothing to do with
 * those by which predictions are made.  At last all that a demand says, at once, as if one more job
 * sent it.
 */
#pragma once

#include "engines/graph/graph.h"
#include "engines/predict/predict.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/demand.h"
#include "fabric/model/traffic/jobset.h"

#include <stdint.h>

/* Whose time is to be small: all else counts far less. */
struct sar_objective {
	enum predict_pattern pattern;
	const struct demand *demand; /* NULL: none, and the pattern is what counts */
};

#define SAR_DEMAND   PREDICT_PATTERNS
#define SAR_PATTERNS (PREDICT_PATTERNS + 1)

struct sar_flow {
	uint32_t sw; /* of the sender */
	uint32_t at; /* job * phases + phase */
	uint16_t phase;
	uint16_t amount; /* 1, but of a demand */
};

struct sar_phases {
	uint32_t first, n;
};

struct sar_traffic {
	struct arena *mem;     /* owns the arrays */
	uint32_t njob, phases; /* the demand is the last job, and the last phase */
	uint32_t alltoall;     /* phases of it: the first ones */
	struct sar_phases of[SAR_PATTERNS];
	unsigned objective;	/* one of these */
	uint32_t *off;		/* nterm+1: flows to a terminal ... */
	struct sar_flow *flows; /* ... by the sender's switch, then phase; none within a switch */
	float *worth;		/* by job and phase: what a unit of time there counts */
	uint32_t most;		/* flows in a phase, but of the demand */
};

/* flows: about so many, over all phases of the all-to-all.  Another sample has other distances.
 * Stops early once p is cancelled. */
void sar_traffic_init(struct sar_traffic *x, const struct fabric *f, const struct jobset *jobs,
		      const struct sar_objective *objective, uint32_t flows, uint64_t sample,
		      struct pace *p);
void sar_traffic_done(struct sar_traffic *x);
