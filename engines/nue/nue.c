/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue/nue.h"

#include "engines/nue/nue_balance.h"
#include "engines/nue/nue_detours.h"
#include "engines/nue/nue_layer.h"
#include "engines/nue/nue_shifts.h"
#include "engines/predict/predict.h"
#include "engines/time/shift_choice.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/pool.h"
#include "fabric/base/message/plural.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * What is tried, one after another, as long as there is time and paths are not nearly all shortest.
 * With few VLs much depends on the order of the destinations: when those come first that had LIDs
 * on the fullest channels of the tries before, every other try lowers the maximum, and most shorten
 * the paths.  Another root, where not all switches have as many cables, or wider searches bring the
 * luck that is missing.
 */
static const struct nue_how recipes[] = {
	{ .order = NUE_BY_NEED, .root = 0, .limit = 10 },
	{ .order = NUE_BY_NEED, .root = 0, .limit = 8, .full_first = true },
	{ .order = NUE_BY_NEED, .root = 0, .limit = 8, .full_first = true },
	{ .order = NUE_BY_NEED, .root = 1, .limit = UINT32_MAX, .full_first = true },
	{ .order = NUE_STRIDE, .root = 0, .limit = UINT32_MAX },
	{ .order = NUE_WORST_FIRST, .root = 0, .limit = UINT32_MAX },
};

/* When there is time for a single one, marks of one try are not enough: in reverse order. */
static const struct nue_how single = {
	.order = NUE_BY_NEED, .root = 0, .limit = 10, .backward = true
};

/* Work of all tries, in edges looked at: a share of what it takes to search the whole dependency
 * graph for every LID and channel.  In small fabrics some ten milliseconds are not missed, and in
 * large ones that share would be too much. */
#define WORK_SHARE 16000
#define WORK_SMALL (6ull << 20)
#define SMALL	   1000 /* terminals */
#define WORK_MOST  (24ull << 20)

/* A channel is full with so many tenths of the maximum. */
#define FULL_TENTHS 7

/* One path in so many. */
#define FEW_DETOURS 1000

#define BISECTIONS 30 /* that two routings are compared by */

#define NRECIPES (sizeof(recipes) / sizeof(*recipes))

/* One complete routing. */
struct attempt {
	struct nue_trees *trees; /* by layer */
	struct tables *t;
	struct nue_load load;
	uint64_t cost; /* hops over all pairs of terminals */
};

struct router {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	const struct engine_params *params;
	struct nue_net *net; /* of all attempts: layers and searches point to it */
	uint32_t k;
	struct nue_layer *layer;
	struct pool *pool;
	struct nue_search **search; /* by worker */
	struct progress *progress;
	atomic_uint_fast64_t done;
	uint64_t total;

	struct nue_trees *trees; /* those that are searched at the moment ... */
	struct nue_how how;	 /* ... like this */
	bool *full;		 /* by switch: had LIDs on full channels */
};

struct turn_of {
	struct router *r;
	unsigned worker;
};

/* Only the first worker may report. */
static bool nue_stop(void *ctx, uint32_t steps)
{
	struct turn_of *turn = ctx;
	struct router *r = turn->r;
	uint64_t done = atomic_fetch_add(&r->done, steps) + steps;

	if (!turn->worker)
		return progress_step(r->progress, "layers", done < r->total ? done : r->total,
				     r->total);
	return progress_cancelled(r->progress);
}

static bool nue_init_layer(void *ctx, unsigned worker, uint32_t l)
{
	struct router *r = ctx;
	struct turn_of turn = { r, worker };
	struct nue_pause pause = { nue_stop, &turn };

	return nue_layer_init(&r->layer[l], &pause);
}

static bool nue_search_layer(void *ctx, unsigned worker, uint32_t l)
{
	struct router *r = ctx;
	struct turn_of turn = { r, worker };
	struct nue_pause pause = { nue_stop, &turn };

	if (!r->search[worker])
		r->search[worker] = nue_search_new(r->net);
	return nue_layer_search(&r->trees[l], &r->layer[l], r->search[worker], &r->how, &pause);
}

/* Blocks of neighbouring switches with terminals; those without are dealt out. */
static void nue_divide(struct router *r, uint32_t vls)
{
	const struct fabric *f = r->f;
	uint32_t n = 0, i = 0;

	for (uint32_t u = 0; u < f->nsw; u++)
		n += !r->net->idle[u];
	r->k = n < vls ? n : vls;
	r->k = r->k ? r->k : 1;
	r->layer = arena_alloc(r->mem, r->k, sizeof(*r->layer));
	for (uint32_t l = 0; l < r->k; l++) {
		r->layer[l].net = r->net;
		r->layer[l].dst = arena_alloc(r->mem, f->nsw, sizeof(*r->layer[l].dst));
	}
	for (uint32_t u = 0; u < f->nsw; u++) {
		uint32_t l = r->net->idle[u] ? u % r->k : (uint32_t)((uint64_t)i++ * r->k / n);

		r->layer[l].dst[r->layer[l].ndst++] = u;
	}
}

static void nue_attempt_done(struct attempt *a, uint32_t k)
{
	for (uint32_t l = 0; l < k && a->trees; l++)
		nue_trees_done(&a->trees[l]);
	free(a->trees);
	tables_put(a->t);
	nue_load_done(&a->load);
	*a = (struct attempt){ .trees = NULL };
}

static int nue_try_recipe(struct attempt *a, struct router *r, const struct nue_how *how)
{
	*a = (struct attempt){ .trees = xcalloc(r->k, sizeof(*a->trees)) };
	r->trees = a->trees;
	r->how = *how;
	r->how.full = r->full;
	if (r->k > 1) /* few turns close cycles, and it is soon seen */
		r->how.limit = UINT32_MAX;
	if (pool_for(r->pool, r->k, nue_search_layer, r))
		return -ECANCELED;
	for (uint32_t l = 0; l < r->k; l++)
		a->cost += a->trees[l].cost;
	a->t = graph_tables(r->f, "nue", r->params, r->progress);
	return nue_balance(&a->load, a->t, r->layer, a->trees, r->k, graph_lmc(r->f, r->params),
			   !r->net->even, r->pool, r->progress);
}

/* Marks the switches with LIDs on full channels. */
static void nue_mark_full(struct router *r, const struct attempt *a)
{
	const struct fabric *f = r->f;

	for (uint32_t c = 0; c < f->nchan; c++) {
		const uint8_t *row = tables_row(a->t, f->chan_src[c]);

		if (a->load.chan[c] * 10 < a->load.max * FULL_TENTHS)
			continue;
		for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
			uint32_t end = f->lid_end[lid];

			if (row[lid] == f->chan_port[c] && end < f->nterm)
				r->full[f->term_sw[end]] = true;
		}
	}
}

/* Lower maximum, or fewer hops: one per cent of these is worth sixteen of that. */
static bool nue_is_better(const struct attempt *a, const struct attempt *b)
{
	double hops = (double)a->cost / (double)b->cost;
	double max = (double)a->load.max / (double)b->load.max;

	return 16 * (hops - 1) + (max - 1) < 0;
}

/* Are detours so few that other trees would not matter? */
static bool nue_is_near(const struct router *r, const struct attempt *a)
{
	uint64_t detours = 0;

	for (uint32_t l = 0; l < r->k; l++)
		detours += a->trees[l].detours;
	return detours * FEW_DETOURS < (uint64_t)r->f->nsw * r->f->nsw;
}

static uint64_t nue_work_limit(const struct router *r)
{
	const struct fabric *f = r->f;
	uint64_t lids = ((uint64_t)f->nterm << graph_lmc(f, r->params)) + f->nsw, turns = 0, share;

	if (r->net->tree)
		return 0;
	for (uint32_t c = 0; c < f->nchan; c++)
		turns += f->chan_off[f->chan_dst[c] + 1] - f->chan_off[f->chan_dst[c]] - 1;
	share = lids * turns / WORK_SHARE * f->nchan;
	if (f->nterm < SMALL && share < WORK_SMALL)
		share = WORK_SMALL;
	return share < WORK_MOST ? share : WORK_MOST;
}

static int nue_try_recipes(struct attempt *best, struct router *r)
{
	uint64_t work = 0, limit = nue_work_limit(r);
	int rc = nue_try_recipe(best, r, &recipes[0]);

	for (uint32_t l = 0; l < r->k; l++)
		work += r->layer[l].work;
	work += best->load.work;
	for (uint32_t i = 1;
	     i < NRECIPES && !rc && !nue_is_near(r, best) && (i + 1) * work <= limit; i++) {
		struct attempt a;

		if (i == 1)
			nue_mark_full(r, best);
		rc = nue_try_recipe(&a, r, 3 * work > limit ? &single : &recipes[i]);
		if (!rc)
			nue_mark_full(r, &a);
		if (!rc && nue_is_better(&a, best)) {
			struct attempt worse = *best;

			*best = a;
			a = worse;
		}
		nue_attempt_done(&a, r->k);
	}
	return rc;
}

static void nue_set_sls(struct tables *t, const struct router *r)
{
	const struct fabric *f = r->f;
	uint32_t lids = 1u << graph_lmc(f, r->params);

	t->vls = t->sls = (uint8_t)r->k;
	if (r->k == 1)
		return;
	tables_sl_form(t, SL_BY_DLID, f);
	for (uint32_t l = 0; l < r->k; l++) {
		for (uint32_t i = 0; i < r->layer[l].ndst; i++) {
			uint32_t u = r->layer[l].dst[i];

			t->sl[f->sw_lid[u]] = (uint8_t)l;
			for (uint32_t e = f->term_off[u]; e < f->term_off[u + 1]; e++)
				memset(t->sl + f->term_lid[f->term_list[e]], (int)l, lids);
		}
	}
}

static void nue_tell(struct notes *notes, const struct router *r, const struct attempt *a)
{
	bool moved = !r->net->tree && shift_choice_fits(r->f);
	uint64_t detours = moved ? nue_detours_count(a->t, r->layer, r->k) : 0;
	uint64_t impasses = 0, escape = 0;

	for (uint32_t l = 0; l < r->k; l++) {
		detours += moved ? 0 : a->trees[l].detours;
		impasses += a->trees[l].impasses;
		escape += a->trees[l].escape_dst;
	}
	notes_set(notes, "detours", detours,
		  "%llu pair%s of switches with hosts on paths longer than the shortest",
		  (unsigned long long)detours, plural(detours));
	notes_set(notes, "impasses", impasses,
		  "%llu path%s that only the escape tree could complete",
		  (unsigned long long)impasses, plural(impasses));
	notes_set(notes, "escape_trees", escape,
		  "%llu destination switch%s that all others reach along the escape tree",
		  (unsigned long long)escape, plural_es(escape));
}

static void nue_router_done(struct router *r)
{
	for (uint32_t l = 0; l < r->k; l++)
		nue_layer_done(&r->layer[l]);
	for (unsigned w = 0; w < pool_threads(r->pool); w++)
		nue_search_free(r->search[w]);
	arena_free(r->mem);
	pool_free(r->pool);
	nue_net_done(r->net);
}

static int nue_route_layers(struct attempt *best, struct router *r, uint32_t vls)
{
	nue_divide(r, vls);
	return pool_for(r->pool, r->k, nue_init_layer, r) ? -ECANCELED : nue_try_recipes(best, r);
}

static uint64_t nue_work_of(const struct router *r, const struct attempt *a)
{
	uint64_t work = a->load.work;

	for (uint32_t l = 0; l < r->k; l++)
		work += r->layer[l].work;
	return work;
}

static void nue_swap(struct attempt *best, struct router *r, struct attempt *a,
		     struct router *other)
{
	struct attempt worse = *best;
	struct nue_layer *layer = r->layer;
	uint32_t k = r->k;

	*best = *a;
	*a = worse;
	r->layer = other->layer;
	r->k = other->k;
	other->layer = layer;
	other->k = k;
}

static void nue_drop(struct attempt *a, struct router *other)
{
	nue_attempt_done(a, other->k);
	for (uint32_t l = 0; l < other->k; l++)
		nue_layer_done(&other->layer[l]);
}

/* More VLs than it takes may be bad luck: fewer are tried as long as there is time.  In a tree all
 * are alike. */
static int nue_try_fewer_vls(struct attempt *best, struct router *r)
{
	uint64_t work = nue_work_of(r, best), spent = work;
	int rc = 0;

	for (uint32_t vls = r->k - 1; vls && !rc && !r->net->tree && spent + work <= WORK_MOST;
	     vls--) {
		struct router other = *r;
		struct attempt a = { .trees = NULL };

		atomic_init(&other.done, 0);
		rc = nue_route_layers(&a, &other, vls);
		spent += nue_work_of(&other, &a);
		if (!rc && nue_is_better(&a, best))
			nue_swap(best, r, &a, &other);
		nue_drop(&a, &other);
	}
	return rc;
}

/* In a tree one VL may have more luck with shifts. */
static int nue_try_one_vl(struct attempt *best, struct router *r, struct err *err)
{
	struct router other = *r;
	struct attempt a = { .trees = NULL };
	bool better = false;
	int rc;

	if (!r->net->tree || r->k == 1 || !shift_choice_fits(r->f))
		return 0;
	atomic_init(&other.done, 0);
	rc = nue_route_layers(&a, &other, 1);
	if (!rc)
		rc = nue_shifts_move(a.t, other.layer, a.trees, other.k, r->progress, err);
	if (!rc)
		rc = shift_choice_better(&better, r->f, best->t, a.t, SHIFT_CHOICE_LITTLE_LESS,
					 r->progress, err);
	if (!rc && better)
		nue_swap(best, r, &a, &other);
	nue_drop(&a, &other);
	return rc;
}

/* The routing on one VL, before any entry moved. */
struct first {
	struct tables *t;
	uint32_t *place; /* by channel */
	uint64_t impasses, escape_dst;
	double ebb; /* 0: has paths that more VLs should not begin with */
};

static unsigned nue_threads(const struct router *r)
{
	return r->params ? r->params->threads : 0;
}

static int nue_judge_ebb(double *ebb, const struct router *r, const struct attempt *a,
			 struct err *err)
{
	struct ebb_opts opts = { .bisections = BISECTIONS, .seed = 1, .threads = nue_threads(r) };
	struct ebb e;
	int rc = predict_ebb(&e, r->f, a->t, &opts, r->progress, err);

	*ebb = rc ? 0 : e.mean;
	return rc;
}

/* Is a path longer than moves would make it? */
static bool nue_is_long(const struct router *r, const struct attempt *a)
{
	const struct fabric *f = r->f;

	for (uint32_t i = 0; i < r->layer->ndst; i++)
		for (uint32_t u = 0; u < f->nsw; u++) {
			size_t at = (size_t)i * f->nsw + u;

			if (!r->net->idle[u] &&
			    a->trees->hops[at] > r->layer->dist[at] + NUE_DETOURS_MORE)
				return true;
		}
	return false;
}

static int nue_first_init(struct first *x, const struct router *r, const struct attempt *a,
			  struct err *err)
{
	const struct fabric *f = r->f;

	*x = (struct first){ .t = tables_new(f, "nue"),
			     .place = xcalloc(f->nchan, sizeof(*x->place)),
			     .impasses = a->trees->impasses,
			     .escape_dst = a->trees->escape_dst };
	memcpy(x->t->lft, a->t->lft, (size_t)a->t->nsw * a->t->stride);
	memcpy(x->place, a->trees->place, f->nchan * sizeof(*x->place));
	return nue_is_long(r, a) ? 0 : nue_judge_ebb(&x->ebb, r, a, err);
}

static void nue_first_done(struct first *x)
{
	tables_put(x->t);
	free(x->place);
}

/* What climbs on one VL does on each of several. */
static void nue_take_first(struct attempt *a, const struct router *r, const struct first *x)
{
	memcpy(a->t->lft, x->t->lft, (size_t)a->t->nsw * a->t->stride);
	for (uint32_t l = 0; l < r->k; l++) {
		memcpy(a->trees[l].place, x->place, r->f->nchan * sizeof(*x->place));
		a->trees[l].impasses = l ? 0 : x->impasses;
		a->trees[l].escape_dst = l ? 0 : x->escape_dst;
	}
}

/* Its own routing on that many VLs, or the first one, whichever gives more to bisections. */
static int nue_route_or_first(struct attempt *a, struct router *r, const struct first *first,
			      uint32_t vls, struct err *err)
{
	double ebb = 0;
	int rc = nue_route_layers(a, r, vls);

	if (!rc && first->ebb > 0)
		rc = nue_judge_ebb(&ebb, r, a, err);
	if (!rc && ebb < first->ebb)
		nue_take_first(a, r, first);
	return rc;
}

/* *figures: of the best so far. */
static int nue_try_vls(struct attempt *best, struct router *r, struct shift_figures *figures,
		       const struct first *first, uint32_t vls, struct err *err)
{
	struct router other = *r;
	struct attempt a = { .trees = NULL };
	bool better = false;
	int rc;

	atomic_init(&other.done, 0);
	rc = nue_route_or_first(&a, &other, first, vls, err);
	if (!rc)
		rc = nue_detours_move(&better, figures, a.t, other.layer, a.trees, other.k,
				      nue_threads(r), r->progress, err);
	if (!rc && better)
		nue_swap(best, r, &a, &other);
	nue_drop(&a, &other);
	return rc;
}

/* One VL, then twice as many, as often as there are: those that give messages more, and none of
 * them less. */
static int nue_route_doubling(struct attempt *best, struct router *r, uint32_t vls, struct err *err)
{
	struct shift_figures figures = { 0 };
	struct first first = { .t = NULL };
	bool better;
	int rc = nue_route_layers(best, r, 1);

	if (!rc)
		rc = nue_first_init(&first, r, best, err);
	if (!rc)
		rc = nue_detours_move(&better, &figures, best->t, r->layer, best->trees, r->k,
				      nue_threads(r), r->progress, err);
	for (uint32_t k = 2; k <= vls && !rc; k *= 2)
		rc = nue_try_vls(best, r, &figures, &first, k, err);
	nue_first_done(&first);
	return rc;
}

/* In trees, and where the fabric is too large for the rest. */
static int nue_route_once(struct attempt *best, struct router *r, uint32_t vls, struct err *err)
{
	int rc = nue_route_layers(best, r, vls);

	if (!rc)
		rc = nue_try_fewer_vls(best, r);
	if (!rc && r->net->tree)
		rc = nue_shifts_move(best->t, r->layer, best->trees, r->k, r->progress, err);
	return rc ? rc : nue_try_one_vl(best, r, err);
}

static int nue_route_vls(struct attempt *best, struct router *r, uint32_t vls, struct err *err)
{
	if (!r->net->tree && shift_choice_fits(r->f))
		return nue_route_doubling(best, r, vls, err);
	return nue_route_once(best, r, vls, err);
}

/*
 * Domke et al., HPDC 2016, Sec. 4: divide the destinations among the VLs; on each VL grow an escape
 * tree, then a tree to each destination by a search on the channel dependency graph; balance the
 * LIDs; SL and VL follow from the destination.  The recipes repeat the middle steps.
 */
static int nue_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		     const struct demand *demand, const struct engine_params *params,
		     struct progress *progress, struct err *err)
{
	struct nue_net net = { 0 };
	struct router r = { .f = f, .params = params, .progress = progress, .net = &net };
	struct attempt best = { .trees = NULL };
	struct pace pace;
	int rc;

	(void)jobs;
	(void)demand;
	rc = graph_check_connected(f, err);
	if (rc)
		return rc;
	r.total = (uint64_t)f->nsw * NUE_STEPS;
	rc = pace_begin(&pace, progress, "layers", r.total) ? -ECANCELED : 0;
	if (!rc)
		rc = nue_net_init(&net, f, params && params->ignore_rates, &pace);
	r.pool = pool_new(params ? params->threads : 0);
	r.mem = arena_new();
	r.search = arena_alloc(r.mem, pool_threads(r.pool), sizeof(*r.search));
	r.full = arena_alloc(r.mem, f->nsw, sizeof(*r.full));
	if (!rc)
		rc = nue_route_vls(&best, &r, graph_vls(f, params), err);
	if (!rc) {
		nue_set_sls(best.t, &r);
		if (params)
			nue_tell(params->notes, &r, &best);
		*out = best.t;
		best.t = NULL;
	}
	nue_attempt_done(&best, r.k);
	nue_router_done(&r);
	return rc;
}

const struct engine engine_nue = {
	.name = "nue",
	.summary = "any connected fabric and any number of VLs, without deadlocks",
	.suits = graph_check_connected,
	.route = nue_route,
};
