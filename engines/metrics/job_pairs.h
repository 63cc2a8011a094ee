/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_pairs: which pairs of hosts of a job are routed over a channel, to their base LIDs. */
#pragma once

#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

#include <stdint.h>

struct job_pair {
	uint32_t src, dst; /* terminals */
};

/* Counts them; the first max in the order of destinations, then sources, are in out (may be NULL
 * when max is 0).  Tables and job must be of f.
 * O(destinations behind the channel * (switches of the job * hops) + pairs written). */
uint64_t job_pairs_find(struct job_pair *out, uint32_t max, const struct fabric *f,
			const struct tables *t, const struct job *j, uint32_t chan);
