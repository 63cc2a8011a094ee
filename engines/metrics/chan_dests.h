/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chan_dests: to whom the routes over each channel lead. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

#include <stdbool.h>
#include <stdint.h>

#define CHAN_DESTS 12

struct chan_dest_list {
	uint32_t total; /* terminals with routes over the channel */
	uint32_t n;	/* listed, most routes first, then in order of terminals */
	uint32_t term[CHAN_DESTS];
	uint32_t routes[CHAN_DESTS];
};

struct chan_dests {
	bool jobs; /* routes inside jobs are counted; else those of all hosts */
	uint32_t nchan;
	struct chan_dest_list *of; /* by channel */
};

/* Routes to base LIDs that arrive; jobs may be NULL.  -EINVAL: tables of another fabric;
 * -ECANCELED.  O(terminals * switches). */
int chan_dests_compute(struct chan_dests **out, const struct fabric *f, const struct tables *t,
		       const struct jobset *jobs, struct progress *progress, struct err *err);
void chan_dests_free(struct chan_dests *d); /* NULL is fine */
