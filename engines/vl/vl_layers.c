/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/vl/vl_layers.h"

#include "engines/graph/graph.h"
#include "engines/vl/vl_first_fit.h"
#include "engines/vl/vl_spread.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct layering {
	const struct fabric *f;
	struct tables *t;
	unsigned n; /* layers in use */
};

#define REPORT_SWITCHES 64

/* Adds the SLs of one row to those by LID; paths without a turn fit every layer, and LIDs without a
 * path are not ours.  False when a LID has another SL already.  end: by LID, where it ends. */
static bool vl_layers_add_row(int8_t *one, const struct layering *l, const uint32_t *end,
			      uint32_t u)
{
	const struct fabric *f = l->f;
	const uint8_t *row = tables_row(l->t, u), *sl = l->t->sl + (size_t)u * l->t->stride;
	uint32_t to[FAB_MAX_PORT + 2];

	for (uint32_t p = 0; p < FAB_MAX_PORT + 2; p++) {
		uint32_t c = fabric_chan(f, u, (uint8_t)p);

		to[p] = c == FAB_NONE ? FAB_NONE : f->chan_dst[c];
	}
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint32_t v = to[row[lid]];

		if (end[lid] == FAB_NONE || end[lid] == u || v == FAB_NONE || v == end[lid])
			continue;
		if (one[lid] >= 0 && one[lid] != (int8_t)sl[lid])
			return false;
		one[lid] = (int8_t)sl[lid];
	}
	return true;
}

/* True when the SL depends on the destination only.  Row by row: columns would be looked for all
 * over the tables. */
static bool vl_layers_by_dlid(const struct layering *l, uint8_t *sl, struct pace *pace)
{
	const struct fabric *f = l->f;
	uint32_t *end = xcalloc(f->max_lid + 1u, sizeof(*end));
	int8_t *one = xcalloc(f->max_lid + 1u, sizeof(*one));
	bool same = true;

	memset(one, 0xff, f->max_lid + 1u);
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint8_t port;

		end[lid] = fabric_lid_switch(f, lid, &port);
	}
	for (uint32_t u = 0; u < f->nsw && same; u++) {
		if (f->term_off[u] != f->term_off[u + 1])
			same = vl_layers_add_row(one, l, end, u);
		if (u % REPORT_SWITCHES == 0 && pace_work(pace, pace->work_max))
			break; /* the next step says so */
	}
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		sl[lid] = one[lid] < 0 ? 0 : (uint8_t)one[lid];
	free(end);
	free(one);
	return same;
}

/* What was written by switch goes into one row where that is enough. */
static void vl_layers_store_sls(struct layering *l, struct pace *pace)
{
	struct tables *t = l->t;
	uint8_t *sl = xcalloc(t->stride, 1);

	if (t->sl_kind == SL_BY_SWITCH && vl_layers_by_dlid(l, sl, pace)) {
		tables_sl_form(t, SL_BY_DLID, l->f);
		memcpy(t->sl, sl, t->stride);
	}
	free(sl);
}

/* more: not even FIRST_FIT_MAX were enough. */
static int vl_layers_too_few(struct err *err, const struct layering *l, bool more, unsigned vls,
			     const struct engine_params *params)
{
	if (params)
		notes_set(params->notes, "vls_needed", more ? FIRST_FIT_MAX + 1 : l->n,
			  "its paths need %s%u VLs to be deadlock-free", more ? "more than " : "",
			  l->n);
	return err_set(err, -ENOSPC,
		       "the paths of %s need %s%u VLs to be deadlock-free, and %u may be used; "
		       "updn needs 1 on any fabric, nue works with any number",
		       l->t->engine, more ? "more than " : "", l->n, vls);
}

/* The VLs that are left over; dests: all. */
static int vl_layers_use_spare(struct layering *l, const struct engine_params *params, unsigned vls,
			       const struct dest *dests, uint32_t n, struct pace *pace)
{
	struct vl_spread_stats stats;
	int rc = vl_spread(l->t, l->f, dests, n, l->t->vls, vls, pace, &stats);

	if (rc)
		return rc;
	l->t->vls = l->t->sls = (uint8_t)stats.vls;
	notes_set(params->notes, "vls_spread", stats.vls,
		  "spread over %u VLs: at most %llu paths share a channel and VL, instead of %llu",
		  stats.vls, (unsigned long long)stats.after, (unsigned long long)stats.before);
	return 0;
}

static int vl_layers_do_assign(struct tables *t, const struct fabric *f, const uint32_t *switches,
			       const struct tables *keep, const struct engine_params *params,
			       struct progress *progress, struct err *err)
{
	unsigned vls = graph_vls(f, params);
	bool spread = params && params->spread;
	struct layering l = { .f = f, .t = t };
	struct pace pace;
	uint32_t n;
	struct dest *dests = graph_dests_in_order(&n, f, graph_lmc(f, params), switches);
	int rc = pace_begin(&pace, progress, "layers", spread ? 3ull * n : n) ? -ECANCELED : 0;

	tables_sl_form(t, SL_CONST, f);
	tables_sl2vl_form(t, SL2VL_IDENTITY, f);
	if (!rc)
		rc = vl_first_fit(t, f, dests, n, keep, NULL, vls, params ? params->threads : 1,
				  &l.n, &pace, err);
	if (rc == -ENOSPC || (!rc && l.n > vls))
		rc = vl_layers_too_few(err, &l, rc == -ENOSPC, vls, params);
	if (!rc) {
		/* a form by LID would change SLs of paths without a turn */
		if (!keep || keep->sl_kind == SL_CONST || keep->sl_kind == SL_BY_DLID)
			vl_layers_store_sls(&l, &pace);
		t->vls = t->sls = (uint8_t)(l.n ? l.n : 1);
		if (params)
			notes_set(params->notes, "vls_needed", t->vls,
				  "%u VL%s keep%s its paths deadlock-free", t->vls,
				  t->vls == 1 ? "" : "s", t->vls == 1 ? "s" : "");
	}
	if (!rc && spread && t->vls < vls)
		rc = vl_layers_use_spare(&l, params, vls, dests, n, &pace);
	free(dests);
	return rc;
}

int vl_layers_assign_in_order(struct tables *t, const struct fabric *f, const uint32_t *switches,
			      const struct engine_params *params, struct progress *progress,
			      struct err *err)
{
	return vl_layers_do_assign(t, f, switches, NULL, params, progress, err);
}

int vl_layers_assign_from(struct tables *t, const struct fabric *f, const struct tables *from,
			  const struct engine_params *params, struct progress *progress,
			  struct err *err)
{
	bool keep =
		!(params && params->spread) && (from->sl_kind != SL_CONST || from->sl_const == 0);
	int rc = keep ? vl_layers_do_assign(t, f, NULL, from, params, progress, err) : -ENOSPC;

	return rc == -ENOSPC ? vl_layers_assign(t, f, params, progress, err) : rc;
}

int vl_layers_assign(struct tables *t, const struct fabric *f, const struct engine_params *params,
		     struct progress *progress, struct err *err)
{
	return vl_layers_assign_in_order(t, f, NULL, params, progress, err);
}

int vl_layers_route(struct tables **out, const struct fabric *f, const char *engine,
		    const struct jobset *jobs, const struct engine_params *params,
		    layers_paths_fn paths, struct progress *progress, struct err *err)
{
	struct tables *t;
	int rc = graph_check_connected(f, err);

	if (rc)
		return rc;
	t = graph_tables(f, engine, params, progress);
	rc = paths(t, f, jobs, params, progress, err);
	if (!rc)
		rc = vl_layers_assign(t, f, params, progress, err);
	if (rc) {
		tables_put(t);
		return rc;
	}
	*out = t;
	return 0;
}
