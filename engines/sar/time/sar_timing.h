/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sar_timing: a run of sar by time, and what its parts share. */
#pragma once

#include "engines/sar/paper/sar_jobs.h"
#include "engines/sar/time/sar_search.h"
#include "engines/time/time_memo.h"

#define SAR_FEW_VLS 4 /* detours are not worth more */

struct sar_timing {
	const struct fabric *f;
	const struct jobset *jobs;
	struct sar_objective objective;
	const struct engine_params *params;
	struct progress *progress;
	struct err *err;
	struct time_memo *memo;
	struct sar_jobs groups;
	struct sar_search search;
	uint8_t lmc;
	bool large; /* so that less is tried */
	unsigned detour;
};

/* The search gets a sample of the jobs' phases; the one before has ended. -ECANCELED. */
int sar_timing_begin(struct sar_timing *k, uint32_t flows, uint64_t sample, uint64_t work);
void sar_timing_end(struct sar_timing *k); /* also without a search */

/* The caller's own, by "sar". */
struct tables *sar_timing_copy(const struct sar_timing *k, const struct tables *t);

/* Time of the objective on those tables.  Other seeds draw other distances of an all-to-all. */
int sar_timing_measure(double *time, const struct sar_timing *k, const struct tables *t,
		       uint64_t seed);
