/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/layers.h"

#include "engines/cdg.h"
#include "engines/columns.h"
#include "engines/graph.h"
#include "engines/spread.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	uint32_t root; /* switch for which the positions are; FAB_NONE: none */
	uint32_t *at;  /* switch at a position */
	uint32_t *pos, *depth, *count;
	uint32_t *out;	    /* channels of ports, as columns wants them */
	struct columns col; /* next channels towards the LIDs of the batch */
	uint32_t *parent;   /* position of the next switch */
	uint32_t *chan;
	uint32_t *prev;	 /* chan of the LID before, on the same switch with the same positions */
	bool *same;	 /* path is that of the LID before */
	uint16_t *have;	 /* layers that hold the whole path */
	uint32_t *added; /* positions whose turn was added for the path at hand */
	uint8_t *layer;	 /* by LID of the batch * nsw + switch */
};

static void layering_init(struct layering *l, const struct fabric *f, struct tables *t)
{
	*l = (struct layering){ .f = f, .t = t, .root = FAB_NONE };
	turns_init(&l->turns, f);
	l->has = xcalloc(l->turns.n, sizeof(*l->has));
	l->never = xcalloc(l->turns.n, sizeof(*l->never));
	l->work = cdg_work_new(f);
	l->at = xcalloc(f->nsw, sizeof(*l->at));
	l->pos = xcalloc(f->nsw, sizeof(*l->pos));
	l->depth = xcalloc(f->nsw, sizeof(*l->depth));
	l->count = xcalloc(f->nsw + 1, sizeof(*l->count));
	l->out = columns_ports(f);
	columns_init(&l->col, f, l->out);
	l->layer = xcalloc((size_t)f->nsw * COLUMNS_MAX, sizeof(*l->layer));
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
	free(l->at);
	free(l->pos);
	free(l->depth);
	free(l->count);
	free(l->out);
	for (unsigned i = 0; i < l->n; i++)
		cdg_free(l->cdg[i]);
	cdg_work_free(l->work);
	free(l->has);
	free(l->never);
	columns_done(&l->col);
	free(l->layer);
	free(l->parent);
	free(l->chan);
	free(l->prev);
	free(l->same);
	free(l->have);
	free(l->added);
}

/* Fills parent and chan; false when the positions do not suit this tree. */
static bool in_order(struct layering *l, const uint32_t *hop)
{
	bool ok = true;

	for (uint32_t i = 1; i < l->f->nsw; i++) {
		uint32_t c = hop[l->at[i]];

		if (c == FAB_NONE)
			return false;
		l->chan[i] = c;
		l->parent[i] = l->pos[l->f->chan_dst[c]];
		ok &= l->parent[i] < i;
	}
	return ok;
}

/* Keeps the turns that were added to layer k for a path, or takes them out again. */
static void settle(struct layering *l, unsigned k, uint32_t nadded, bool keep)
{
	for (uint32_t a = 0; a < nadded; a++) {
		uint32_t c = l->chan[l->added[a]], e = l->chan[l->parent[l->added[a]]];

		if (keep)
			l->has[turns_at(&l->turns, c, e)] |= (uint16_t)(1u << k);
		else
			cdg_remove(l->cdg[k], c, e);
	}
}

/* A turn that did not fit: does it close a cycle without those added before it too? */
static void judge_alone(struct layering *l, uint32_t p, unsigned k, bool alone)
{
	uint32_t c = l->chan[p], e = l->chan[l->parent[p]];

	if (!alone && cdg_add(l->cdg[k], c, e))
		cdg_remove(l->cdg[k], c, e);
	else
		l->never[turns_at(&l->turns, c, e)] |= (uint16_t)(1u << k);
}

/* Puts the path from position i into layer k unless that closes a cycle. */
static bool fits(struct layering *l, uint32_t i, unsigned k)
{
	uint32_t nadded = 0, last = i;
	bool ok = true;

	for (uint32_t p = i; l->parent[p] && ok; p = l->parent[p]) {
		uint32_t c = l->chan[p], e = l->chan[l->parent[p]];

		if (l->has[turns_at(&l->turns, c, e)] >> k & 1)
			continue;
		last = p;
		ok = cdg_add(l->cdg[k], c, e);
		if (ok)
			l->added[nadded++] = p;
	}
	settle(l, k, nadded, ok);
	if (!ok)
		judge_alone(l, last, k, !nadded);
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
		if (never >> k & 1)
			continue;
		if (k == l->n)
			l->cdg[l->n++] = cdg_new(l->work);
		if (!fits(l, i, k))
			continue;
		for (uint32_t p = i; p; p = l->parent[p])
			l->have[p] |= (uint16_t)(1u << k);
		return k;
	}
	return LAYERS_MAX;
}

/* Layers of all paths to one LID; again: the LID before has the same switch and positions. */
static bool assign_lid(struct layering *l, uint8_t *layer, bool again)
{
	l->same[0] = again;
	for (uint32_t i = 1; i < l->f->nsw; i++) {
		uint32_t p = l->parent[i], u = l->at[i];

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

/* Positions by hops to the LID, then by switch; all LIDs of a switch share them as long as
 * their paths are equally long. */
static int order_by_depth(struct layering *l, const uint32_t *hop, const struct dest *d,
			  struct err *err)
{
	uint32_t *depth = l->depth, *count = l->count, *stack = l->added, n = l->f->nsw;

	memset(count, 0, (n + 1) * sizeof(*count));
	memset(depth, 0xff, n * sizeof(*depth));
	depth[d->sw] = 0;
	for (uint32_t s = 0; s < n; s++) {
		uint32_t u = s, k = 0;

		while (depth[u] == FAB_NONE && k < n && hop[u] != FAB_NONE) {
			stack[k++] = u;
			u = l->f->chan_dst[hop[u]];
		}
		if (depth[u] == FAB_NONE)
			return err_set(err, -EINVAL,
				       "the tables do not lead from switch %s to LID %u",
				       l->f->sw_name[s], d->lid);
		for (uint32_t from = depth[u]; k--;)
			depth[stack[k]] = ++from;
		count[depth[s] + 1]++;
	}
	for (uint32_t i = 1; i <= n; i++)
		count[i] += count[i - 1];
	for (uint32_t u = 0; u < n; u++) {
		l->pos[u] = count[depth[u]]++;
		l->at[l->pos[u]] = u;
	}
	l->root = d->sw;
	return 0;
}

static void write_sls(struct layering *l, const struct dest *d, uint32_t n)
{
	const struct fabric *f = l->f;
	struct tables *t = l->t;

	if (l->n < 2)
		return;
	if (t->sl_kind != SL_BY_SWITCH)
		tables_sl_form(t, SL_BY_SWITCH, f);
	for (uint32_t u = 0; u < f->nsw; u++) {
		uint8_t *row = t->sl + (size_t)u * t->stride;

		for (uint32_t k = 0; k < n; k++)
			if (l->layer[(size_t)k * f->nsw + u])
				row[d[k].lid] = l->layer[(size_t)k * f->nsw + u];
	}
}

/* All paths to n LIDs of one switch. */
static int assign_batch(struct layering *l, const struct dest *d, uint32_t n, struct err *err)
{
	bool again = false;

	columns_read(&l->col, l->t, d, n);
	for (uint32_t k = 0; k < n; k++) {
		const uint32_t *hop = columns_at(&l->col, k);
		uint32_t *swap = l->prev;
		int rc;

		l->prev = l->chan;
		l->chan = swap;
		if (l->root != d->sw || !in_order(l, hop)) {
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

static int assign_all(struct layering *l, const struct dest *dests, uint32_t n, struct pace *pace,
		      struct err *err)
{
	int rc = 0;

	for (uint32_t done = 0; !rc && done < n;) {
		uint64_t before = cdg_work_done(l->work), searched;
		uint32_t k = columns_run(dests + done, n - done);

		rc = assign_batch(l, dests + done, k, err);
		done += k;
		searched = cdg_work_done(l->work) - before;
		if (!rc && pace_tick(pace, done, 4 * (k + 2ull) * l->f->nsw + 16 * searched))
			rc = -ECANCELED;
	}
	return rc;
}

/* Paths with a turn; the others fit every layer, and LIDs without a path are not ours. */
static bool has_turn(const struct layering *l, uint32_t u, uint32_t lid, uint32_t dst)
{
	uint32_t c = fabric_chan(l->f, u, tables_row(l->t, u)[lid]);

	return u != dst && c != FAB_NONE && l->f->chan_dst[c] != dst;
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
			uint8_t v = l->t->sl[(size_t)u * l->t->stride + lid];

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

/* What was written by switch goes into one row where that is enough. */
static void store_sls(struct layering *l)
{
	struct tables *t = l->t;
	uint8_t *sl = xcalloc(t->stride, 1);

	if (t->sl_kind == SL_BY_SWITCH && by_dlid(l, sl)) {
		tables_sl_form(t, SL_BY_DLID, l->f);
		memcpy(t->sl, sl, t->stride);
	}
	free(sl);
}

/* more: not even LAYERS_MAX were enough. */
static int too_few(struct err *err, const struct layering *l, bool more, unsigned vls)
{
	return err_set(err, -ENOSPC,
		       "the paths of %s need %s%u VLs without deadlocks, and %u may be used; updn "
		       "needs 1 on every fabric, and nue does with any number",
		       l->t->engine, more ? "more than " : "", l->n, vls);
}

/* The VLs that are left over; dests: all. */
static int use_spare(struct layering *l, const struct engine_params *params, unsigned vls,
		     const struct dest *dests, uint32_t n, struct pace *pace)
{
	struct spread_stats stats;
	int rc = spread_vls(l->t, l->f, dests, n, l->t->vls, vls, pace, &stats);

	if (rc)
		return rc;
	l->t->vls = l->t->sls = (uint8_t)stats.vls;
	notes_set(params->notes, "vls_spread", stats.vls,
		  "spread over %u VLs: at most %llu routes share a channel and VL, not %llu",
		  stats.vls, (unsigned long long)stats.after, (unsigned long long)stats.before);
	return 0;
}

int layers_assign_in_order(struct tables *t, const struct fabric *f, const uint32_t *switches,
			   const struct engine_params *params, struct progress *progress,
			   struct err *err)
{
	unsigned vls = graph_vls(f, params);
	bool spread = params && params->spread;
	struct layering l;
	struct pace pace;
	uint32_t n;
	struct dest *dests = graph_dests_in_order(&n, f, graph_lmc(f, params), switches);
	int rc = pace_begin(&pace, progress, "layers", spread ? 3ull * n : n) ? -ECANCELED : 0;

	layering_init(&l, f, t);
	tables_sl_form(t, SL_CONST, f);
	tables_sl2vl_form(t, SL2VL_IDENTITY, f);
	if (!rc)
		rc = assign_all(&l, dests, n, &pace, err);
	if (rc == -ENOSPC || (!rc && l.n > vls))
		rc = too_few(err, &l, rc == -ENOSPC, vls);
	if (!rc) {
		store_sls(&l);
		t->vls = t->sls = (uint8_t)(l.n ? l.n : 1);
		if (params)
			notes_set(params->notes, "vls_needed", t->vls,
				  "%u VL%s keep%s its paths free of deadlocks", t->vls,
				  t->vls == 1 ? "" : "s", t->vls == 1 ? "s" : "");
	}
	if (!rc && spread && t->vls < vls)
		rc = use_spare(&l, params, vls, dests, n, &pace);
	layering_done(&l);
	free(dests);
	return rc;
}

int layers_assign(struct tables *t, const struct fabric *f, const struct engine_params *params,
		  struct progress *progress, struct err *err)
{
	return layers_assign_in_order(t, f, NULL, params, progress, err);
}

int layers_route(struct tables **out, const struct fabric *f, const char *engine,
		 const struct jobset *jobs, const struct engine_params *params,
		 layers_paths_fn paths, struct progress *progress, struct err *err)
{
	struct tables *t;
	int rc = graph_check_connected(f, err);

	if (rc)
		return rc;
	t = graph_tables(f, engine, params);
	rc = paths(t, f, jobs, params, progress, err);
	if (!rc)
		rc = layers_assign(t, f, params, progress, err);
	if (rc) {
		tables_put(t);
		return rc;
	}
	*out = t;
	return 0;
}
