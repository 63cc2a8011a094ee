/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/sar.h"

#include "engines/graph/graph.h"
#include "engines/predict/predict.h"
#include "engines/sar/paper/sar_leafwise.h"
#include "engines/sar/paper/sar_paths.h"
#include "engines/sar/sar_method.h"
#include "engines/sar/time/sar_time.h"
#include "engines/vl/vl_layers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int sar_paths(struct tables *t, const struct fabric *f, const struct jobset *jobs,
		     const struct engine_params *params, struct progress *progress, struct err *err)
{
	(void)err;
	return sar_paths_all(t, f, jobs, graph_lmc(f, params), params->sar_method, progress);
}

/* Nothing of an all-to-all. */
static void sar_say_objective(char *buf, size_t len, const struct demand *demand,
			      const struct engine_params *params)
{
	if (demand)
		snprintf(buf, len, " objective=demand");
	else if (params->pattern && params->pattern - 1 != PREDICT_ALLTOALL)
		snprintf(buf, len, " objective=%s",
			 predict_pattern_name((enum predict_pattern)(params->pattern - 1)));
}

static int sar_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		     const struct demand *demand, const struct engine_params *params,
		     struct progress *progress, struct err *err)
{
	size_t len;
	int rc;

	if (jobs && jobs->nterm != f->nterm)
		return err_set(
			err, -EINVAL,
			"the jobs are those of another fabric (%u terminals there, %u here); "
			"read them again",
			jobs->nterm, f->nterm);
	if (params->sar_method == SAR_TIME)
		rc = sar_time_route(out, f, jobs, demand, params, progress, err);
	else if (params->sar_method == SAR_LEAFWISE)
		rc = sar_leafwise_route(out, f, jobs, params, progress, err);
	else
		rc = vl_layers_route(out, f, "sar", jobs, params, sar_paths, progress, err);
	if (rc)
		return rc;
	len = strlen((*out)->params);
	len += (size_t)snprintf((*out)->params + len, sizeof((*out)->params) - len, " method=%s",
				sar_method_names[params->sar_method]);
	if (params->sar_method == SAR_TIME && len < sizeof((*out)->params))
		sar_say_objective((*out)->params + len, sizeof((*out)->params) - len, demand,
				  params);
	return 0;
}

const struct engine engine_sar = {
	.name = "sar",
	.summary = "job-aware rebalancing with minimal changes to the installed routing (SC16)",
	.uses_jobs = true,
	.suits = graph_check_connected,
	.route = sar_route,
};
