/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/graph.h"
#include "engines/graph/spdag.h"
#include "engines/graph/updown.h"
#include "engines/transition/transition.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Does the LID's entry differ anywhere, or SL of a path? */
static bool transition_via_lid_changes(const struct fabric *f, const struct tables *a,
				       const struct tables *b, uint32_t lid)
{
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		if (tables_row(a, sw)[lid] != tables_row(b, sw)[lid])
			return true;
	return false;
}

/* The LID's entries up*, then down*; the LIDs of one switch take turns where ways are equal. */
static void transition_via_route_lid(struct tables *t, const struct fabric *f,
				     const struct spdag *g, uint32_t lid)
{
	uint8_t dport = 0;
	uint32_t dsw = fabric_lid_switch(f, lid, &dport);

	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t sw = g->sw[i], ways = g->off[i + 1] - g->off[i];

		if (sw == dsw)
			tables_row(t, sw)[lid] = dport;
		else if (ways)
			tables_row(t, sw)[lid] = f->chan_port[g->chan[g->off[i] + lid % ways]];
	}
}

/* Old tables, but for LIDs that change (all: for every LID in use) from that root. */
static struct tables *transition_via_between(const struct fabric *f, const struct tables *old,
					     const struct tables *new, uint32_t root, bool all)
{
	struct tables *t = tables_onto(f, old, old);
	struct updown ud;
	struct spdag g;
	uint32_t n;
	struct dest *d = graph_dests_by_switch(&n, f, f->lmc);

	updown_init(&ud, f, &root, 1);
	spdag_init(&g, f);
	for (uint32_t i = 0; i < n; i++) {
		if (!all && !transition_via_lid_changes(f, old, new, d[i].lid))
			continue;
		if (g.root != d[i].sw)
			updown_dag(&ud, &g, f, d[i].sw);
		transition_via_route_lid(t, f, &g, d[i].lid);
	}
	spdag_done(&g);
	updown_done(&ud);
	free(d);
	t->vls = 0; /* those of old or fewer */
	return t;
}

/* Switches with the most channels first, then by index. */
static uint32_t *transition_via_roots_by_degree(const struct fabric *f)
{
	uint32_t *v = xcalloc(f->nsw, sizeof(*v)), n = 0;

	for (uint32_t deg = 0, most = FAB_MAX_PORT; deg <= most; deg++)
		for (uint32_t sw = 0; sw < f->nsw; sw++)
			if (f->chan_off[sw + 1] - f->chan_off[sw] == most - deg)
				v[n++] = sw;
	return v;
}

/* *out NULL when a step needs the drain. */
static int transition_via_try_between(struct transition_via **out, const struct fabric *f,
				      const struct tables *old, const struct tables *new,
				      uint32_t root, bool all,
				      const struct transition_params *params,
				      struct progress *progress, struct err *err)
{
	struct transition_via *v = xcalloc(1, sizeof(*v));
	int rc;

	*out = NULL;
	v->root = root;
	v->tables = transition_via_between(f, old, new, root, all);
	rc = transition_plan(&v->first, f, old, v->tables, params, progress, err);
	if (!rc && !v->first->ndrain)
		rc = transition_plan(&v->second, f, v->tables, new, params, progress, err);
	if (!rc && v->second && !v->second->ndrain) {
		*out = v;
		return 0;
	}
	transition_via_free(v);
	return rc == -EINVAL ? 0 : rc; /* tables in between that have cycles of their own */
}

static uint32_t transition_via_writes_of(const struct transition_via *v)
{
	return v->first->nwrites + v->second->nwrites;
}

int transition_find_via(struct transition_via **out, const struct fabric *f,
			const struct tables *old, const struct tables *new, uint32_t tries,
			const struct transition_params *params, struct progress *progress,
			struct err *err)
{
	/* a shrunken drain is of no use here */
	struct transition_params quick = { .sl_any = params && params->sl_any, .effort = 1 };
	struct transition_via *best = NULL;
	uint32_t *roots;
	int rc = graph_check_connected(f, err);

	if (rc)
		return rc;
	roots = transition_via_roots_by_degree(f);
	tries = tries ? tries : 4;
	for (uint32_t i = 0; i < 2 * tries && i / 2 < f->nsw && !rc; i++) {
		struct transition_via *v;

		rc = transition_via_try_between(&v, f, old, new, roots[i / 2], i & 1, &quick,
						progress, err);
		if (rc || !v)
			continue;
		if (best && transition_via_writes_of(best) <= transition_via_writes_of(v)) {
			transition_via_free(v);
			continue;
		}
		transition_via_free(best);
		best = v;
	}
	free(roots);
	if (!rc && !best)
		rc = err_set(
			err, -ENOENT,
			"no up*, then down* tables were found in between that avoid the drain");
	if (rc)
		transition_via_free(best);
	else
		*out = best;
	return rc;
}

void transition_via_free(struct transition_via *v)
{
	if (!v)
		return;
	tables_put(v->tables);
	transition_free(v->first);
	transition_free(v->second);
	free(v);
}
