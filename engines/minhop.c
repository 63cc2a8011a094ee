/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/minhop.h"

#include "engines/graph/balance/balanced_sssp.h"
#include "engines/shift_improve.h"
#include "engines/vl/vl_layers.h"

static const struct balanced_sssp_how how = { .rule = BALANCE_PORTS,
					      .rounds = BALANCED_SSSP_ROUNDS };

static int minhop_paths(struct tables *t, const struct fabric *f, const struct jobset *jobs,
			const struct engine_params *params, struct progress *progress,
			struct err *err)
{
	(void)jobs;
	(void)err;
	return balanced_sssp_route(t, f, params, &how, progress);
}

static int minhop_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
			const struct demand *demand, const struct engine_params *params,
			struct progress *progress, struct err *err)
{
	int rc = vl_layers_route(out, f, "minhop", jobs, params, minhop_paths, progress, err);

	(void)demand;
	return rc ? rc : shift_improve(out, f, &how, params, progress, err);
}

const struct engine engine_minhop = {
	.name = "minhop",
	.summary = "shortest paths balanced at each switch separately; deadlock-free by virtual "
		   "lanes",
	.suits = graph_check_connected,
	.route = minhop_route,
};
