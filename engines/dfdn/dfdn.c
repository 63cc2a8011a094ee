/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/dfdn/dfdn.h"

#include "engines/dfdn/dfdn_levels.h"
#include "engines/dfdn/dfdn_tight.h"
#include "engines/dfdn/dfdn_tree.h"
#include "engines/graph/balance/balanced_sssp.h"
#include "engines/graph/graph.h"
#include "engines/graph/updown.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/tile.h"
#include "fabric/base/text/notes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOTS	   4  /* to try for up and down */
#define FEW_SLS	   4  /* not worth more work */
#define MANY_SLS   32 /* that first fit takes: most constrained first would not do with 16 */
#define EFFORT	   (20u << 20) /* switches looked at once there is something to improve */
#define TURN_WORK  8	       /* of a turn that an SL is looked for, against a look at an edge */
#define PACE_TOTAL (1u << 30)

struct dfdn {
	const struct fabric *f;
	struct tables *t;
	struct dfdn_tree tree;
	struct pace pace;
	unsigned vls;	/* that may be used */
	uint32_t *turn; /* of the path at hand */
	struct dfdn_paths *paths;
	bool listed;

	/* the best so far; levels NULL: none */
	struct dfdn_levels *levels;
	struct dfdn_rises rises;
	unsigned nvl, sls;
	enum dfdn_align align;
	bool needless;
	/* the least that assignments asked for which cannot be had; 0: none did */
	unsigned need_vls, need_sls;
};

/* One assignment of SLs to all paths. */
struct attempt {
	struct dfdn *x;
	struct dfdn_levels *levels;
	unsigned nvl, sls, max_sls;
	enum dfdn_align align;
	bool misfit;
	bool *placed; /* by position: the path from there, or one that it is part of */
};

static void dfdn_place(struct attempt *a, const struct dfdn_tree *tree, uint32_t i)
{
	uint32_t n = dfdn_tree_path(tree, i, a->x->turn);
	unsigned sl;

	if (n < 2)
		return;
	a->x->tree.work += TURN_WORK * n;
	sl = dfdn_levels_place(a->levels, a->x->turn, n, a->max_sls, a->align, NULL);
	a->misfit |= sl == a->max_sls;
	a->sls = sl >= a->sls ? sl + 1 : a->sls;
}

/* Farthest switches first: those along the path have the same SL and nothing to add. */
static bool dfdn_place_tree(void *ctx, const struct dfdn_tree *tree, uint32_t k)
{
	struct attempt *a = ctx;

	(void)k;
	for (uint32_t j = 0; j < tree->nnews; j++)
		a->placed[tree->news[j]] = false;
	for (uint32_t j = tree->nnews; j--;) {
		uint32_t i = tree->news[j];

		if (!a->placed[i] && !tree->source[i])
			continue;
		if (!a->placed[i])
			dfdn_place(a, tree, i);
		a->placed[tree->parent[i]] = true;
	}
	return a->misfit;
}

/* Takes over an assignment if it is the best so far, and frees it otherwise. */
static void dfdn_judge(struct dfdn *x, struct attempt *a)
{
	bool better = !x->levels || a->nvl < x->nvl || (a->nvl == x->nvl && a->sls < x->sls);

	if (a->misfit || a->sls > FAB_SLS || !better) {
		dfdn_levels_free(a->levels);
		return;
	}
	dfdn_levels_free(x->levels);
	x->levels = a->levels;
	x->nvl = a->nvl;
	x->sls = a->sls;
	x->align = a->align;
}

/* No turn is taken yet. */
static int dfdn_begin(struct dfdn *x, struct attempt *a)
{
	a->levels = dfdn_levels_new(x->tree.turns.n, a->nvl, x->rises.rise, &x->pace);
	return pace_cancelled(&x->pace) ? -ECANCELED : 0;
}

/* In the order of LIDs; gives up where the best so far has no more SLs. */
static int dfdn_vl_first_fit(struct dfdn *x, struct attempt *a)
{
	struct dfdn_visit v = { .tree = dfdn_place_tree, .ctx = a };
	int rc;

	a->x = x;
	a->sls = 1;
	a->max_sls = x->levels && x->nvl <= a->nvl ? x->sls - 1 : DFDN_SLS;
	if (!a->max_sls)
		return 0;
	rc = dfdn_begin(x, a);
	a->placed = xcalloc(x->tree.n, sizeof(*a->placed));
	if (!rc)
		rc = dfdn_tree_visit(&x->tree, &v, &x->pace);
	free(a->placed);
	if (!rc && !a->misfit && a->sls > FAB_SLS && (!x->need_sls || a->sls < x->need_sls))
		x->need_sls = a->sls;
	a->misfit |= rc != 0;
	dfdn_judge(x, a);
	return rc;
}

/* Most constrained first, where that is no long work for little and has a chance. */
static int dfdn_tight(struct dfdn *x, struct attempt *a)
{
	int rc = 0;

	if ((x->levels && x->nvl <= a->nvl && x->sls <= FEW_SLS) ||
	    (!x->levels && (!x->need_sls || x->need_sls > MANY_SLS)))
		return 0;
	if (!x->listed)
		rc = dfdn_paths_list(&x->paths, &x->tree, &x->pace);
	x->listed = true;
	if (rc || !x->paths || (x->levels && dfdn_paths_turns(x->paths) > EFFORT / 64))
		return rc;
	rc = dfdn_begin(x, a);
	if (!rc)
		rc = dfdn_paths_place(x->paths, a->levels, a->align, &a->misfit, &a->sls, &x->pace);
	a->misfit |= rc != 0;
	dfdn_judge(x, a);
	return rc;
}

/* Assignments to that many VLs. */
static int dfdn_assign(struct dfdn *x, unsigned nvl)
{
	int rc = 0;

	for (int align = DFDN_ALIGN_DESTINATION; align <= DFDN_ALIGN_SOURCE && !rc; align++)
		rc = dfdn_vl_first_fit(x, &(struct attempt){ .nvl = nvl, .align = align });
	if (!rc)
		rc = dfdn_tight(x,
				&(struct attempt){ .nvl = nvl, .align = DFDN_ALIGN_DESTINATION });
	return rc;
}

/* Up is towards these roots.  With more VLs than needed there may be an SL less. */
static int dfdn_try_roots(struct dfdn *x, const uint32_t *roots, uint32_t n)
{
	unsigned most, nvl;
	int rc;

	dfdn_tree_free_rises(&x->rises);
	rc = dfdn_tree_find_rises(&x->rises, &x->tree, roots, n, &x->pace);
	most = x->rises.longest < x->vls ? x->rises.longest : x->vls;
	nvl = x->rises.most + 1;
	x->needless = x->rises.needless;
	if (rc || x->needless)
		return rc;
	if (!x->need_vls || nvl < x->need_vls)
		x->need_vls = nvl;
	if (nvl <= most)
		rc = dfdn_assign(x, nvl);
	if (!rc && !x->levels && nvl < most)
		rc = dfdn_assign(x, most);
	return rc;
}

/* Switches looked at so far. */
static uint64_t dfdn_effort(const struct dfdn *x)
{
	return (uint64_t)x->tree.visits * x->tree.ndest * x->tree.n;
}

/* The top of a tree, else switches from all over the fabric. */
static int dfdn_try_all_roots(struct dfdn *x)
{
	uint32_t *roots = xcalloc(x->f->nsw, sizeof(*roots));
	uint32_t n = updown_tree_roots(roots, x->f), k;
	int rc = n ? dfdn_try_roots(x, roots, n) : 0;

	for (k = 0; k < ROOTS && !rc && !x->needless; k++) {
		uint32_t root = (uint32_t)((uint64_t)k * x->f->nsw / ROOTS);

		if (x->levels && ((x->nvl <= 2 && x->sls <= 2) || dfdn_effort(x) > EFFORT))
			break;
		rc = dfdn_try_roots(x, &root, 1);
	}
	free(roots);
	return rc;
}

static int dfdn_refuse(const struct dfdn *x, struct err *err)
{
	if (x->need_vls > x->vls)
		return err_set(
			err, -ENOSPC,
			"the paths of dfdn need %u VLs to be deadlock-free, and %u may be used; "
			"nue and updn need only 1 on any fabric",
			x->need_vls, x->vls);
	if (!x->need_sls)
		return err_set(
			err, -ENOSPC,
			"the paths of dfdn need %u VLs and more than %u SLs to be deadlock-free, "
			"and there are %u SLs; nue and updn need no more SLs than VLs",
			x->need_vls, DFDN_SLS, FAB_SLS);
	return err_set(
		err, -ENOSPC,
		"the paths of dfdn need %u VLs and %u SLs to be deadlock-free, and there are %u "
		"SLs; nue and updn need no more SLs than VLs",
		x->need_vls, x->need_sls, FAB_SLS);
}

static void dfdn_tell(const struct dfdn *x, struct notes *notes)
{
	if (x->t->vls == 1) {
		notes_set(notes, "rises", 0, "one VL is enough: these paths cannot deadlock");
		return;
	}
	if (x->rises.longest == 2) {
		notes_set(notes, "rises", 1,
			  "the VL increases at the second switch (DF-D2): any SL works");
		return;
	}
	notes_set(notes, "rises", x->t->vls - 1u,
		  "the VL increases up to %u times on a path "
		  "(DF-DN)",
		  x->t->vls - 1u);
	notes_set(notes, "sls", x->t->sls, "paths need %u SL%s; VLs are counted from the %s",
		  x->t->sls, x->t->sls == 1 ? "" : "s",
		  x->align == DFDN_ALIGN_SOURCE ? "source" : "destination");
}

/* ---- SLs and SL2VL tables ---- */

static bool dfdn_write_is_switch(const struct fabric *f, uint32_t sw, uint32_t port)
{
	return fabric_chan(f, sw, (uint8_t)port) != FAB_NONE;
}

/* Do the links of adapters, too, have two VLs, as far as known? */
static bool dfdn_write_two_vls_everywhere(const struct fabric *f)
{
	for (uint32_t p = 0; p < f->nport; p++)
		if (f->port[p].term != FAB_NONE && f->port[p].op_vls == 1)
			return false;
	return true;
}

/* For paths of at most two hops: from adapters VL 0, from switches VL 1, any SL (DF-D2). */
static void dfdn_write_two(struct tables *t, const struct fabric *f)
{
	t->vls = 2;
	t->sls = 1;
	if (dfdn_write_two_vls_everywhere(f)) {
		tables_sl2vl_form(t, SL2VL_BY_INPUT, f);
		memset(t->sl2vl + 2 * FAB_SLS, 1, FAB_SLS);
		return;
	}
	tables_sl2vl_form(t, SL2VL_FULL, f);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t in = 1; in <= f->sw_nports[sw]; in++)
			for (uint32_t out = 1; out <= f->sw_nports[sw]; out++)
				if (dfdn_write_is_switch(f, sw, in) &&
				    dfdn_write_is_switch(f, sw, out))
					memset(tables_sl2vl_row(t, sw, in, out), 1, FAB_SLS);
}

struct write {
	const struct fabric *f;
	struct tables *t;
	const struct dfdn_levels *levels;
	bool *first;	/* by position: the first SL is good for the path from there */
	uint32_t *turn; /* of the path at hand */
	uint8_t *sl;	/* by LID * nsw + switch */
	uint16_t *seen; /* by turn */
	uint16_t all;
};

static unsigned dfdn_write_first_sl(const struct dfdn_good *good)
{
	unsigned sl = 0;

	while (!good->sl[sl])
		sl++;
	return sl;
}

/* The first SL that is good for the path from position i. */
static unsigned dfdn_write_search_sl(struct write *w, const struct dfdn_tree *x, uint32_t i)
{
	uint32_t n = dfdn_tree_path(x, i, w->turn);
	struct dfdn_good good;

	memset(&good, 0xff, sizeof(good));
	while (--n)
		dfdn_levels_good(&good, w->levels, w->turn[n - 1], w->turn[n], &good);
	return dfdn_write_first_sl(&good);
}

static uint8_t dfdn_write_choose(struct write *w, const struct dfdn_tree *x, uint32_t i)
{
	uint32_t p = x->parent[i];

	w->first[i] = !p || !x->parent[p] ||
		      (w->first[p] && dfdn_levels_good_first(w->levels, x->turn[i], x->turn[p]));
	return x->source[i] && !w->first[i] ? (uint8_t)dfdn_write_search_sl(w, x, i) : 0;
}

static bool dfdn_write_tree(void *ctx, const struct dfdn_tree *x, uint32_t k)
{
	struct write *w = ctx;
	uint8_t *sl = w->sl + (size_t)k * x->n;

	if (x->nnews + 1 < x->n)
		memcpy(sl, sl - x->n, x->n);
	sl[x->at[0]] = 0;
	for (uint32_t a = 0; a < x->nnews; a++) {
		uint32_t i = x->news[a];
		uint16_t bit;

		sl[x->at[i]] = dfdn_write_choose(w, x, i);
		if (!x->source[i])
			continue;
		bit = (uint16_t)(1u << sl[x->at[i]]);
		w->all |= bit;
		for (uint32_t p = i; x->parent[p]; p = x->parent[p])
			w->seen[x->turn[p]] |= bit;
	}
	return false;
}

/* The switch's own LID when d is the LID that it follows, else 0. */
static uint32_t dfdn_write_follower(const struct fabric *f, const struct dest *d)
{
	uint32_t k = f->term_off[d->sw];

	if (d->end >= f->nterm || d->lid != f->term_lid[d->end])
		return 0;
	while (f->term_list[k] >= f->nterm)
		k++;
	return f->term_list[k] == d->end ? f->sw_lid[d->sw] : 0;
}

static void dfdn_write_lids(void *ctx, const struct dest *d, uint32_t n)
{
	struct write *w = ctx;
	struct tables *t = w->t;
	uint8_t *to = t->sl;
	uint32_t run;

	for (uint32_t k = 0; k < n && to; k += run) {
		for (run = 1; k + run < n && d[k + run].lid == d[k].lid + run;)
			run++;
		tile_turn(to + d[k].lid, t->stride, w->sl + (size_t)k * t->nsw, t->nsw, run,
			  t->nsw);
	}
	for (uint32_t k = 0; k < n && to; k++) {
		uint32_t own = dfdn_write_follower(w->f, &d[k]);

		for (uint32_t u = 0; own && u < t->nsw; u++)
			to[(size_t)u * t->stride + own] = w->sl[(size_t)k * t->nsw + u];
	}
}

static void dfdn_write_fill_row(const struct write *w, uint8_t *vl, uint32_t turn)
{
	dfdn_levels_row(vl, w->levels, turn, w->seen[turn]);
}

/* All turns into the switch by that channel. */
static void dfdn_write_input(const struct write *w, const struct dfdn_tree *x, uint32_t c)
{
	const struct fabric *f = x->f;
	uint32_t sw = f->chan_dst[c];

	for (uint32_t e = f->chan_off[sw]; e < f->chan_off[sw + 1]; e++)
		dfdn_write_fill_row(w,
				    tables_sl2vl_row(w->t, sw, f->chan_rport[c], f->chan_port[e]),
				    turns_at(&x->turns, c, e));
}

/* What comes from adapters or goes to them is on VL 0, which the table holds already.  Switch by
 * switch, as they lie in memory: the kernel hands that out page by page. */
static int dfdn_write_sl2vl(const struct write *w, const struct dfdn_tree *x, struct pace *p)
{
	const struct fabric *f = x->f;

	tables_sl2vl_form(w->t, SL2VL_FULL, f);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t out = f->chan_off[sw]; out < f->chan_off[sw + 1]; out++) {
			dfdn_write_input(w, x, f->chan_rev[out]);
			if (pace_tick(p, p->total - 1, 16ull * f->sw_nports[sw]))
				return -ECANCELED;
		}
	return 0;
}

/* Gives every path the first SL whose VLs rise along it, of the nsls in which paths were placed,
 * and writes the SL2VL tables.  Closes the levels.  -ECANCELED. */
static int dfdn_write(struct tables *t, struct dfdn_tree *tree, struct dfdn_levels *l,
		      unsigned nsls, struct pace *p)
{
	struct arena *mem = arena_new();
	struct write w = { .f = tree->f, .t = t, .levels = l };
	struct dfdn_visit v = { .tree = dfdn_write_tree, .lids = dfdn_write_lids, .ctx = &w };
	int rc;

	if (nsls > 1)
		graph_sls_by_switch(t, tree->f, NULL, p->progress, p->step);
	w.first = arena_alloc(mem, tree->n, sizeof(*w.first));
	w.turn = arena_alloc(mem, tree->n, sizeof(*w.turn));
	w.sl = arena_alloc(mem, (size_t)tree->n * DFDN_TREE_LIDS, sizeof(*w.sl));
	w.seen = arena_alloc(mem, tree->turns.n, sizeof(*w.seen));
	rc = dfdn_tree_visit(tree, &v, p);
	if (!rc) {
		t->vls = (uint8_t)dfdn_levels_close(l, w.seen);
		t->sls = (uint8_t)__builtin_popcount(w.all);
		rc = dfdn_write_sl2vl(&w, tree, p);
	}
	arena_free(mem);
	return rc;
}

/* VLs and SLs for the paths, which are complete. */
static int dfdn_assign_vls(struct dfdn *x, struct err *err)
{
	int rc;

	x->t->vls = x->t->sls = 1;
	rc = dfdn_try_all_roots(x);
	if (rc || x->needless)
		return rc;
	if (x->rises.longest == 2 && x->vls >= 2)
		dfdn_write_two(x->t, x->f);
	else if (x->levels)
		rc = dfdn_write(x->t, &x->tree, x->levels, x->sls, &x->pace);
	else
		rc = dfdn_refuse(x, err);
	return rc;
}

/* Schneider et al., HOTI16: shortest paths first; then the VL of every turn and SL so that it
 * increases along each path. */
static int dfdn_route_how(struct tables **out, const struct fabric *f,
			  const struct balanced_sssp_how *how, const struct engine_params *params,
			  struct progress *progress, struct err *err)
{
	struct dfdn x = { .f = f, .vls = graph_vls(f, params) };
	int rc;

	x.t = graph_tables(f, "dfdn", params, progress);
	if (params->dfdn_base == DFDN_MINHOP)
		strncat(x.t->params, ",paths=minhop",
			sizeof(x.t->params) - strlen(x.t->params) - 1);
	x.turn = xcalloc(f->nsw, sizeof(*x.turn));
	rc = balanced_sssp_route(x.t, f, params, how, progress);
	if (!rc) {
		dfdn_tree_init(&x.tree, f, x.t, graph_lmc(f, params));
		rc = pace_begin(&x.pace, progress, "layers", PACE_TOTAL) ? -ECANCELED : 0;
		rc = rc ? rc : dfdn_assign_vls(&x, err);
		dfdn_tree_done(&x.tree);
	}
	if (!rc) {
		dfdn_tell(&x, params->notes);
		*out = x.t;
	} else {
		tables_put(x.t);
	}
	dfdn_tree_free_rises(&x.rises);
	dfdn_levels_free(x.levels);
	dfdn_paths_free(x.paths);
	free(x.turn);
	return rc;
}

/* The most even paths, or else those of fewer turns or in another order; refuses with the sentence
 * on the first. */
static int dfdn_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		      const struct demand *demand, const struct engine_params *params,
		      struct progress *progress, struct err *err)
{
	static const struct balanced_sssp_how hows[][2] = {
		[DFDN_SSSP] = { { .rounds = BALANCED_SSSP_ROUNDS }, { .rounds = 0 } },
		[DFDN_MINHOP] = { { .rule = BALANCE_PORTS, .rounds = BALANCED_SSSP_ROUNDS },
				  { .rule = BALANCE_PORTS, .by_switch = true } },
	};
	const struct balanced_sssp_how *how = hows[params->dfdn_base];
	int rc = dfdn_route_how(out, f, &how[0], params, progress, err);

	(void)jobs;
	(void)demand;
	if (rc == -ENOSPC)
		rc = dfdn_route_how(out, f, &how[1], params, progress, NULL);
	return rc;
}

const struct engine engine_dfdn = {
	.name = "dfdn",
	.summary = "balanced shortest paths; deadlock-free by increasing VL per hop (SL2VL)",
	.suits = graph_check_connected,
	.route = dfdn_route,
};
