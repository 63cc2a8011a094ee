/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_time: what the messages of jobs take while all jobs send.
 *
 * In every phase all jobs send at once.  The load of a channel between switches is the number of
 * flows over it times the rate of the fastest host over its own; a flow's rate is 1 over the
 * greatest load on its way, at most 1; the phase of a job takes 1 over the rate of its slowest
 * flow.  So the unit is what a message takes that nothing contends with.  Pairs on one switch do
 * not count.
 *
 * All-to-all: in each phase every job shifts its ranks by a random distance of its own.  Shift:
 * one phase, by half the ranks.  Rings and stencils: one phase, in which a rank sends to all its
 * neighbours at once; a flow's rate is then at most 1 over the number of these messages, and the
 * time is divided by it.
 */
#pragma once

#include "engines/predict/predict.h"
#include "engines/time/phase/phase_mean.h"

#define JOB_TIME_PHASES 64 /* of an all-to-all */

struct job_time_opts {
	enum predict_pattern pattern;
	uint32_t phases;      /* of an all-to-all; 0: JOB_TIME_PHASES */
	uint64_t seed;	      /* of the distances */
	unsigned threads;     /* 0: one per core; never changes the result */
	predict_lids_fn lids; /* NULL: the base LID */
	void *lids_ctx;
};

struct job_time {
	uint32_t ranks;
	uint64_t flows;	   /* between switches, over all phases; 0: times are 1 and not counted */
	uint64_t stranded; /* of them without a path, left out */
	struct phase_mean time; /* at least 1 */
	double s_per_MiB;	/* seconds for each MiB that a port of a rank sends, no less than
				 * its slowest host allows; NAN: rates of hosts are not known */
};

struct job_times {
	uint32_t njob, phases;
	uint32_t counted; /* jobs with flows; without any all times are 1 */
	struct job_time *job;
	double *phase; /* [job * phases + phase]: its time there, at least 1 */
	struct phase_mean mean;	     /* over the jobs */
	struct phase_mean node_mean; /* weighted by their nodes */
	struct phase_mean worst;     /* the longest of a job */
	uint32_t worst_job;	     /* the first with that, or FAB_NONE */
	double s_per_MiB;	     /* mean over the jobs */
	uint64_t stranded;
};

/* The distances by which a job of that id shifts in n phases of an all-to-all; with less than two
 * ranks they are left as they are. */
void job_time_shifts(uint32_t *shift, uint32_t n, uint32_t nrank, uint64_t seed, uint64_t id);

/* opts may be NULL: an all-to-all, seed 0.  -ECANCELED; -EINVAL when tables or jobs are of
 * another fabric.  Progress step: "phases".  O(phases * ranks * hops). */
int job_times_compute(struct job_times **out, const struct fabric *f, const struct tables *t,
		      const struct jobset *jobs, const struct job_time_opts *opts,
		      struct progress *progress, struct err *err);
void job_times_free(struct job_times *x); /* NULL is fine */
