/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sar_time: scheduling-aware routes by which jobs take the least time.
 *
 * Objective: the predicted time of an all-to-all, mean over the jobs while all send (job_time.h);
 * every other pattern counts a twentieth of it.  From scratch, the best of several starts is
 * improved move by move (sar_search.h), over shortest paths first, then, where a hop more than
 * necessary may help, over longer ones too; of these only as many stay as fit few VLs (sar_fit.h).
 *
 * From installed tables, what gains most for the blocks of 64 LIDs that it changes moves first,
 * within a budget of blocks, params->sar_change of those in use.  What is left to do is left to
 * later steps, for each of which other distances of the all-to-all are drawn; a step that does
 * not lower the time that is predicted leaves everything as it is, to the byte.  So does one by
 * which a pattern, or a job, would be slower than it may (time_gate.h).
 *
 * Without jobs over several switches it is sar_leafwise.h.  That also makes the paths of all
 * other LIDs, and is what remains where nothing better fits the VLs.
 */
#pragma once

#include "engines/engine.h"

/* As an engine's route(). */
int sar_time_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		   const struct engine_params *params, struct progress *progress, struct err *err);
