/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sar_aim: from installed tables towards others that are known to be better, as far as a budget
 * of blocks goes.
 *
 * Only entries count that flows of jobs go by in the other tables.  Those of a block of 64 LIDs of
 * a switch are taken over together, what saves most first.  What they save depends on all others,
 * and the last ones may save nothing before the others are there: the budget is used up all the
 * same.
 */
#pragma once

#include "engines/sar/time/sar_search.h"

/* t, the same as opts->from, gets entries of target; *blocks differ then.  No path is made longer
 * than opts->detour allows.  -ECANCELED. */
int sar_aim_run(struct sar_search *s, struct tables *t, const struct tables *target,
		const struct sar_search_opts *opts, uint64_t *blocks);
