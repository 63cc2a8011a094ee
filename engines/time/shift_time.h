/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shift_time: what shifts over all hosts take, one after the other: what a fabric gives to traffic
 * of which nothing is known.
 *
 * Hosts in the order of their names each send to the one that many places further.  Rates of flows
 * and times are those of job_time.h.
 */
#pragma once

#include "engines/predict/predict.h"
#include "engines/time/phase/phase_mean.h"

#define SHIFT_TIME_ALL UINT32_MAX

struct shift_time_opts {
	uint32_t shifts;      /* look at no more than that, drawn evenly; 0: shift_time_default() */
	uint64_t seed;	      /* of that draw */
	unsigned threads;     /* 0: one per core; never changes the result */
	predict_lids_fn lids; /* NULL: the base LID */
	void *lids_ctx;
};

struct shift_time {
	uint32_t shifts, all;	/* looked at, there are */
	struct phase_mean sync; /* shifts over the sum of their times, each that of its slowest
				 * flow: 1 is without contention */
	struct phase_mean rate; /* of a flow, 0..1 */
	uint64_t flows;		/* between switches; 0: both figures are 1 */
	uint64_t stranded;	/* of them without a path, left out */
};

/* All shifts of up to 1,400 hosts; of more so many that it takes as long, at least 64. */
uint32_t shift_time_default(const struct fabric *f);

/* opts may be NULL.  -ECANCELED; -EINVAL when the tables are of another fabric.  Progress step:
 * "shifts".  O(shifts * hosts * hops). */
int shift_time_compute(struct shift_time *out, const struct fabric *f, const struct tables *t,
		       const struct shift_time_opts *opts, struct progress *progress,
		       struct err *err);

/* What an engine compares two routings by: sync times mean rate, of 64 shifts. */
int shift_time_score(double *score, const struct fabric *f, const struct tables *t,
		     struct progress *progress, struct err *err);
