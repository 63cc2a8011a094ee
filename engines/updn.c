/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/updn.h"

#include "engines/graph/balanced_sssp.h"
#include "engines/graph/graph.h"
#include "engines/graph/min_load_tree.h"
#include "engines/graph/updown.h"
#include "engines/graph/vl_layers.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct ways {
	struct updown ud;
	bool illegal;	   /* a switch with ends had no legal path to a LID, ... */
	uint32_t from, to; /* ... the first: from this to that switch */
};

static void updn_build(void *ctx, struct spdag *g, const struct fabric *f, uint32_t root)
{
	struct ways *w = ctx;

	for (uint32_t i = f->nsw - updown_dag(&w->ud, g, f, root); i < f->nsw; i++) {
		uint32_t u = g->sw[i];

		if (f->term_off[u] == f->term_off[u + 1] || w->illegal)
			continue;
		w->illegal = true;
		w->from = u;
		w->to = root;
	}
}

static int updn_refuse_missing(const struct fabric *f, uint32_t from, uint32_t to, struct err *err)
{
	return err_set(err, -ENETUNREACH,
		       "no path up*, then down* leads from switch %s to switch %s with these "
		       "roots; give only one root, or none to have it found",
		       f->sw_name[from], f->sw_name[to]);
}

/* -ENETUNREACH when these roots leave a pair of terminals without a legal path; -ENOSPC when
 * they leave such paths to switches' own LIDs, or between aggregation nodes, and the VLs do
 * not hold those. */
static int updn_route_from(struct tables **out, const struct fabric *f, const uint32_t *roots,
			   uint32_t n, const struct engine_params *params,
			   struct progress *progress, struct err *err)
{
	unsigned vls = graph_vls(f, params);
	struct updown_score score;
	struct tables *t = NULL;
	struct ways w = { .illegal = false };
	struct balanced_sssp_how how = { .build = updn_build,
					 .ctx = &w,
					 .rounds = BALANCED_SSSP_ROUNDS };
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
		rc = updn_refuse_missing(f, score.from, score.to, err);
		goto out;
	}
	t = graph_tables(f, "updn", params, progress);
	rc = balanced_sssp_route(t, f, params, &how, progress);
	t->vls = t->sls = 1;
	if (!rc && w.illegal)
		rc = vl_layers_assign(t, f, params, progress, err);
	if (rc == -ENOSPC)
		err_set(err, rc,
			"with these roots not all paths to switches' own LIDs and between other "
			"ends go up*, then down*; beside the rest they do not fit on %u VLs: give "
			"only one root, or none to have it found",
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
static int updn_given_roots(uint32_t *roots, uint32_t *n, const struct fabric *f,
			    const struct engine_params *params, struct err *err)
{
	*n = 0;
	for (size_t i = 0; i < params->nroots; i++) {
		uint32_t u = fabric_switch_by_guid(f, params->roots[i]), k = 0;

		if (u == FAB_NONE)
			return err_set(err, -EINVAL,
				       "root 0x%016" PRIx64
				       " is not a switch of this fabric; give the node GUID of a "
				       "switch",
				       params->roots[i]);
		while (k < *n && roots[k] != u)
			k++;
		if (k == *n)
			roots[(*n)++] = u;
	}
	return 0;
}

static int updn_route_found(struct tables **out, const struct fabric *f,
			    const struct engine_params *params, struct progress *progress,
			    struct err *err)
{
	uint32_t *roots = xcalloc(f->nsw, sizeof(*roots)), n = updown_tree_roots(roots, f);
	struct pace pace;
	int rc = -ENETUNREACH;

	if (n)
		rc = updn_route_from(out, f, roots, n, params, progress, err);
	if (rc == -ENETUNREACH || rc == -ENOSPC) {
		rc = pace_begin(&pace, progress, "paths", graph_count_lids(f, graph_lmc(f, params)))
			     ? -ECANCELED
			     : 0;
		if (!rc)
			rc = updown_single_root(roots, f, &pace);
		if (!rc)
			rc = updn_route_from(out, f, roots, 1, params, progress, err);
	}
	free(roots);
	return rc;
}

/* -ENETUNREACH when these roots leave a pair of these LIDs and any ends without a legal path. */
static int updn_dests_from(struct tables *t, const struct fabric *f, const struct dest *dests,
			   uint32_t n, const uint32_t *roots, uint32_t nroots, bool ignore_rates,
			   struct pace *p, struct err *err)
{
	struct ways w = { .illegal = false };
	struct min_load_tree *b = min_load_tree_new(f, t, BALANCE_PATHS, updn_build, &w);
	struct chan_weights weights;
	uint64_t done = 0;
	int rc;

	chan_weights_init(&weights, f, ignore_rates);
	min_load_tree_weigh(b, &weights);
	updown_init(&w.ud, f, roots, nroots);
	rc = min_load_tree_route_all(b, dests, n, p, &done);
	if (!rc && w.illegal)
		rc = updn_refuse_missing(f, w.from, w.to, err);
	updown_done(&w.ud);
	chan_weights_done(&weights);
	min_load_tree_free(b);
	return rc;
}

int updn_route_dests(struct tables *t, const struct fabric *f, const struct dest *dests, uint32_t n,
		     const struct engine_params *params, const char *step,
		     struct progress *progress, struct err *err)
{
	uint32_t *roots = xcalloc(f->nsw, sizeof(*roots)), nroots;
	bool given = params->roots && params->nroots;
	struct pace pace;
	int rc = -ENETUNREACH;

	if (pace_begin(&pace, progress, step, n)) {
		rc = -ECANCELED;
		goto out;
	}
	if (given) {
		rc = updn_given_roots(roots, &nroots, f, params, err);
		if (!rc)
			rc = updn_dests_from(t, f, dests, n, roots, nroots, params->ignore_rates,
					     &pace, err);
		goto out;
	}
	nroots = updown_tree_roots(roots, f);
	if (nroots)
		rc = updn_dests_from(t, f, dests, n, roots, nroots, params->ignore_rates, &pace,
				     err);
	if (rc != -ENETUNREACH)
		goto out;
	rc = updown_single_root(roots, f, &pace);
	if (!rc)
		rc = updn_dests_from(t, f, dests, n, roots, 1, params->ignore_rates, &pace, err);
out:
	free(roots);
	return rc;
}

static int updn_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
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
		return updn_route_found(out, f, params, progress, err);
	roots = xcalloc(f->nsw, sizeof(*roots));
	rc = updn_given_roots(roots, &n, f, params, err);
	if (!rc)
		rc = updn_route_from(out, f, roots, n, params, progress, err);
	free(roots);
	return rc;
}

const struct engine engine_updn = {
	.name = "updn",
	.summary = "paths up, then down a ranking of the switches; one VL on any fabric",
	.suits = graph_check_connected,
	.route = updn_route,
};
