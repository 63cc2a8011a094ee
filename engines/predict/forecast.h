/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forecast: what traffic is to expect of tables, in the few numbers that fit beside others. */
#pragma once

#include "engines/predict/predict.h"

struct forecast {
	bool known;
	double ebb, ebb_ci95; /* effective bisection bandwidth of the whole fabric */
	bool jobs;	      /* the rest is known: there are jobs that send over links */
	double ebb_jobs;      /* inside all jobs at once */
	/* of jobs in an all-to-all, all at once, against the same job on the quiet fabric */
	double slowdown_mean, slowdown_max;
	uint64_t worst_job; /* id of the one with the maximum */
};

/* With the default numbers of bisections and phases, seed 1; jobs may be NULL.  Errors as of
 * predict_jobs(). */
int forecast_compute(struct forecast *out, const struct fabric *f, const struct tables *t,
		     const struct jobset *jobs, const struct predict_lids *to,
		     struct progress *progress, struct err *err);
