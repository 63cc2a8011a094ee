/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * length_bound: how low the largest load of a channel can be, from lengths of channels.
 *
 * Proof.  Give every channel a length l >= 0 and a capacity c (1 / its weight).  A route from s to
 * t takes at least dist(s, t) of length, so that all routes together put at least
 * sum(pairs(s, t) * dist(s, t)) = sum over channels (routes * l) <= sum(max load * c * l) on them:
 * the largest load is at least sum(pairs * dist) / sum(l * c), whatever the lengths.  With the
 * distances along paths of the fewest hops alone, the same holds for routings that take no others.
 *
 * The lengths grow exponentially with the loads of flows that are divided among paths; every pair
 * moves what it has on longer paths to the shortest one, by Newton steps, and the exponent rises
 * once that gains little (compare Bienstock, "Potential function methods for approximately solving
 * linear programming problems", 2002).  The largest load of that flow is above the optimum of the
 * linear program, so that both sides of it are proven.
 */
#pragma once

#include "fabric/model/topology/chan_weight.h"
#include "engines/metrics/job_demand.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/topology/fabric.h"

enum length_paths { LENGTH_ANY, LENGTH_SHORTEST }; /* in hops */

struct length_bound {
	double lower; /* of any routing; in routes on a channel of the fastest rate */
	double upper; /* what a routing reaches that divides pairs among paths; 0: not known */
};

#define LENGTH_WORK	  300000000 /* about a second */
#define LENGTH_WORK_QUICK 2000000   /* some milliseconds */

/* work: channels that may be looked at; too few for this fabric: both are 0.  lengths, unless NULL:
 * by channel those of the bound, of which sum(l * c) is 1.  -ECANCELED.  Deterministic. */
int length_bound_compute(struct length_bound *out, double *lengths, const struct fabric *f,
			 const struct chan_weights *weights, const struct job_demand *demand,
			 enum length_paths paths, uint64_t work, struct progress *progress,
			 const char *step);
