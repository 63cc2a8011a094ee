/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/dfsssp.h"

#include "engines/balance.h"
#include "engines/graph.h"
#include "engines/layers.h"

static int route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		 const struct demand *demand, const struct engine_params *params,
		 struct progress *progress, struct err *err)
{
	unsigned vls = graph_vls(f, params);
	struct tables *t;
	int rc = graph_check_connected(f, err);

	(void)jobs;
	(void)demand;
	if (rc)
		return rc;
	t = graph_tables(f, "dfsssp", vls, params);
	rc = balance_by_lid(t, f, BALANCE_PATHS, NULL, NULL, progress);
	if (!rc)
		rc = layers_assign(t, f, vls, progress, err);
	if (rc) {
		tables_put(t);
		return rc;
	}
	*out = t;
	return 0;
}

const struct engine engine_dfsssp = {
	.name = "dfsssp",
	.summary = "shortest paths balanced over the whole fabric; deadlock-free by virtual lanes",
	.suits = graph_check_connected,
	.route = route,
};
