/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * phase_jobs: phases in which every job sends flows of its own, and how long each of them takes.
 *
 * All jobs send at the same time.  A job's time in a phase is the load of its slowest flow against
 * what the ports of its own hosts take for as many messages: 1 at best.
 */
#pragma once

#include "engines/time/phase/phase_load.h"
#include "fabric/base/message/progress.h"

struct phase_jobs {
	const struct predict_paths *paths;
	uint32_t njob, phases;
	/* A phase has so many rounds, one after the other; its time is their mean. */
	unsigned rounds;
	/* Adds the flows of a job.  Called by several threads. */
	void (*add)(void *ctx, struct rank_flows *out, uint32_t phase, unsigned round,
		    uint32_t job);
	/* How many messages a host of the job sends at the same time. */
	uint32_t (*messages)(void *ctx, uint32_t job);
	void *ctx;

	/* By phase_jobs_run(), [job * phases + phase]: */
	double *time;
	uint64_t *flows, *stranded; /* between switches; of these those without a path */
	struct phase_jobs_worker *worker;
	struct progress *progress;
	const char *step;
};

/* mem owns the results.  threads as for pool_new().  True: cancelled. */
bool phase_jobs_run(struct phase_jobs *p, struct arena *mem, unsigned threads,
		    struct progress *progress, const char *step);
