/* SPDX-License-Identifier: GPL-2.0-or-later */
/* moments: a history of jobs, walked from one time to the next. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/format/slurm/job_log.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

#include <stdint.h>

struct moments;

/* every_s: seconds between two times, from the first start of a job on; 0: each time at which a job
 * starts or ends.  from_s and to_s: none before, none after; JOB_LOG_ALL: the history's own. log
 * and f are borrowed. */
struct moments *moments_new(const struct job_log *log, const struct fabric *f, uint32_t every_s,
			    int64_t from_s, int64_t to_s);
void moments_free(struct moments *m); /* NULL is fine */

uint32_t moments_count(const struct moments *m);
int64_t moments_time(const struct moments *m, uint32_t i);
/* The jobs that run then; i must not be less than that of the call before.  The caller owns *out.
 * job->given is an index for moments_record(), which holds until the next call. -E2BIG as of
 * job_log_hosts(). */
int moments_jobs(struct jobset **out, struct moments *m, uint32_t i, const char *source,
		 struct err *err);
/* Index in the log of a job by its given. */
uint32_t moments_record(const struct moments *m, uint32_t given);
