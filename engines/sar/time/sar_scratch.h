/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sar_scratch: routes by which jobs take the least time, whatever is installed.
 *
 * The best of several starts is improved move by move (sar_search.h), over shortest paths first,
 * then, where a hop more than necessary may help, over longer ones too; of these only as many stay
 * as fit few VLs (sar_fit.h).  sar_leafwise.h makes the paths of all other LIDs, and is what
 * remains where nothing better fits the VLs.
 */
#pragma once

#include "engines/sar/time/sar_timing.h"

/* Errors as of an engine's route(). */
int sar_scratch_route(struct tables **out, struct sar_timing *k);
