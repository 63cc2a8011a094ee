/* SPDX-License-Identifier: GPL-2.0-or-later */
/* time_summary: the times of jobs and shifts on one routing, in the few numbers that are shown. */
#pragma once

#include "engines/time/demand_time.h"
#include "engines/time/io_time.h"
#include "engines/time/shift_time.h"
#include "engines/time/time_memo.h"

#define TIME_SUMMARY_QUICK 64 /* shifts, where somebody waits for it */

struct pattern_time {
	struct phase_mean mean, node_mean, worst; /* as in struct job_times */
	uint64_t worst_job;			  /* its id */
	double s_per_MiB;
};

struct time_summary {
	bool known;
	bool jobs; /* some job sends over links; else the patterns are not filled in */
	struct pattern_time of[PREDICT_PATTERNS];
	struct shift_time shift;
	struct demand_time demand;
	struct io_time io; /* nodes 0: no jobs, or no I/O nodes are known */
};

struct time_summary_opts {
	uint32_t shifts;	     /* as in struct shift_time_opts */
	const struct demand *demand; /* NULL: none */
	uint64_t seed;
	unsigned threads;     /* 0: one per core; never changes the result */
	predict_lids_fn lids; /* NULL: the base LID */
	void *lids_ctx;
	struct time_memo *memo; /* of what was measured before; NULL: nothing */
};

/* jobs may be NULL, as opts (seed 1); sheet, unless NULL, takes the jobs one by one: NULL without
 * jobs, else a reference.  Errors as of the parts. */
int time_summary_compute(struct time_summary *out, struct time_sheet **sheet,
			 const struct fabric *f, const struct tables *t, const struct jobset *jobs,
			 const struct time_summary_opts *opts, struct progress *progress,
			 struct err *err);
