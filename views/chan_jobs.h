/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chan_jobs: whose routes go over a channel. */
#ifndef VIEWS_CHAN_JOBS_H
#define VIEWS_CHAN_JOBS_H

#include "fabric/model/fabric.h"
#include "fabric/model/jobset.h"
#include "fabric/model/tables.h"

#include <stdbool.h>
#include <stdint.h>

#define CHAN_JOBS 8

struct chan_job {
	uint32_t job;	 /* index in the job set */
	uint64_t routes; /* of its pairs of hosts, over this channel */
};

struct chan_jobs {
	uint32_t njob; /* jobs with a route over it, also those that are not listed */
	uint32_t n;
	struct chan_job top[CHAN_JOBS]; /* most routes first */
	uint64_t routes;		/* of all jobs */
	bool sampled; /* the figures are of a part of the destinations: too many for one frame */
};

/* Walks the routes of all pairs that share a job, to the base LIDs; where these are too many
 * for one frame, those from every n-th source of a job. */
void chan_jobs_find(struct chan_jobs *out, const struct fabric *f, const struct tables *t,
		    const struct jobset *jobs, uint32_t chan);

#endif
