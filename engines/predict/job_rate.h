/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_rate: what share of its full rate each job sends at while all jobs send, each an all-to-all
 * of its own: what ports will count of it, where its time (job_time.h) takes links for divided
 * among all that ever send over them.
 *
 * A job shifts its ranks by one distance after the other; the next shift follows when the slowest
 * message of this one is sent, whatever others do.  So all flows of a job have one rate, and what
 * the faster ones do not need is left to others: jobs share links max-min fairly.  Step by step
 * each job sends as much of its shift as its rate allows, and its rate is the mean over the steps:
 * shifts count by how long they take.  On trees packets with credits that do the same (packets.h)
 * are within a tenth of it, mostly within a twentieth.
 */
#pragma once

#include "engines/predict/predict.h"

struct job_rate_opts {
	uint32_t steps;	      /* of all runs together; 0: job_rate_default_steps() */
	uint64_t seed;	      /* of where each job is in its all-to-all at first */
	unsigned threads;     /* 0: one per core; never changes the result */
	predict_lids_fn lids; /* NULL: the base LID */
	void *lids_ctx;
};

/* From the size of the fabric alone. */
uint32_t job_rate_default_steps(const struct fabric *f);

/* rate: by job, the share of what its slowest port sends, in (0..1]; NAN: it sends nothing between
 * switches, or has a flow without a path.  opts may be NULL.  -ECANCELED; -EINVAL when tables or
 * jobs are of another fabric.  Progress step: "rates".  O(steps * ranks * hops * log links). */
int job_rate_compute(double *rate, const struct fabric *f, const struct tables *t,
		     const struct jobset *jobs, const struct job_rate_opts *opts,
		     struct progress *progress, struct err *err);
