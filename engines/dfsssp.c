/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/dfsssp.h"

#include "engines/balance.h"
#include "engines/graph.h"
#include "engines/layers.h"

static int paths(struct tables *t, const struct fabric *f, const struct jobset *jobs,
		 const struct engine_params *params, struct progress *progress, struct err *err)
{
	(void)jobs;
	(void)err;
	return balance_by_lid(t, f, graph_lmc(f, params), BALANCE_PATHS, NULL, NULL, progress);
}

static int route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		 const struct demand *demand, const struct engine_params *params,
		 struct progress *progress, struct err *err)
{
	(void)demand;
	return layers_route(out, f, "dfsssp", jobs, params, paths, progress, err);
}

const struct engine engine_dfsssp = {
	.name = "dfsssp",
	.summary = "shortest paths balanced over the whole fabric; deadlock-free by virtual lanes",
	.suits = graph_check_connected,
	.route = route,
};
