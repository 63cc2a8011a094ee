/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sar_leafwise: scheduling-aware routes near the lower bound, from few changes of what is
 * installed.
 *
 * Objective, lexicographic, of the base LIDs: the largest effective EFI of a channel; then
 * the sum over the jobs of the largest EFI of each (on huge fabrics left out); then the pairs of
 * routes that can meet on a channel, summed over the channels: routes to different LIDs all, those
 * to the same LID by half.  The tables that come out are never worse than params->current by it,
 * unless those are not of this fabric, do not lead everywhere, or cannot be made free of deadlocks
 * with the VLs allowed.
 *
 * From installed tables: the trees of jobs that fare badly are grown anew (sar_grow.h), then
 * those that use one of the fullest channels, until the lower bound is met or nothing helps.
 * That ends once a share of the blocks of 64 LIDs has changed; only when the maximum stays far from
 * the bound is more tried, and kept when the maximum falls for it by a twelfth or more.
 * LIDs of terminals without jobs, and the next hops that no job uses, stay.
 *
 * From scratch: over the paths of even.h, which balance all traffic, the jobs' trees are grown in
 * the order of Algorithm 1; where that stays far from the bound, the full channels of the paths
 * of even.h are relieved instead, and the better is kept, so that the result is never worse than
 * those.  Then storage and the others follow, by the loads of all routes to the LIDs of jobs,
 * those inside jobs counted more.  On huge fabrics only the full channels are relieved.
 * With an LMC, the trees of the first LIDs of all terminals come first, then those of the second
 * over their loads, and so on.
 */
#ifndef ENGINES_SAR_LEAFWISE_H
#define ENGINES_SAR_LEAFWISE_H

#include "engines/engine.h"

/* As an engine's route(). */
int sar_leafwise_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		       const struct engine_params *params, struct progress *progress,
		       struct err *err);

#endif
