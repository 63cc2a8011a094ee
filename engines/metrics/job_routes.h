/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_routes: which channels the routes inside each job take and how many of them, and the same
 * the other way round: which jobs are on a channel.
 *
 * Counted as in metrics: one route per ordered pair of terminals of the job, to the base LID.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

struct job_routes {
	struct arena *mem; /* owns the arrays */
	uint32_t njob, nchan;
	/* by job: channels ascending, each with at least one route */
	uint64_t *off; /* njob + 1 */
	uint32_t *chan, *routes;
	/* by channel: jobs by routes, most first */
	uint64_t *chan_off; /* nchan + 1 */
	uint32_t *job, *job_routes;
};

/* -EINVAL when tables or jobs are of another fabric; -ECANCELED.  Progress step: "job routes".
 * Time O(LIDs of jobs * switches of the job). */
int job_routes_compute(struct job_routes **out, const struct fabric *f, const struct tables *t,
		       const struct jobset *jobs, struct progress *progress, struct err *err);
void job_routes_free(struct job_routes *r); /* NULL is fine */

/* Routes of a job over a channel; 0: none.  O(log channels of the job). */
uint32_t job_routes_on(const struct job_routes *r, uint32_t job, uint32_t chan);
