/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_time_changes: the time and the rate of each job on one routing and on another. */
#pragma once

#include "engines/time/job_time.h"

struct job_time_change {
	uint64_t id;
	double before, after;		/* times as in struct job_time, in the mean of the phases */
	double rate_before, rate_after; /* as of job_rate_compute(); NAN: not known */
};

struct job_time_changes {
	uint32_t n; /* jobs that send between switches and lose no path, in their order */
	struct job_time_change *job;
};

/* Both of the same jobs, with the same options. */
void job_time_changes_take(struct job_time_changes *out, const struct job_times *before,
			   const struct job_times *after, const struct jobset *jobs);
/* Rates of the same jobs; NULL: they stay unknown. */
void job_time_changes_add_rates(struct job_time_changes *c, const double *before,
				const double *after, const struct jobset *jobs);
/* How many times as much it will send: by its rates, or its times where these are not known. */
double job_time_change_gain(const struct job_time_change *c);
/* NULL: nothing is known of it; c may be NULL. */
const struct job_time_change *job_time_changes_of(const struct job_time_changes *c, uint64_t id);
void job_time_changes_done(struct job_time_changes *c); /* an all-zero one is fine */
