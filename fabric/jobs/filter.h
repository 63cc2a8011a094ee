/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filter: which jobs are worth new routes, and whether they changed (SC16 Sec. 3.2.1). */
#pragma once

#include "fabric/model/traffic/jobset.h"

#include <stdbool.h>
#include <stdint.h>

struct job_filter {
	uint32_t min_age_s; /* leave out jobs started less than that ago; unknown start passes */
	uint32_t min_nodes; /* leave out smaller ones; 0 and 1: none */
};

/* The multi-switch jobs of js that pass; js must be of f.  Caller owns the result. */
struct jobset *job_filter_apply(const struct job_filter *flt, const struct jobset *js,
				const struct fabric *f, int64_t now_s);

/* Difference of the multi-switch node sets, ids ignored: a job that took over exactly the
 * nodes of an ended one is neither new nor ended. */
struct job_change {
	bool changed;
	uint32_t started, ended, kept;
};

/* Both of one fabric; NULL counts as a set without jobs.
 * O(jobs log jobs) comparisons. */
void job_change(struct job_change *out, const struct jobset *routed_for, const struct jobset *now);
