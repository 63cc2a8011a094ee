/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * phase_load: the loads of channels while all flows of a phase send.
 *
 * The load of a channel is the number of flows over it times the rate of the fastest host over its
 * own; flows between hosts on one switch are on none, and those without a path are left out.
 */
#pragma once

#include "engines/predict/job_ranks.h"
#include "engines/predict/predict_paths.h"

struct phase_load {
	struct rank_flows list; /* filled by the caller, then traced */
	struct trace trace;
	double *load; /* per channel; 0 between phases */
	double *most; /* per flow: the greatest load on its way */
	size_t nmost;
};

void phase_load_init(struct phase_load *d, const struct predict_paths *p);
void phase_load_done(struct phase_load *d);
/* Empties the list. */
void phase_load_begin(struct phase_load *d);
/* Finds the ways of the flows that were added to the list since the last call. */
void phase_load_trace(struct phase_load *d, const struct predict_paths *p);
/* All flows are there: fills most.  A flow that is on no channel has 0, one without a path -1. */
void phase_load_measure(struct phase_load *d, const struct predict_paths *p);
