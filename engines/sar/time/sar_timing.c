/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/time/sar_timing.h"

#include "engines/time/demand_time.h"

#include <string.h>

#define COPY_BYTES (4u << 20) /* between two reports */

int sar_timing_begin(struct sar_timing *k, uint32_t flows, uint64_t sample, uint64_t work)
{
	int rc = sar_search_init(&k->search, &k->groups, &k->objective, k->params, flows, sample,
				 k->progress);

	k->search.work_most = work;
	return rc;
}

void sar_timing_end(struct sar_timing *k)
{
	sar_search_done(&k->search);
	k->search = (struct sar_search){ .f = NULL };
}

struct tables *sar_timing_copy(const struct sar_timing *k, const struct tables *t)
{
	struct tables *copy = graph_tables(k->f, "sar", k->params, k->progress);
	uint32_t slice = COPY_BYTES / t->stride + 1;

	for (uint32_t u = 0; u < t->nsw; u += slice) {
		uint32_t n = t->nsw - u < slice ? t->nsw - u : slice;

		memcpy(tables_row(copy, u), tables_row(t, u), (size_t)n * t->stride);
		if (progress_step(k->progress, "paths", 0, t->nsw))
			break; /* the next step says so */
	}
	return copy;
}

int sar_timing_measure(double *time, const struct sar_timing *k, const struct tables *t,
		       uint64_t seed)
{
	struct job_time_opts opts = { .seed = seed, .threads = k->params->threads };
	struct demand_time demand;
	struct time_sheet *x;
	int rc;

	if (k->objective.demand) {
		rc = demand_time_compute(&demand, k->f, t, k->objective.demand, NULL, NULL,
					 k->progress, k->err);
		*time = demand.time;
		return rc;
	}
	rc = time_memo_sheet(&x, k->memo, k->f, t, k->jobs, &opts, k->progress, k->err);
	if (rc)
		return rc;
	*time = x->of[k->objective.pattern]->mean.mean;
	time_sheet_put(x);
	return 0;
}
