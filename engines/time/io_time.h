/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io_time: what the I/O of jobs takes while all jobs do it: all nodes of each job to the I/O nodes
 * (terminals of kind TERM_STORAGE), and back.
 *
 * In each phase the rank i of every job writes to I/O node i + k, and then reads from it; k counts
 * the phases, as many as there are I/O nodes, or IO_TIME_PHASES of them, evenly.  Rates of flows
 * and times are those of job_time.h: contention on channels between switches, not on the ports of
 * the I/O nodes, which no routing can change.
 */
#pragma once

#include "engines/predict/predict.h"
#include "engines/time/phase/phase_mean.h"

#define IO_TIME_PHASES 64

struct io_time {
	uint32_t nodes;	  /* terminals for I/O; 0: none are known, and the rest is not set */
	uint64_t efi_max; /* routes between nodes of jobs and I/O nodes on the fullest channel */
	uint32_t jobs;	  /* with flows to I/O nodes on other switches; 0: times are 1 */
	uint64_t stranded;
	struct phase_mean mean, worst; /* over these jobs; both ways, at least 1 */
	uint64_t worst_job;	       /* its id */
	double s_per_MiB;	       /* mean; NAN: rates of hosts are not known */
};

struct io_time_opts {
	unsigned threads;     /* 0: one per core; never changes the result */
	predict_lids_fn lids; /* NULL: the base LID */
	void *lids_ctx;
};

/* Errors as of job_times_compute().  Progress step: "I/O".  Nodes that are for I/O themselves do
 * not count as nodes of jobs. */
int io_time_compute(struct io_time *out, const struct fabric *f, const struct tables *t,
		    const struct jobset *jobs, const struct io_time_opts *opts,
		    struct progress *progress, struct err *err);
