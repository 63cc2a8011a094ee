/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load_jobs: the jobs of a file (fabric/format/slurm/jobs_file.h); "-" is stdin. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/format/slurm/job_log.h"
#include "fabric/jobs/placement.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

/* Which jobs of a history. */
struct jobs_moment {
	bool at_said;
	int64_t at_s;	   /* those that run then */
	const char *since; /* of SLURM's accounting, "30d"; NULL: not said */
	enum placement placement;
	bool placement_said;
	uint64_t seed; /* of it */
};

#define JOBS_SACCT "slurm" /* a history of that name, where no such file is: what sacct says */

/* All jobs of it, or when says which (NULL: all).  The log is told of what is odd: nodes that the
 * fabric does not have, jobs that share nodes, a history taken as one moment, a file without a job.
 */
int load_jobs(struct jobset **out, const char *path, const struct jobs_moment *when,
	      const struct fabric *f, struct err *err);

/* The whole history, with nodes for all jobs; source: as messages show it.  -ENODATA: no job is in
 * it, or none has times. */
int load_job_log(struct job_log **out, char source[32], const char *path,
		 const struct jobs_moment *when, const struct fabric *f, struct err *err);

/* A line of the log where nodes of jobs are not certain. */
void load_jobs_tell_names(const struct jobset *js, const struct fabric *f);
