/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workload: jobs that come and go on a simulated fabric, and the traffic they make.
 *
 * Poisson arrivals, sizes that are mostly powers of two, first-fit placement by node name that
 * fragments as it would on a real machine.  Jobs send all the time, at full rate where they can:
 * an all-to-all, one shift of the ranks after the other; the next exchange begins when the bytes of
 * the one before are sent.  Time is the caller's: nothing happens between two calls of
 * workload_advance() and workload_send().  Same fabric, options and steps: same jobs and flows.
 * Not thread-safe.
 */
#pragma once

#include "fabric/jobs/job_list.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/sim/device/sim.h"

#include <stdbool.h>
#include <stdint.h>

struct workload_opts {
	uint64_t seed;
	double busy;	     /* share of the nodes that jobs hold, 0..1; 0: 0.87 */
	double mean_s;	     /* mean run time of a job; 0: 1800 */
	double exchange_s;   /* that an exchange takes at full rate; 0: 0.1 */
	int64_t start_s;     /* Unix time at the first step; 0: 1767225600 */
	const double *sizes; /* weights of jobs of 1, 2, 4, ... nodes; NULL: a usual mix */
	uint32_t nsizes;
};

struct workload;

/* The machine is busy from the start.  Keeps a reference to f.  opts may be NULL.
 * NULL when f has less than two compute terminals. */
struct workload *workload_new(const struct fabric *f, const struct workload_opts *opts);
void workload_free(struct workload *w); /* NULL is fine */

/* Lets dt_s >= 0 seconds pass: jobs start and end. */
void workload_advance(struct workload *w, double dt_s);

/* What the flows of workload_flows() got for so many seconds, as sim_flow_rates() tells; n of them.
 * A job has sent as much as the slowest of its flows.  Where jobs have started or ended since,
 * nothing happens. */
void workload_send(struct workload *w, const double *Bps, uint32_t n, double dt_s);

int64_t workload_now_s(const struct workload *w); /* Unix time */
uint32_t workload_nodes(const struct workload *w);
uint32_t workload_busy(const struct workload *w); /* nodes with a job */

/* Change with every job that starts or ends, and with every other set of flows. */
uint64_t workload_jobs_serial(const struct workload *w);
uint64_t workload_flows_serial(const struct workload *w);

/* The jobs that run now; the caller puts it. */
const struct job_list *workload_jobs(struct workload *w);

/* What the jobs offer to send from now on, for sim_set_flows(): ascending src, a terminal never
 * to itself, a group for each job.  Valid until the next call of any of these functions. */
const struct sim_flow *workload_flows(struct workload *w, uint32_t *n);
