/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/predict/link_usage.h"

#include "fabric/base/memory/mem.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SEED 1 /* as in forecast */

int link_usage_compute(struct link_usage **out, const struct fabric *f, const struct tables *t,
		       const struct jobset *jobs, bool lanes, struct progress *progress,
		       struct err *err)
{
	struct predict_opts run = { .pattern = PREDICT_ALLTOALL, .seed = SEED };
	static atomic_uint_fast64_t last;
	struct link_usage *u = xcalloc(1, sizeof(*u));
	int rc = 0;

	*out = NULL;
	u->serial = atomic_fetch_add(&last, 1) + 1;
	u->fabric = fabric_get(f);
	u->tables = tables_get(t);
	u->jobs = jobs ? jobset_get(jobs) : NULL;
	progress_parts(progress, (jobs ? 3 : 1) + lanes);
	if (jobs) {
		progress_next(progress);
		rc = job_routes_compute(&u->routes, f, t, jobs, progress, err);
	}
	if (!rc && lanes) {
		progress_next(progress);
		rc = vl_usage_compute(&u->lanes, f, t, progress, err);
	}
	if (!rc && jobs) {
		progress_next(progress);
		rc = predict_jobs(&u->together, f, t, jobs, &run, progress, err);
	}
	progress_next(progress);
	if (!rc)
		rc = chan_dests_compute(&u->dests, f, t, jobs, progress, err);
	if (rc)
		link_usage_free(u);
	else
		*out = u;
	return rc;
}

void link_usage_free(struct link_usage *u)
{
	if (!u)
		return;
	fabric_put(u->fabric);
	tables_put(u->tables);
	jobset_put(u->jobs);
	vl_usage_free(u->lanes);
	job_routes_free(u->routes);
	prediction_free(u->together);
	chan_dests_free(u->dests);
	free(u);
}

uint32_t link_usage_job(const struct link_usage *u, uint64_t id)
{
	for (uint32_t j = 0; u && u->jobs && j < u->jobs->njob; j++)
		if (u->jobs->jobs[j].id == id)
			return j;
	return FAB_NONE;
}

double link_usage_slowdown(const struct link_usage *u, uint64_t id)
{
	uint32_t j = link_usage_job(u, id);

	if (j == FAB_NONE || !u->together || !u->together->job[j].flows)
		return NAN;
	return u->together->job[j].slowdown;
}

double link_usage_lost_pct(const struct link_usage *u, uint64_t id)
{
	uint32_t j = link_usage_job(u, id);

	if (j == FAB_NONE || !u->together || !u->together->job[j].flows)
		return NAN;
	return 100 * (double)u->together->job[j].stranded / (double)u->together->job[j].flows;
}
