/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chan_dests: to whom the routes over a channel lead. */
#ifndef VIEWS_CHAN_DESTS_H
#define VIEWS_CHAN_DESTS_H

#include "fabric/model/fabric.h"
#include "fabric/model/jobset.h"
#include "fabric/model/tables.h"

#include <stdbool.h>
#include <stdint.h>

#define CHAN_DESTS 12

struct chan_dests {
	bool jobs;	/* routes inside jobs are counted; else those of all hosts */
	uint32_t total; /* terminals with routes */
	uint32_t n;	/* listed, most routes first */
	uint32_t term[CHAN_DESTS];
	uint32_t routes[CHAN_DESTS];
};

/* Routes to base LIDs; jobs may be NULL.  O(destinations over the channel * switches). */
void chan_dests_find(struct chan_dests *out, const struct fabric *f, const struct tables *t,
		     const struct jobset *jobs, uint32_t chan);

/* The same, kept until the channel, the tables or the jobs are others. */
struct chan_dests_kept {
	struct chan_dests dests;
	uint32_t chan;
	uint64_t serial;	     /* of the usage when they were found */
	const struct tables *tables; /* own reference */
};

struct state;
void chan_dests_follow(struct chan_dests_kept *d, const struct state *s, uint32_t chan);
void chan_dests_done(struct chan_dests_kept *d);

#endif
