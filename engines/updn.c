/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/updn.h"

#include "engines/ftree.h"
#include "engines/graph/balance/balanced_sssp.h"
#include "engines/graph/graph.h"
#include "engines/graph/balance/min_load_tree.h"
#include "engines/graph/updown.h"
#include "engines/graph/updown_order.h"
#include "engines/time/shift_choice.h"
#include "engines/shift_improve.h"
#include "engines/vl/vl_layers.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SHARED_WORK (1u << 22) /* switches times channels from which on threads pay */

struct ways {
	struct updown ud;
	struct pool *pool;    /* for the ranking; NULL: too small for that */
	bool shifts;	      /* entries move for shifts */
	bool found;	      /* the roots are no wish of the operator's */
	bool illegal;	      /* a switch with ends had no legal path to a LID, ... */
	uint32_t from, to;    /* ... the first: from this to that switch */
	pthread_mutex_t lock; /* of these three, while DAGs are built by several threads */
};

static void updn_note_illegal(struct ways *w, uint32_t from, uint32_t to)
{
	pthread_mutex_lock(&w->lock);
	if (!w->illegal || to < w->to) {
		w->illegal = true;
		w->from = from;
		w->to = to;
	}
	pthread_mutex_unlock(&w->lock);
}

static void updn_build(void *ctx, struct spdag *g, const struct fabric *f, uint32_t root)
{
	struct ways *w = ctx;

	for (uint32_t i = f->nsw - updown_dag(&w->ud, g, f, root); i < f->nsw; i++) {
		uint32_t u = g->sw[i];

		if (f->term_off[u] == f->term_off[u + 1])
			continue;
		updn_note_illegal(w, u, root);
		return;
	}
}

static int updn_refuse_missing(const struct fabric *f, uint32_t from, uint32_t to, struct err *err)
{
	return err_set(err, -ENETUNREACH,
		       "no path up*, then down* joins two switches with these roots; give only one "
		       "root, or none to have it found (%s to %s)",
		       f->sw_name[from], f->sw_name[to]);
}

static int updn_route_ranked(struct tables **out, const struct fabric *f, struct ways *w,
			     const struct engine_params *params, struct pace *pace,
			     struct progress *progress, struct err *err);

/* Fat trees take turns instead (shift_improve_turns()). */
static bool updn_may_try_shifts(const struct fabric *f, const struct ways *w,
				const struct engine_params *params)
{
	struct err why;

	return !w->shifts && shift_choice_fits(f) && !graph_lmc(f, params) &&
	       engine_ftree.suits(f, &why);
}

/* The same paths with entries moved by shifts, where that is better: replaces *t. */
static int updn_try_shifts(struct tables **t, const struct fabric *f, struct ways *w,
			   const struct engine_params *params, struct pace *pace,
			   struct progress *progress, struct err *err)
{
	struct tables *other = NULL, *worse = *t;
	bool better = false;
	int rc;

	w->shifts = true;
	rc = updn_route_ranked(&other, f, w, params, pace, progress, err);
	if (!rc)
		rc = shift_choice_better(&better, f, *t, other, SHIFT_CHOICE_LITTLE_LESS, progress,
					 err);
	if (!rc && better) {
		*t = other;
		other = worse;
	}
	tables_put(other);
	return rc;
}

/* Routes by the ranking of w.  -ENETUNREACH when that leaves a pair of terminals without a legal
 * path; where it leaves such paths to switches' own LIDs, or between aggregation nodes, the same if
 * the ranking was found, else -ENOSPC if the VLs do not hold those. */
static int updn_route_ranked(struct tables **out, const struct fabric *f, struct ways *w,
			     const struct engine_params *params, struct pace *pace,
			     struct progress *progress, struct err *err)
{
	struct balanced_sssp_how how = { .build = updn_build,
					 .ctx = w,
					 .threads = true,
					 .rounds = BALANCED_SSSP_ROUNDS,
					 .shifts = w->shifts };
	struct updown_score score;
	struct tables *t;
	int rc = updown_score(&score, &w->ud, f, w->pool, pace);

	if (rc)
		return rc;
	if (score.missing)
		return updn_refuse_missing(f, score.from, score.to, err);
	t = graph_tables(f, "updn", params, progress);
	rc = balanced_sssp_route(t, f, params, &how, progress);
	t->vls = t->sls = 1;
	if (!rc && w->illegal && w->found)
		rc = updn_refuse_missing(f, w->from, w->to, err);
	else if (!rc && w->illegal)
		rc = vl_layers_assign(t, f, params, progress, err);
	if (rc == -ENOSPC)
		err_set(err, rc,
			"with these roots not all paths to switches' own LIDs and between other "
			"ends go up*, then down*; beside the rest they do not fit on %u VLs: give "
			"only one root, or none to have it found",
			graph_vls(f, params));
	if (!rc && !w->illegal && updn_may_try_shifts(f, w, params))
		rc = updn_try_shifts(&t, f, w, params, pace, progress, err);
	if (rc)
		tables_put(t);
	else
		*out = t;
	return rc;
}

static int updn_begin(struct pace *pace, const struct fabric *f, const struct engine_params *params,
		      struct progress *progress)
{
	return pace_begin(pace, progress, "paths", graph_count_lids(f, graph_lmc(f, params)))
		       ? -ECANCELED
		       : 0;
}

static struct pool *updn_pool(const struct fabric *f, const struct engine_params *params)
{
	return (uint64_t)f->nsw * f->nchan > SHARED_WORK ? pool_new(params ? params->threads : 1)
							 : NULL;
}

static int updn_route_from(struct tables **out, const struct fabric *f, const uint32_t *roots,
			   uint32_t n, bool found, const struct engine_params *params,
			   struct progress *progress, struct err *err)
{
	struct ways w = { .pool = updn_pool(f, params),
			  .found = found,
			  .lock = PTHREAD_MUTEX_INITIALIZER };
	struct pace pace;
	int rc = updn_begin(&pace, f, params, progress);

	updown_init(&w.ud, f, roots, n);
	if (!rc)
		rc = updn_route_ranked(out, f, &w, params, &pace, progress, err);
	updown_done(&w.ud);
	pool_free(w.pool);
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

/* By a ranking from which everything is legal. */
static int updn_route_ordered(struct tables **out, const struct fabric *f,
			      const struct engine_params *params, struct progress *progress,
			      struct err *err)
{
	struct ways w = { .pool = updn_pool(f, params), .lock = PTHREAD_MUTEX_INITIALIZER };
	struct pace pace;
	int rc = updn_begin(&pace, f, params, progress);

	if (!rc)
		rc = updown_order_best(&w.ud, f, w.pool, &pace);
	if (!rc) {
		rc = updn_route_ranked(out, f, &w, params, &pace, progress, err);
		updown_done(&w.ud);
	}
	pool_free(w.pool);
	return rc;
}

/* The top of a tree where all paths are legal with that. */
static int updn_route_found(struct tables **out, const struct fabric *f,
			    const struct engine_params *params, struct progress *progress,
			    struct err *err)
{
	uint32_t *roots = xcalloc(f->nsw, sizeof(*roots)), n = updown_tree_roots(roots, f);
	int rc = -ENETUNREACH;

	if (n)
		rc = updn_route_from(out, f, roots, n, true, params, progress, err);
	free(roots);
	if (rc == -ENETUNREACH && err)
		err->text[0] = '\0';
	if (rc == -ENETUNREACH)
		rc = updn_route_ordered(out, f, params, progress, err);
	if (!rc)
		rc = shift_improve_turns(*out, f, params, progress, err);
	if (rc) {
		tables_put(*out);
		*out = NULL;
	}
	return rc;
}

/* -ENETUNREACH when a ranking leaves a pair of these LIDs and any ends without a legal path.  Frees
 * the ranking. */
static int updn_dests_ranked(struct tables *t, const struct fabric *f, const struct dest *dests,
			     uint32_t n, struct ways *w, struct pace *p, struct err *err)
{
	struct min_load_tree *b = min_load_tree_new(f, t, BALANCE_PATHS, updn_build, w);
	uint64_t done = 0;
	int rc = min_load_tree_route_all(b, dests, n, p, &done);

	if (!rc && w->illegal)
		rc = updn_refuse_missing(f, w->from, w->to, err);
	updown_done(&w->ud);
	min_load_tree_free(b);
	return rc;
}

static int updn_dests_from(struct tables *t, const struct fabric *f, const struct dest *dests,
			   uint32_t n, const uint32_t *roots, uint32_t nroots, struct pace *p,
			   struct err *err)
{
	struct ways w = { .lock = PTHREAD_MUTEX_INITIALIZER };

	updown_init(&w.ud, f, roots, nroots);
	return updn_dests_ranked(t, f, dests, n, &w, p, err);
}

int updn_route_dests(struct tables *t, const struct fabric *f, const struct dest *dests, uint32_t n,
		     const struct engine_params *params, const char *step,
		     struct progress *progress, struct err *err)
{
	uint32_t *roots = xcalloc(f->nsw, sizeof(*roots)), nroots;
	bool given = params->roots && params->nroots;
	struct ways w = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct pace pace;
	int rc = -ENETUNREACH;

	if (pace_begin(&pace, progress, step, n)) {
		rc = -ECANCELED;
		goto out;
	}
	if (given) {
		rc = updn_given_roots(roots, &nroots, f, params, err);
		if (!rc)
			rc = updn_dests_from(t, f, dests, n, roots, nroots, &pace, err);
		goto out;
	}
	nroots = updown_tree_roots(roots, f);
	if (nroots)
		rc = updn_dests_from(t, f, dests, n, roots, nroots, &pace, err);
	if (rc != -ENETUNREACH)
		goto out;
	rc = updown_order_best(&w.ud, f, NULL, &pace);
	if (!rc)
		rc = updn_dests_ranked(t, f, dests, n, &w, &pace, err);
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
		rc = updn_route_from(out, f, roots, n, false, params, progress, err);
	free(roots);
	return rc;
}

const struct engine engine_updn = {
	.name = "updn",
	.summary = "paths up, then down a ranking of the switches; one VL on any fabric",
	.suits = graph_check_connected,
	.route = updn_route,
};
