/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * balanced_sssp: balanced paths to every LID of a fabric.
 *
 * The order of the destinations decides how even the loads get.  Where switches without terminals
 * join the others, as in trees, all LIDs of a switch follow each other and share its cables
 * exactly.  Where every switch has terminals (torus, HyperX, dragonfly, ...) that would fill the
 * cables around one switch before those of the next are known, so the switches take turns.
 * Small uneven trees try both, and all small nets where the ports are balanced one by one.
 * Loads are routes times the channel's weight by rate (chan_weight.h).  Afterwards the LIDs over
 * the most loaded channels are routed once more, as long as that lowers the maximum.  On demand
 * entries to base LIDs move then (shift_search.h).
 */
#pragma once

#include "engines/engine.h"
#include "engines/graph/balance/min_load_tree.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

struct balanced_sssp_how {
	enum min_load_rule rule;
	balance_build_fn build; /* NULL: shortest paths */
	void *ctx;
	bool threads;	/* build may be called by several threads at once */
	bool by_switch; /* all LIDs of a switch follow each other on any fabric */
	unsigned
		rounds; /* over the most loaded channels, at most; BALANCED_SSSP_ROUNDS is plenty */
	bool shifts;	/* then entries move to where the flows of shifts meet least */
	uint64_t *max;	/* where to put the largest load of a channel, all LIDs; NULL: nowhere */
	struct lft_hops
		*hops; /* gets the hops of terminals' LIDs, too; without rounds only; or NULL */
	struct dagset **dags; /* gets the DAGs, which the caller frees, or NULL where none were
				 made; NULL: they are freed */
};

#define BALANCED_SSSP_ROUNDS 4

/* All LIDs, as step "paths".  -ECANCELED. */
int balanced_sssp_route(struct tables *t, const struct fabric *f,
			const struct engine_params *params, const struct balanced_sssp_how *how,
			struct progress *progress);
