/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue.h"

#include "engines/nue_balance.h"
#include "engines/nue_layer.h"
#include "fabric/base/mem.h"
#include "fabric/base/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * What is tried, one after another, as long as all tries would stay below the work, in edges
 * looked at, and paths are not nearly all shortest.  With few VLs much depends on luck: another
 * root, where not all switches have as many cables, or briefer searches lower the maximum about
 * every other time.  Stride gives
 * lower maxima than the order by index or worst first, but for dragonflies.
 */
struct recipe {
	struct nue_how how;
	uint64_t work; /* of all tries until then */
};

static const struct recipe recipes[] = {
	{ { NUE_BY_NEED, 0, 8 }, 0 },
	{ { NUE_WORST_FIRST, 1, 8 }, 12000000 },
	{ { NUE_WORST_FIRST, 0, 12 }, 2000000 },
	{ { NUE_BY_INDEX, 0, UINT32_MAX }, 2000000 },
	{ { NUE_STRIDE, 0, UINT32_MAX }, 2000000 },
	{ { NUE_WORST_FIRST, 0, UINT32_MAX }, 2000000 },
};

/* One path in so many. */
#define FEW_DETOURS 1000

#define NRECIPES (sizeof(recipes) / sizeof(*recipes))

/* One complete routing. */
struct attempt {
	struct nue_trees *trees; /* by layer */
	struct tables *t;
	struct nue_load load;
	uint64_t cost; /* hops over all pairs of terminals */
};

struct router {
	const struct fabric *f;
	const struct engine_params *params;
	struct nue_net net;
	uint32_t k;
	struct nue_layer *layer;
	struct pool *pool;
	struct nue_search **search; /* by worker */
	struct progress *progress;
	atomic_uint_fast64_t done;
	uint64_t total;

	struct nue_trees *trees; /* those that are searched at the moment ... */
	struct nue_how how;	 /* ... in this way */
};

struct turn_of {
	struct router *r;
	unsigned worker;
};

/* Only the first worker may report. */
static bool stop(void *ctx, uint32_t steps)
{
	struct turn_of *turn = ctx;
	struct router *r = turn->r;
	uint64_t done = atomic_fetch_add(&r->done, steps) + steps;

	if (!turn->worker)
		return progress_step(r->progress, "layers", done < r->total ? done : r->total,
				     r->total);
	return r->progress && atomic_load_explicit(&r->progress->cancel, memory_order_relaxed);
}

static bool init_layer(void *ctx, unsigned worker, uint32_t l)
{
	struct router *r = ctx;
	struct turn_of turn = { r, worker };
	struct nue_pause pause = { stop, &turn };

	return nue_layer_init(&r->layer[l], &pause);
}

static bool search_layer(void *ctx, unsigned worker, uint32_t l)
{
	struct router *r = ctx;
	struct turn_of turn = { r, worker };
	struct nue_pause pause = { stop, &turn };

	if (!r->search[worker])
		r->search[worker] = nue_search_new(&r->net);
	return nue_layer_search(&r->trees[l], &r->layer[l], r->search[worker], &r->how, &pause);
}

/* Blocks of neighbouring switches with ends; those without are dealt out. */
static void divide(struct router *r, uint32_t vls)
{
	const struct fabric *f = r->f;
	uint32_t n = 0, i = 0;

	for (uint32_t u = 0; u < f->nsw; u++)
		n += !r->net.bare[u];
	r->k = n < vls ? n : vls;
	r->k = r->k ? r->k : 1;
	r->layer = xcalloc(r->k, sizeof(*r->layer));
	for (uint32_t l = 0; l < r->k; l++) {
		r->layer[l].net = &r->net;
		r->layer[l].dst = xcalloc(f->nsw, sizeof(*r->layer[l].dst));
	}
	for (uint32_t u = 0; u < f->nsw; u++) {
		uint32_t l = r->net.bare[u] ? u % r->k : (uint32_t)((uint64_t)i++ * r->k / n);

		r->layer[l].dst[r->layer[l].ndst++] = u;
	}
}

static void attempt_done(struct attempt *a, uint32_t k)
{
	for (uint32_t l = 0; l < k && a->trees; l++)
		nue_trees_done(&a->trees[l]);
	free(a->trees);
	tables_put(a->t);
	*a = (struct attempt){ .trees = NULL };
}

static int try_recipe(struct attempt *a, struct router *r, const struct recipe *recipe)
{
	*a = (struct attempt){ .trees = xcalloc(r->k, sizeof(*a->trees)) };
	r->trees = a->trees;
	r->how = recipe->how;
	if (r->k > 1) /* few turns close cycles, and it is soon seen */
		r->how.limit = UINT32_MAX;
	if (pool_for(r->pool, r->k, search_layer, r))
		return -ECANCELED;
	for (uint32_t l = 0; l < r->k; l++)
		a->cost += a->trees[l].cost;
	a->t = graph_tables(r->f, "nue", r->params, r->progress);
	return nue_balance(&a->load, a->t, r->layer, a->trees, r->k, graph_lmc(r->f, r->params),
			   !r->net.even, r->progress);
}

/* Fewer hops; among about the same hops a lower maximum. */
static bool is_better(const struct attempt *a, const struct attempt *b)
{
	if (a->cost + a->cost / 200 < b->cost)
		return true;
	return a->cost <= b->cost + b->cost / 200 && a->load.max < b->load.max;
}

/* Are detours so few that other trees would not matter? */
static bool is_near(const struct router *r, const struct attempt *a)
{
	uint64_t detours = 0;

	for (uint32_t l = 0; l < r->k; l++)
		detours += a->trees[l].detours;
	return detours * FEW_DETOURS < (uint64_t)r->f->nsw * r->f->nsw;
}

/* Would that be tried in vain, or for too long? */
static bool is_left_out(const struct router *r, const struct recipe *recipe, uint64_t work)
{
	bool same_root = true;

	for (uint32_t l = 0; l < r->k; l++)
		same_root &= r->layer[l].root[0] == r->layer[l].root[1];
	return r->net.tree || (recipe->how.root && same_root) || work >= recipe->work;
}

static int try_recipes(struct attempt *best, struct router *r)
{
	uint64_t work = 0;
	unsigned tries = 1;
	int rc = try_recipe(best, r, &recipes[0]);

	for (uint32_t l = 0; l < r->k; l++)
		work += r->layer[l].work;
	work += best->load.work;
	for (uint32_t i = 1; i < NRECIPES && !rc && !is_near(r, best); i++) {
		struct attempt a;

		if (is_left_out(r, &recipes[i], (tries + 1) * work))
			continue;
		tries++;
		rc = try_recipe(&a, r, &recipes[i]);
		if (!rc && is_better(&a, best)) {
			struct attempt worse = *best;

			*best = a;
			a = worse;
		}
		attempt_done(&a, r->k);
	}
	return rc;
}

static void set_sls(struct tables *t, const struct router *r)
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

static void tell(struct notes *notes, const struct router *r, const struct nue_trees *trees)
{
	uint64_t detours = 0, impasses = 0, escape = 0;

	for (uint32_t l = 0; l < r->k; l++) {
		detours += trees[l].detours;
		impasses += trees[l].impasses;
		escape += trees[l].escape_dst;
	}
	notes_set(notes, "detours", detours,
		  "pairs of switches with hosts whose path is longer than the shortest");
	notes_set(notes, "impasses", impasses,
		  "paths from a switch that only the escape tree could lead on");
	notes_set(notes, "escape_trees", escape,
		  "destination switches that all others reach along the escape tree");
}

static void router_done(struct router *r)
{
	for (uint32_t l = 0; l < r->k; l++)
		nue_layer_done(&r->layer[l]);
	for (unsigned w = 0; w < pool_threads(r->pool); w++)
		nue_search_free(r->search[w]);
	free(r->layer);
	free(r->search);
	pool_free(r->pool);
	nue_net_done(&r->net);
}

static int route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		 const struct demand *demand, const struct engine_params *params,
		 struct progress *progress, struct err *err)
{
	struct router r = { .f = f, .params = params, .progress = progress };
	struct attempt best = { .trees = NULL };
	int rc;

	(void)jobs;
	(void)demand;
	rc = graph_check_connected(f, err);
	if (rc)
		return rc;
	nue_net_init(&r.net, f);
	r.pool = pool_new(params ? params->threads : 0);
	r.search = xcalloc(pool_threads(r.pool), sizeof(*r.search));
	r.total = (uint64_t)f->nsw * NUE_STEPS;
	divide(&r, graph_vls(f, params));
	rc = pool_for(r.pool, r.k, init_layer, &r) ? -ECANCELED : try_recipes(&best, &r);
	if (!rc) {
		set_sls(best.t, &r);
		if (params)
			tell(params->notes, &r, best.trees);
		*out = best.t;
		best.t = NULL;
	}
	attempt_done(&best, r.k);
	router_done(&r);
	return rc;
}

const struct engine engine_nue = {
	.name = "nue",
	.summary = "any connected fabric and any number of VLs, without deadlocks",
	.suits = graph_check_connected,
	.route = route,
};
