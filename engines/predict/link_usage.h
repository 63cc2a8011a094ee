/* SPDX-License-Identifier: GPL-2.0-or-later */
/* link_usage: whose routes are on which channel and lane, and how the jobs will get on with each
 * other: what there is to know of installed tables beyond the figures in metrics. */
#pragma once

#include "engines/metrics/chan_dests.h"
#include "engines/metrics/job_routes.h"
#include "engines/metrics/vl_usage.h"
#include "engines/predict/predict.h"

struct link_usage {
	uint64_t serial;	     /* another one for each that is computed; never 0 */
	const struct fabric *fabric; /* own references */
	const struct tables *tables;
	const struct jobset *jobs;   /* NULL: none known */
	struct vl_usage *lanes;	     /* NULL: not wanted */
	struct job_routes *routes;   /* NULL without jobs */
	struct prediction *together; /* all-to-all of all jobs at once; NULL without jobs */
	struct chan_dests *dests;
};

/* jobs may be NULL; lanes: which ones are wanted too, for which the
 * tables must hold the SLs of paths.  Errors as of the parts.
 * At 2,064 switches about a second of one core. */
int link_usage_compute(struct link_usage **out, const struct fabric *f, const struct tables *t,
		       const struct jobset *jobs, bool lanes, struct progress *progress,
		       struct err *err);
void link_usage_free(struct link_usage *u); /* NULL is fine */

/* Index of a job in u->jobs by its id, FAB_NONE when it was not there; u may be NULL. */
uint32_t link_usage_job(const struct link_usage *u, uint64_t id);
/* What an all-to-all of that job takes while all jobs send, against it alone; NAN unknown. */
double link_usage_slowdown(const struct link_usage *u, uint64_t id);
/* Of the messages of that all-to-all those that have no path, in percent; NAN unknown. */
double link_usage_lost_pct(const struct link_usage *u, uint64_t id);
