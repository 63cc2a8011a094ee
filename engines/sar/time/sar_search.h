/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sar_search: the trees of jobs' LIDs, moved round after round until the time of jobs falls no
 * more (sar_mover.h), or the work is done that may be.
 */
#pragma once

#include "engines/engine.h"
#include "engines/graph/graph.h"
#include "engines/sar/paper/sar_jobs.h"
#include "engines/sar/time/sar_mover.h"

struct favor {
	double was; /* cost at the beginning */
	double times;
};

struct sar_search {
	const struct fabric *f;
	const struct engine_params *params;
	const struct sar_jobs *jobs;
	struct sar_traffic x;
	struct sar_contention k;
	struct pace pace;
	uint64_t work_most; /* of a run; sar_mover_work() */
	struct favor *job;  /* of those that count more than before */
	struct favor pattern[SAR_PATTERNS];
	float *plain;	  /* by job and phase: what they count otherwise */
	uint32_t *others; /* terminals in no job over several switches that a demand names ... */
	uint32_t nothers;
};

struct sar_search_opts {
	const struct tables *from; /* what is changed */
	unsigned detour;	   /* hops more than necessary that a path may have */
	uint64_t limit;		   /* blocks that may change */
	uint64_t blocks_all;	   /* in use; 0: blocks cost nothing */
	bool fair;	 /* no job, and no pattern, is to be clearly slower than it was; ... */
	double patterns; /* ... so many times do patterns count then */
	bool careful;	 /* sar_aim_run(): take no entry that costs something as the others are */
	bool by_switch;	 /* likewise: all blocks of a switch together */
	bool begun;	 /* t differs from from already */
};

/* objective, flows and sample as in sar_traffic_init(); all but s outlive it.  -ECANCELED. */
int sar_search_init(struct sar_search *s, const struct sar_jobs *jobs,
		    const struct sar_objective *objective, const struct engine_params *params,
		    uint32_t flows, uint64_t sample, struct progress *progress);
void sar_search_done(struct sar_search *s);

/* What those tables reach; out->job is the caller's room.  -ECANCELED. */
int sar_search_time(struct sar_search *s, const struct tables *t, struct sar_clock *out);

/* Improves t; *blocks differ then.  -ECANCELED. */
int sar_search_run(struct sar_search *s, struct tables *t, const struct sar_search_opts *opts,
		   uint64_t *blocks);

/* Do the paths to that terminal stay as they are? */
bool sar_search_is_pinned(const struct sar_search *s, uint32_t term);

/* Its base LID. */
struct dest sar_search_dest(const struct sar_search *s, uint32_t term);
