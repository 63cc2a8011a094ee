/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sar_time: scheduling-aware routes by which jobs take the least time.
 *
 * Objective: the predicted time of an all-to-all, mean over the jobs while all send (job_time.h),
 * or of params->pattern; every other pattern counts a twentieth of it.  With a demand, its time
 * (demand_time.h), and every pattern a twentieth.  Without installed tables that can be used they
 * are made from scratch (sar_scratch.h), else in steps (sar_step.h).
 *
 * Without a demand and jobs over several switches it is sar_leafwise.h.
 */
#pragma once

#include "engines/engine.h"

/* As an engine's route(). */
int sar_time_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		   const struct demand *demand, const struct engine_params *params,
		   struct progress *progress, struct err *err);
