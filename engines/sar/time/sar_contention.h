/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sar_contention: the loads of channels in the phases of sar_traffic.h, and what they cost.
 *
 * A job's phase lasts as long as the greatest load (times what the channel is slower than the
 * fastest host) on the ways of its flows.  A maximum says nothing about what is nearly as slow, so
 * what is to be small instead is the norm of all loads on all of these ways, (sum load^k)^(1/k).
 * It is concave in the sum, so that a move that lowers the sums, each times the derivative there,
 * lowers the norms: with these as weights of flows, the whole cost is a sum over channels and
 * phases, and that of a move is found where it takes place.
 */
#pragma once

#include "engines/graph/lft_hops.h"
#include "engines/sar/time/sar_traffic.h"

/* A channel in a phase. */
struct sar_cell {
	float weight; /* sum of those of the flows */
	uint32_t load;
};

/* A load to the exponent, and how much more the next one has. */
struct sar_power {
	double here, more;
};

struct sar_contention {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	const struct sar_traffic *x;
	struct sar_cell *cell;	 /* by channel * phases + phase */
	float *weight;		 /* of a flow, by job and phase */
	double *norm;		 /* likewise; sums of powers at first */
	struct sar_power *power; /* by load, of up to so many flows */
	uint32_t npower;
	uint32_t *way;	   /* scratch: channels */
	float *slow;	   /* by channel: slowness to the exponent */
	float *slowness;   /* by channel: rate of the fastest host over its own */
	double slow_least; /* of them */
	unsigned exponent;
	double cost;	  /* what was counted: the norms, each as much as it is worth ... */
	double *job_cost; /* ... and the same of each job */
	struct pace *pace;
	uint64_t work; /* cells looked at */
};

/* Time as the flows would see it, and by job (room for njob of sar_traffic.h): the mean over the
 * phases of the objective. */
struct sar_clock {
	double all;  /* mean over jobs that send */
	double cost; /* over all phases and patterns, each as much as it is worth */
	double *job;
};

void sar_contention_init(struct sar_contention *k, const struct fabric *f,
			 const struct sar_traffic *x, bool ignore_rates, struct pace *p);
void sar_contention_done(struct sar_contention *k);

/* Loads and norms again, of the paths in hops; then the weights that follow.  -ECANCELED. */
int sar_contention_measure(struct sar_contention *k, struct lft_hops *hops, unsigned exponent);
int sar_contention_weigh(struct sar_contention *k, struct lft_hops *hops);
/* What those routes take; nothing is counted afterwards.  -ECANCELED. */
int sar_contention_time(struct sar_contention *k, struct lft_hops *hops, struct sar_clock *out);

/* Flows of different phases, but for a few, that go together.  All but the first have an amount
 * of 1. */
struct sar_bundle {
	uint32_t n;
	uint32_t *phase;
	uint32_t *amount;
	float *weight; /* times the amount */
};

/* What the first flows of a bundle would cost on a channel. */
struct sar_burden {
	double cost;
	uint32_t n;
};

/* What the channel would cost less without the bundle. */
double sar_contention_relief(struct sar_contention *k, uint32_t chan, const struct sar_bundle *b);
/* What it would cost more with it, or at least most; so far is what is known of that. */
double sar_contention_burden(struct sar_contention *k, uint32_t chan, const struct sar_bundle *b,
			     struct sar_burden *so_far, double most);
/* Takes it out or puts it in; returns the difference. */
double sar_contention_take(struct sar_contention *k, uint32_t chan, const struct sar_bundle *b);
double sar_contention_put(struct sar_contention *k, uint32_t chan, const struct sar_bundle *b);
