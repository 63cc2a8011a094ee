/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/time/job_time_changes.h"

#include "fabric/base/memory/mem.h"

#include <math.h>
#include <stdlib.h>

void job_time_changes_take(struct job_time_changes *out, const struct job_times *before,
			   const struct job_times *after, const struct jobset *jobs)
{
	out->n = 0;
	out->job = xcalloc(jobs->njob + 1u, sizeof(*out->job));
	for (uint32_t j = 0; j < jobs->njob; j++)
		if (before->job[j].flows && !before->job[j].stranded && !after->job[j].stranded)
			out->job[out->n++] =
				(struct job_time_change){ jobs->jobs[j].id,
							  before->job[j].time.mean,
							  after->job[j].time.mean, NAN, NAN };
}

/* The jobs of c are some of all, in their order. */
void job_time_changes_add_rates(struct job_time_changes *c, const double *before,
				const double *after, const struct jobset *jobs)
{
	uint32_t i = 0;

	for (uint32_t j = 0; before && after && i < c->n && j < jobs->njob; j++) {
		if (c->job[i].id != jobs->jobs[j].id)
			continue;
		c->job[i].rate_before = before[j];
		c->job[i++].rate_after = after[j];
	}
}

double job_time_change_gain(const struct job_time_change *c)
{
	double gain = c->rate_after / c->rate_before;

	return isfinite(gain) ? gain : c->before / c->after;
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
