/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/layers.h"

#include "engines/cdg.h"
#include "engines/graph.h"
#include "engines/spdag.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 64 /* LIDs of one destination switch that are looked at together */

struct layering {
	const struct fabric *f;
	struct tables *t;
	struct turns turns;
	uint16_t *has;	 /* by turn: layers in which it is present */
	uint16_t *never; /* by turn: layers where it alone would close a cycle */
	struct cdg_work *work;
	struct cdg *cdg[LAYERS_MAX];
	unsigned n; /* layers in use */

	/* the paths to one LID, by position: a switch comes after its next switch */
	struct spdag dag;
	uint32_t *hop; /* by LID of the batch * nsw + switch: next channel, FAB_NONE at the end */
	uint32_t *parent; /* position of the next switch */
	uint32_t *chan;
	uint32_t *prev;	 /* chan of the LID before, on the same switch with the same positions */
	bool *same;	 /* path is that of the LID before */
	uint16_t *have;	 /* layers that hold the whole path */
	uint32_t *added; /* positions whose turn was added for the path at hand */
	uint8_t *layer;	 /* by LID of the batch * nsw + switch */
	uint8_t *sl;	 /* by switch * stride + LID; NULL while all is in layer 0 */
};

static void layering_init(struct layering *l, const struct fabric *f, struct tables *t)
{
	*l = (struct layering){ .f = f, .t = t };
	turns_init(&l->turns, f);
	l->has = xcalloc(l->turns.n, sizeof(*l->has));
	l->never = xcalloc(l->turns.n, sizeof(*l->never));
	l->work = cdg_work_new(f);
	spdag_init(&l->dag, f);
	l->hop = xcalloc((size_t)f->nsw * BATCH, sizeof(*l->hop));
	l->layer = xcalloc((size_t)f->nsw * BATCH, sizeof(*l->layer));
	l->parent = xcalloc(f->nsw, sizeof(*l->parent));
	l->chan = xcalloc(f->nsw, sizeof(*l->chan));
	l->prev = xcalloc(f->nsw, sizeof(*l->prev));
	l->same = xcalloc(f->nsw, sizeof(*l->same));
	l->have = xcalloc(f->nsw, sizeof(*l->have));
	l->added = xcalloc(f->nsw, sizeof(*l->added));
}

static void layering_done(struct layering *l)
{
	turns_done(&l->turns);
	spdag_done(&l->dag);
	for (unsigned i = 0; i < l->n; i++)
		cdg_free(l->cdg[i]);
	cdg_work_free(l->work);
	free(l->has);
	free(l->never);
	free(l->hop);
	free(l->layer);
	free(l->parent);
	free(l->chan);
	free(l->prev);
	free(l->same);
	free(l->have);
	free(l->added);
	free(l->sl);
}

/* Next channels of all switches towards the LIDs of the batch. */
static void gather(struct layering *l, const struct dest *d, uint32_t n)
{
	const struct fabric *f = l->f;

	for (uint32_t u = 0; u < f->nsw; u++) {
		const uint8_t *row = tables_row(l->t, u);

		for (uint32_t k = 0; k < n; k++)
			l->hop[(size_t)k * f->nsw + u] =
				u == d->sw ? FAB_NONE : fabric_chan(f, u, row[d[k].lid]);
	}
}

/* Fills parent and chan; false when the positions do not suit this tree. */
static bool in_order(struct layering *l, const uint32_t *hop)
{
	const struct spdag *g = &l->dag;
	bool ok = true;

	for (uint32_t i = 1; i < g->n; i++) {
		uint32_t c = hop[g->sw[i]];

		if (c == FAB_NONE)
			return false;
		l->chan[i] = c;
		l->parent[i] = g->pos[l->f->chan_dst[c]];
		ok &= l->parent[i] < i;
	}
	return ok;
}

/* Layer for the path from position i, none of which holds it yet: the first that stays
 * acyclic with it; LAYERS_MAX when there is none. */
static unsigned place(struct layering *l, uint32_t i)
{
	uint32_t never = 0;

	for (uint32_t p = i; l->parent[p]; p = l->parent[p])
		never |= l->never[turns_at(&l->turns, l->chan[p], l->chan[l->parent[p]])];
	for (unsigned k = 0; k < LAYERS_MAX; k++) {
		uint32_t nadded = 0, p;
		bool ok = true;

		if (never >> k & 1)
			continue;
		if (k == l->n)
			l->cdg[l->n++] = cdg_new(l->work);
		for (p = i; l->parent[p] && ok; p = l->parent[p]) {
			uint32_t c = l->chan[p], e = l->chan[l->parent[p]];
			uint32_t turn = turns_at(&l->turns, c, e);

			if (l->has[turn] >> k & 1)
				continue;
			ok = cdg_add(l->cdg[k], c, e);
			if (ok)
				l->added[nadded++] = p;
			else if (!nadded)
				l->never[turn] |= (uint16_t)(1u << k);
		}
		for (uint32_t a = 0; a < nadded; a++) {
			uint32_t c = l->chan[l->added[a]], e = l->chan[l->parent[l->added[a]]];

			if (ok)
				l->has[turns_at(&l->turns, c, e)] |= (uint16_t)(1u << k);
			else
				cdg_remove(l->cdg[k], c, e);
		}
		if (!ok)
			continue;
		for (p = i; p; p = l->parent[p])
			l->have[p] |= (uint16_t)(1u << k);
		return k;
	}
	return LAYERS_MAX;
}

/* Layers of all paths to one LID; again: the LID before has the same switch and positions. */
static bool assign_lid(struct layering *l, uint8_t *layer, bool again)
{
	const struct spdag *g = &l->dag;

	l->same[0] = again;
	for (uint32_t i = 1; i < g->n; i++) {
		uint32_t p = l->parent[i], u = g->sw[i];

		l->same[i] = l->same[p] && l->chan[i] == l->prev[i];
		if (l->same[i]) {
			layer[u] = (layer - l->f->nsw)[u];
			continue;
		}
		l->have[i] = p ? l->have[p] & l->has[turns_at(&l->turns, l->chan[i], l->chan[p])]
			       : UINT16_MAX;
		layer[u] = 0;
		if (l->f->term_off[u] == l->f->term_off[u + 1])
			continue;
		if (l->have[i]) {
			layer[u] = (uint8_t)__builtin_ctz(l->have[i]);
			continue;
		}
		layer[u] = (uint8_t)place(l, i);
		if (layer[u] == LAYERS_MAX)
			return false;
	}
	return true;
}

/* Positions from the tree itself, for tables whose paths are not shortest ones. */
static int order_by_depth(struct layering *l, const uint32_t *hop, const struct dest *d,
			  struct err *err)
{
	const struct fabric *f = l->f;
	struct spdag *g = &l->dag;
	uint32_t *depth = g->dist, *stack = l->added, n = f->nsw;

	memset(g->fill, 0, (n + 1) * sizeof(*g->fill));
	memset(depth, 0xff, n * sizeof(*depth));
	depth[d->sw] = 0;
	for (uint32_t s = 0; s < n; s++) {
		uint32_t u = s, k = 0;

		while (depth[u] == FAB_NONE && k < n && hop[u] != FAB_NONE) {
			stack[k++] = u;
			u = f->chan_dst[hop[u]];
		}
		if (depth[u] == FAB_NONE)
			return err_set(err, -EINVAL,
				       "the tables do not lead from switch %s to LID %u",
				       f->sw_name[s], d->lid);
		for (uint32_t from = depth[u]; k--;)
			depth[stack[k]] = ++from;
		g->fill[depth[s] + 1 < n ? depth[s] + 1 : n]++;
	}
	for (uint32_t i = 1; i <= n; i++)
		g->fill[i] += g->fill[i - 1];
	for (uint32_t u = 0; u < n; u++) {
		g->pos[u] = g->fill[depth[u]]++;
		g->sw[g->pos[u]] = u;
	}
	g->n = n;
	g->root = FAB_NONE;
	return 0;
}

static void write_sls(struct layering *l, const struct dest *d, uint32_t n)
{
	const struct fabric *f = l->f;
	uint32_t stride = l->t->stride;

	if (!l->sl && l->n > 1)
		l->sl = xcalloc((size_t)f->nsw * stride, 1);
	if (!l->sl)
		return;
	for (uint32_t u = 0; u < f->nsw; u++) {
		uint8_t *row = l->sl + (size_t)u * stride;

		for (uint32_t k = 0; k < n; k++)
			if (l->layer[(size_t)k * f->nsw + u])
				row[d[k].lid] = l->layer[(size_t)k * f->nsw + u];
	}
}

/* All paths to n LIDs of one switch. */
static int assign_batch(struct layering *l, const struct dest *d, uint32_t n, struct err *err)
{
	bool again = false;

	gather(l, d, n);
	if (l->dag.root != d->sw)
		spdag_shortest(&l->dag, l->f, d->sw);
	for (uint32_t k = 0; k < n; k++) {
		const uint32_t *hop = l->hop + (size_t)k * l->f->nsw;
		uint32_t *swap = l->prev;
		int rc;

		l->prev = l->chan;
		l->chan = swap;
		if (!in_order(l, hop)) {
			rc = order_by_depth(l, hop, &d[k], err);
			if (rc)
				return rc;
			in_order(l, hop);
			again = false;
		}
		if (!assign_lid(l, l->layer + (size_t)k * l->f->nsw, again))
			return -ENOSPC;
		again = true;
	}
	write_sls(l, d, n);
	return 0;
}

static int assign_all(struct layering *l, struct progress *progress, struct err *err)
{
	uint32_t ndest, done = 0;
	struct dest *dests = graph_dests_by_switch(&ndest, l->f);
	struct pace pace;
	int rc = pace_begin(&pace, progress, "layers", ndest) ? -ECANCELED : 0;

	while (!rc && done < ndest) {
		uint64_t before = cdg_work_done(l->work);
		uint32_t k = 1;

		while (k < BATCH && done + k < ndest && dests[done + k].sw == dests[done].sw)
			k++;
		rc = assign_batch(l, dests + done, k, err);
		done += k;
		if (!rc &&
		    pace_tick(&pace, done,
			      (uint64_t)k * l->f->nsw + 16 * (cdg_work_done(l->work) - before)))
			rc = -ECANCELED;
	}
	free(dests);
	return rc;
}

/* Paths with a turn; the others fit every layer. */
static bool has_turn(const struct layering *l, uint32_t u, uint32_t lid, uint32_t dst)
{
	const struct fabric *f = l->f;

	return u != dst && f->chan_dst[fabric_chan(f, u, tables_row(l->t, u)[lid])] != dst;
}

/* True when the SL depends on the destination only. */
static bool by_dlid(const struct layering *l, uint8_t *sl)
{
	const struct fabric *f = l->f;

	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint8_t port;
		uint32_t dst = fabric_lid_switch(f, lid, &port);
		int one = -1;

		for (uint32_t u = 0; u < f->nsw && dst != FAB_NONE; u++) {
			uint8_t v = l->sl[(size_t)u * l->t->stride + lid];

			if (f->term_off[u] == f->term_off[u + 1] || !has_turn(l, u, lid, dst))
				continue;
			if (one >= 0 && one != v)
				return false;
			one = v;
		}
		sl[lid] = one < 0 ? 0 : (uint8_t)one;
	}
	return true;
}

static void store_sls(struct layering *l)
{
	struct tables *t = l->t;
	uint8_t *sl;

	t->vls = t->sls = (uint8_t)(l->n ? l->n : 1);
	tables_sl2vl_form(t, SL2VL_IDENTITY, l->f);
	if (!l->sl) {
		tables_sl_form(t, SL_CONST, l->f);
		return;
	}
	sl = xcalloc(t->stride, 1);
	if (by_dlid(l, sl)) {
		tables_sl_form(t, SL_BY_DLID, l->f);
		memcpy(t->sl, sl, t->stride);
	} else {
		tables_sl_form(t, SL_BY_SWITCH, l->f);
		memcpy(t->sl, l->sl, (size_t)t->nsw * t->stride);
	}
	free(sl);
}

int layers_assign(struct tables *t, const struct fabric *f, unsigned vls, struct progress *progress,
		  struct err *err)
{
	struct layering l;
	int rc;

	layering_init(&l, f, t);
	rc = assign_all(&l, progress, err);
	if (rc == -ENOSPC)
		err_set(err, rc,
			"the paths of %s need more than %u VLs without deadlocks, and %u may be "
			"used; "
			"updn needs 1 on every fabric",
			t->engine, LAYERS_MAX, vls);
	else if (!rc && l.n > vls)
		rc = err_set(err, -ENOSPC,
			     "the paths of %s need %u VLs without deadlocks, and %u may be used; "
			     "updn needs 1 on every fabric",
			     t->engine, l.n, vls);
	if (!rc)
		store_sls(&l);
	layering_done(&l);
	return rc;
}
