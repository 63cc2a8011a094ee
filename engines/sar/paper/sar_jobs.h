/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sar_jobs: who sends to whom inside the jobs, as the methods of sar need it.
 *
 * Every terminal belongs to the group of its largest job (descending size, then job id); jobs
 * on a single switch have no inter-switch path and no group.  A terminal in several jobs has the
 * terminals of all of them as sources, each once.
 */
#pragma once

#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

#include <stdint.h>

struct sar_source {
	uint32_t sw;
	uint32_t n; /* terminals on it that send */
};

struct sar_job_members {
	uint32_t job;	 /* in the job set */
	uint32_t *terms; /* by switch, then port */
	uint32_t nterm;
	struct sar_source *sources; /* of the job: descending n, then switch */
	uint32_t nsource;
};

struct sar_jobs {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	const struct jobset *jobs;     /* NULL: none */
	struct sar_job_members *group; /* in the order of the job set; some may have no terminals */
	uint32_t ngroup;
	uint32_t *members_of;	     /* by terminal; FAB_NONE without a job over several switches */
	uint32_t *terms;	     /* those of all groups */
	struct sar_source *sources;  /* likewise */
	struct sar_source *together; /* scratch: of a terminal in several jobs */
	uint32_t *seen, *at, stamp;
};

void sar_jobs_init(struct sar_jobs *s, const struct fabric *f, const struct jobset *jobs);
void sar_jobs_done(struct sar_jobs *s);

/* The sources of a terminal with a group, in descending n, then switch; the terminal itself counts
 * as one.  Valid until the next call. */
const struct sar_source *sar_jobs_sources(struct sar_jobs *s, uint32_t term, uint32_t *n);
