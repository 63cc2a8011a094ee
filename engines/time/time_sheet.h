/* SPDX-License-Identifier: GPL-2.0-or-later */
/* time_sheet: the times of jobs for every pattern, on one routing. */
#pragma once

#include "engines/time/job_time.h"

struct time_sheet {
	int refs;
	struct job_times *of[PREDICT_PATTERNS];
};

/* The caller's, of one thread at a time; opts may be NULL (seed 1), its pattern does not count.
 * Errors as of job_times_compute(). */
int time_sheet_compute(struct time_sheet **out, const struct fabric *f, const struct tables *t,
		       const struct jobset *jobs, const struct job_time_opts *opts,
		       struct progress *progress, struct err *err);
struct time_sheet *time_sheet_get(struct time_sheet *s);
void time_sheet_put(struct time_sheet *s); /* NULL is fine */
