/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leafwise: the trees of all jobs' LIDs over tables in the making: grown, counted, moved off the
 * fullest channels, and grown again for the jobs that fare badly.  How these are put together to
 * an engine is in sar_leafwise.h.
 */
#pragma once

#include "engines/engine.h"
#include "engines/graph/balance/dagset.h"
#include "engines/sar/paper/sar_jobs.h"
#include "engines/sar/paper/sar_tree.h"

/* What is to be small: first over, then collisions; see sar_leafwise.h. */
struct leafwise_objective {
	double max, over; /* the maximum; the same where it is far from the bound, else 0 */
	double collisions;
};

/* How much may change. */
enum leafwise_effort {
	LEAFWISE_RELIEVE, /* only paths over full channels move; all are shortest ones */
	LEAFWISE_COOL,	  /* only full channels are looked at */
	LEAFWISE_BUDGET,  /* then jobs that fare badly are helped, within a budget of blocks */
	LEAFWISE_AFRESH,  /* all jobs' trees are grown, whatever is installed */
};

/* An attempt; the owner fills it, and frees t, dags and g. */
struct leafwise {
	const struct fabric *f;
	const struct engine_params *params;
	struct progress *progress;
	struct sar_jobs jobs;
	uint8_t lmc; /* of traffic LIDs */
	uint64_t bound;
	uint32_t members;  /* terminals with a group */
	uint64_t work_max; /* edges to look at for all trees */
	enum leafwise_effort effort;
	bool small, large;   /* the fabric */
	struct tables *t;    /* in the making */
	struct dagset *dags; /* of huge fabrics; NULL: there are none */
	struct sar_tree *g;
	uint64_t limit;			   /* blocks that may change */
	struct leafwise_objective reached; /* by t */
	uint32_t batch; /* source switches of the group in hand that are placed at once */
	struct pace pace;
	uint64_t done;
};

bool leafwise_better(const struct leafwise_objective *a, const struct leafwise_objective *b);

/* Is a maximum of planes 0 to plane good enough? */
bool leafwise_near_bound(const struct leafwise *l, uint32_t plane, double max);

/* Starts from t, whose owner l becomes; changed blocks are counted against from, unless that is
 * NULL.  At most limit of them may change.  -ECANCELED. */
int leafwise_begin_in(struct leafwise *l, enum leafwise_effort effort, struct tables *t,
		      const struct tables *from, uint64_t limit);

/* Starts from a copy of those tables. */
int leafwise_begin(struct leafwise *l, enum leafwise_effort effort, const struct tables *from,
		   uint64_t limit);

/* Adds the routes of all trees of a plane (the n-th LIDs of all terminals) to the loads.
 * -ECANCELED. */
int leafwise_count(struct leafwise *l, uint32_t plane);

/* What the first LIDs reach with the loads counted. */
void leafwise_measure(const struct leafwise *l, struct leafwise_objective *o);

/* Grows the trees of jobs on all planes and sets l->reached.  installed gets what the tables at the
 * beginning reach; unless all are grown afresh.  -ECANCELED. */
int leafwise_grow(struct leafwise *l, struct leafwise_objective *installed);

/* Both, from params->current. */
int leafwise_from_installed(struct leafwise *l, enum leafwise_effort effort, uint64_t limit,
			    struct leafwise_objective *installed);
