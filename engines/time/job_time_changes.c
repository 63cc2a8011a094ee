/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/time/job_time_changes.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>

void job_time_changes_take(struct job_time_changes *out, const struct job_times *before,
			   const struct job_times *after, const struct jobset *jobs)
{
	out->n = 0;
	out->job = xcalloc(jobs->njob + 1u, sizeof(*out->job));
	for (uint32_t j = 0; j < jobs->njob; j++)
		if (before->job[j].flows && !before->job[j].stranded && !after->job[j].stranded)
			out->job[out->n++] = (struct job_time_change){ jobs->jobs[j].id,
								       before->job[j].time.mean,
								       after->job[j].time.mean };
}

const struct job_time_change *job_time_changes_of(const struct job_time_changes *c, uint64_t id)
{
	for (uint32_t i = 0; c && i < c->n; i++)
		if (c->job[i].id == id)
			return &c->job[i];
	return NULL;
}

void job_time_changes_done(struct job_time_changes *c)
{
	free(c->job);
	*c = (struct job_time_changes){ 0 };
}
