/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_demand: how many ordered pairs of terminals share a job, switch by switch.
 *
 * A pair counts once, however many jobs it shares; pairs on one switch do not count.
 */
#pragma once

#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

#include <stdint.h>

struct job_demand {
	struct arena *mem; /* owns the arrays */
	uint32_t nsw;
	uint64_t *off; /* nsw+1: CSR by source switch ... */
	uint32_t *dst; /* ... destination switches ... */
	uint64_t *pairs;
};

/* Time and memory O(sum over jobs of switches^2 + sum over terminals in several jobs of their
 * partners).  NULL when that is more than max entries. */
struct job_demand *job_demand_new(const struct fabric *f, const struct jobset *jobs, uint64_t max);
void job_demand_free(struct job_demand *d); /* NULL is fine */
