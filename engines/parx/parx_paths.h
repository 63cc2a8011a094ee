/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parx_paths: the entries of all LIDs by Algorithm 1 of SC19, balanced by demand and load.
 *
 * One thread chooses, LID after LID, as each sees the loads of those before.  Meanwhile the others
 * find the DAGs of the switches that come next, and write the entries of those before.
 */
#pragma once

#include "engines/engine.h"
#include "engines/geometry/grid/grid.h"
#include "engines/graph/graph.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/demand.h"

#include <stdbool.h>
#include <stdint.h>

/* What came of it. */
struct parx_paths_found {
	uint64_t most;		       /* load of the channel with the most */
	uint64_t nforced, nlift, ncut; /* as in struct parx_dags */
};

/* Fills the LFTs of t.  demand: NULL, or whose destinations come first, in its order; ordered:
 * these too take dimension order.  Adds the LIDs to *done, which is what p reports.  -ECANCELED. */
int parx_paths_route(struct parx_paths_found *out, struct tables *t, const struct fabric *f,
		     const struct grid *grid, const struct demand *demand, bool ordered,
		     const struct engine_params *params, struct pace *p, uint64_t *done);
