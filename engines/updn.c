/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/updn.h"

#include "engines/balance.h"
#include "engines/graph.h"
#include "engines/layers.h"
#include "engines/updown.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct ways {
	struct updown ud;
	bool illegal; /* a switch with ends had no legal path to a LID */
};

static void build(void *ctx, struct spdag *g, const struct fabric *f, uint32_t root)
{
	struct ways *w = ctx;

	for (uint32_t i = f->nsw - updown_dag(&w->ud, g, f, root); i < f->nsw; i++)
		w->illegal |= f->term_off[g->sw[i]] < f->term_off[g->sw[i] + 1];
}

/* -ENETUNREACH when these roots leave a pair of terminals without a legal path; -ENOSPC when
 * they leave such paths to switches' own LIDs, or between aggregation nodes, and the VLs do
 * not hold those. */
static int route_from(struct tables **out, const struct fabric *f, const uint32_t *roots,
		      uint32_t n, const struct engine_params *params, struct progress *progress,
		      struct err *err)
{
	unsigned vls = graph_vls(f, params);
	struct updown_score score;
	struct tables *t = NULL;
	struct ways w = { .illegal = false };
	struct pace pace;
	int rc = pace_begin(&pace, progress, "paths", graph_count_lids(f, graph_lmc(f, params)))
			 ? -ECANCELED
			 : 0;

	updown_init(&w.ud, f, roots, n);
	if (!rc)
		rc = updown_score(&score, &w.ud, f, &pace);
	if (rc)
		goto out;
	if (score.missing) {
		rc = err_set(err, -ENETUNREACH,
			     "no path up*, then down* leads from switch %s to switch %s with these "
			     "roots; give one root only, or none to have it found",
			     f->sw_name[score.from], f->sw_name[score.to]);
		goto out;
	}
	t = graph_tables(f, "updn", params);
	rc = balance_by_lid(t, f, graph_lmc(f, params), BALANCE_PATHS, build, &w, progress);
	t->vls = t->sls = 1;
	if (!rc && w.illegal)
		rc = layers_assign(t, f, params, progress, err);
	if (rc == -ENOSPC)
		err_set(err, rc,
			"with these roots not all paths to switches' own LIDs and between other "
			"ends go up*, then down*; beside the rest they do not fit on %u VLs: give "
			"one root only, or none to have it found",
			vls);
	if (rc)
		goto out;
	*out = t;
	t = NULL;
out:
	tables_put(t);
	updown_done(&w.ud);
	return rc;
}

/* Indices of the roots without duplicates. */
static int given_roots(uint32_t *roots, uint32_t *n, const struct fabric *f,
		       const struct engine_params *params, struct err *err)
{
	*n = 0;
	for (size_t i = 0; i < params->nroots; i++) {
		uint32_t u = fabric_switch_by_guid(f, params->roots[i]), k = 0;

		if (u == FAB_NONE)
			return err_set(err, -EINVAL,
				       "root 0x%016" PRIx64
				       " is no switch of this fabric; give the "
				       "node GUID of a switch",
				       params->roots[i]);
		while (k < *n && roots[k] != u)
			k++;
		if (k == *n)
			roots[(*n)++] = u;
	}
	return 0;
}

static int route_found(struct tables **out, const struct fabric *f,
		       const struct engine_params *params, struct progress *progress,
		       struct err *err)
{
	uint32_t *roots = xcalloc(f->nsw, sizeof(*roots)), n = updown_tree_roots(roots, f);
	struct pace pace;
	int rc = -ENETUNREACH;

	if (n)
		rc = route_from(out, f, roots, n, params, progress, err);
	if (rc == -ENETUNREACH || rc == -ENOSPC) {
		rc = pace_begin(&pace, progress, "paths", graph_count_lids(f, graph_lmc(f, params)))
			     ? -ECANCELED
			     : 0;
		if (!rc)
			rc = updown_single_root(roots, f, &pace);
		if (!rc)
			rc = route_from(out, f, roots, 1, params, progress, err);
	}
	free(roots);
	return rc;
}

static int route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		 const struct demand *demand, const struct engine_params *params,
		 struct progress *progress, struct err *err)
{
	uint32_t *roots, n;
	int rc = graph_check_connected(f, err);

	(void)jobs;
	(void)demand;
	if (rc)
		return rc;
	if (!params || !params->roots || !params->nroots)
		return route_found(out, f, params, progress, err);
	roots = xcalloc(f->nsw, sizeof(*roots));
	rc = given_roots(roots, &n, f, params, err);
	if (!rc)
		rc = route_from(out, f, roots, n, params, progress, err);
	free(roots);
	return rc;
}

const struct engine engine_updn = {
	.name = "updn",
	.summary = "paths up, then down a ranking of the switches; one VL on any fabric",
	.suits = graph_check_connected,
	.route = route,
};
