/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sar_leafwise: scheduling-aware routes near the lower bound, from few changes of what is
 * installed.
 *
 * Objective, lexicographic, of the base LIDs: the largest effective EFI of a channel, as long as it
 * is more than 4 % above its lower bound; then the flows that are to be expected to meet: a
 * terminal of a job of n sends to one of n - 1 others at a time, so each of its routes counts as
 * 1 / (n - 1); pairs of different LIDs on a channel, summed over the channels (flows to one LID
 * wait for its own cable anyway).  Without the second, large jobs crowd the flows of small ones
 * together, and every job sends slower than over routes that know no jobs.  The tables that come
 * out are never worse than params->current by this, unless those are not of this fabric, do not
 * lead everywhere, or cannot be made free of deadlocks with the VLs allowed.
 *
 * From installed tables: the trees that use one of the fullest channels are grown again
 * (sar_tree.h) until the maximum is near the bound, then those of the jobs whose routes cost most,
 * each only where it gains enough for the blocks of 64 LIDs that it changes.  All within a budget
 * of blocks, params->sar_change of those in use; what is left to do is left to later steps.  Only
 * where the caller set none, the tables are not known to be sar's, and the maximum stays 30 % above
 * the bound, are two more tried without a budget: all trees grown again, and those that use one of
 * the fullest channels alone.  The latter is taken when it is better, or when its maximum is at
 * most a tenth (or one route) higher and a fifth fewer flows meet; and either only if the maximum
 * falls by a seventh.
 *
 * LIDs of terminals without jobs, and the next hops that no job uses, stay.
 *
 * From scratch: over the paths of balanced_sssp.h, which balance all traffic, the jobs' trees are
 * grown in the order of Algorithm 1; where that stays far from the bound, the full channels of the
 * paths of balanced_sssp.h are relieved instead, and the better is kept, so that the result is
 * never worse than those.  Then storage and the others follow, by the loads of all routes to the
 * LIDs of jobs, those inside jobs counted more.  On huge fabrics only the full channels are
 * relieved, by the paths over them alone, until the fullest one has little more than routes that
 * have no other shortest path. With an LMC, the trees of the first LIDs of all terminals come
 * first, then those of the second over their loads, and so on.
 */
#pragma once

#include "engines/engine.h"

/* As an engine's route(). */
int sar_leafwise_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		       const struct engine_params *params, struct progress *progress,
		       struct err *err);

/* From scratch, and paths alone: their SLs are left to the caller. */
int sar_leafwise_paths(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		       const struct engine_params *params, struct progress *progress,
		       struct err *err);
