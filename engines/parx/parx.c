/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/parx/parx.h"

#include "engines/geometry/topology_kind.h"
#include "engines/graph/graph.h"
#include "engines/parx/parx_paths.h"
#include "engines/parx/parx_rules.h"
#include "engines/vl/vl_layers.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/traffic/demand.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void parx_note(const struct grid *grid, const struct parx_paths_found *x,
		      struct notes *notes)
{
	uint32_t missing = grid->missing;
	char dims[96];

	notes_set(notes, "hyperx_missing", missing,
		  "HyperX of %s, %u pairs of neighbours without a cable",
		  grid_dims_text(dims, sizeof(dims), grid), missing);
	if (x->nforced)
		notes_set(notes, "parx_forced", x->nforced,
			  "%llu times a switch reaches a LID only over a cable that this LID "
			  "should avoid",
			  (unsigned long long)x->nforced);
	if (x->nlift)
		notes_set(notes, "parx_lifted", x->nlift,
			  "%llu times a LID may use cables that it should avoid: there is no "
			  "other shortest path",
			  (unsigned long long)x->nlift);
	if (x->ncut)
		notes_set(notes, "parx_cut", x->ncut,
			  "%llu times a LID does not use the direct cable: there is no path out of "
			  "its half",
			  (unsigned long long)x->ncut);
}

static int parx_check_lmc(const struct grid *g, uint8_t have, bool escape, struct err *err)
{
	uint8_t lmc = parx_lmc(g->ndims);
	char dims[96];

	if (have >= lmc)
		return 0;
	return err_set(
		err, -EINVAL,
		"parx takes %u LIDs per port on a HyperX of %s%s: LMC %u, and the fabric has %u; "
		"raise the LMC or use another engine",
		1u << lmc, grid_dims_text(dims, sizeof(dims), g),
		escape ? " and as many escape LIDs" : "", lmc + escape, have + escape);
}

static int parx_suits(const struct fabric *f, struct err *why)
{
	struct topology_kind *topology;
	int rc = graph_check_connected(f, why);

	if (!rc)
		rc = topology_kind_find(&topology, f, TOPOLOGY_HYPERX, NULL, why);
	if (rc)
		return rc;
	rc = parx_check_lmc(topology->grid, f->lmc, false, why);
	topology_kind_free(topology);
	return rc;
}

struct work {
	const struct fabric *f;
	const struct grid *grid;
	const struct demand *demand;
	const struct engine_params *params;
	struct pace pace;
	uint64_t done;
};

static int parx_attempt(struct tables **out, uint64_t *most, struct work *w, bool ordered)
{
	struct tables *t = graph_tables(w->f, "parx", w->params, w->pace.progress);
	size_t len = strlen(t->params);
	struct parx_paths_found x;
	char dims[96];
	int rc;

	snprintf(t->params + len, sizeof(t->params) - len, ",hyperx=%s%s",
		 grid_dims_text(dims, sizeof(dims), w->grid), w->demand ? ",demand" : "");
	rc = parx_paths_route(&x, t, w->f, w->grid, w->demand, ordered, w->params, &w->pace,
			      &w->done);
	if (!rc && ordered)
		parx_note(w->grid, &x, w->params->notes);
	*most = x.most;
	if (rc)
		tables_put(t);
	else
		*out = t;
	return rc;
}

/* With a demand both are tried: dimension order, and the least load among all shortest paths.  The
 * one with the lower maximum comes first; the other is for fabrics with too few VLs for it. */
static int parx_route_both(struct tables *t[2], struct work *w)
{
	uint64_t most[2];
	int rc = parx_attempt(&t[0], &most[0], w, true);

	if (rc || !w->demand)
		return rc;
	rc = parx_attempt(&t[1], &most[1], w, false);
	if (!rc && most[1] < most[0]) {
		struct tables *swap = t[0];

		t[0] = t[1];
		t[1] = swap;
	}
	return rc;
}

/* Switches of a line follow each other. */
static int parx_assign_layers(struct tables *t, struct work *w, struct progress *progress,
			      struct err *err)
{
	uint32_t *switches = xcalloc(w->f->nsw, sizeof(*switches)), n = 0;
	int rc;

	for (uint32_t i = 0; i < w->grid->ncell; i++)
		if (w->grid->at[i] != FAB_NONE)
			switches[n++] = w->grid->at[i];
	rc = vl_layers_assign_in_order(t, w->f, switches, w->params, progress, err);
	free(switches);
	return rc;
}

/* Domke et al., SC19, Algorithm 1: for each LID paths that keep its rule (parx_dags.h), balanced by
 * demand and load; then VLs against deadlocks. */
static int parx_route_grid(struct tables **out, struct work *w, struct progress *progress,
			   struct err *err)
{
	uint64_t n = graph_count_lids(w->f, graph_lmc(w->f, w->params)) * (w->demand ? 2ull : 1);
	struct tables *t[2] = { NULL, NULL };
	int rc = pace_begin(&w->pace, progress, "paths", n) ? -ECANCELED : 0;

	if (!rc)
		rc = parx_route_both(t, w);
	if (!rc)
		rc = parx_assign_layers(t[0], w, progress, err);
	if (rc == -ENOSPC && t[1]) {
		tables_put(t[0]);
		t[0] = t[1];
		t[1] = NULL;
		rc = parx_assign_layers(t[0], w, progress, err);
	}
	if (!rc)
		*out = t[0];
	else
		tables_put(t[0]);
	tables_put(t[1]);
	return rc;
}

static int parx_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		      const struct demand *demand, const struct engine_params *params,
		      struct progress *progress, struct err *err)
{
	struct work w = { .f = f, .demand = demand, .params = params };
	struct topology_kind *topology;
	int rc;

	(void)jobs;
	if (demand && demand->nterm != f->nterm)
		return err_set(
			err, -EINVAL,
			"the demand is that of another fabric (%u terminals there, %u here); "
			"read it again",
			demand->nterm, f->nterm);
	rc = topology_kind_find(&topology, f, TOPOLOGY_HYPERX, progress, err);
	if (rc)
		return rc;
	w.grid = topology->grid;
	rc = parx_check_lmc(w.grid, graph_lmc(f, params), params->escape, err);
	if (!rc)
		rc = parx_route_grid(out, &w, progress, err);
	topology_kind_free(topology);
	return rc;
}

const struct engine engine_parx = {
	.name = "parx",
	.summary = "minimal paths and detours on HyperX, selected by LID and demand (SC19)",
	.suits = parx_suits,
	.route = parx_route,
};
