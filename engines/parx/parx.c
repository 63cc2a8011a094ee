/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/parx/parx.h"

#include "engines/geometry/topology_kind.h"
#include "engines/graph/graph.h"
#include "engines/graph/min_load_tree.h"
#include "engines/parx/parx_dags.h"
#include "engines/vl/vl_layers.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/traffic/demand.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Weight of a pair's large messages against its small ones, on each of their LIDs. */
#define LARGE_UNITS 12u

/* Without a demand so many on one switch are led apart; of fewer, the loads alone decide, which
 * takes fewer VLs where cables are missing. */
#define EVEN_TERMINALS 4

struct parx {
	const struct fabric *f;
	const struct grid *grid;
	const struct tables *t;
	uint8_t lmc;  /* of traffic LIDs */
	bool even;    /* without a demand, where all cables between switches are as fast */
	bool ordered; /* the destinations of the demand too take dimension order */
	struct parx_dags dags;
	struct chan_weights weights;
	struct min_load_tree *balance;
	uint32_t *weight; /* by switch: what it sends to the terminal at hand ... */
	uint32_t *share;  /* ... and in which share to the LID at hand */
};

static void parx_init(struct parx *x, const struct fabric *f, const struct grid *grid,
		      struct tables *t, const struct engine_params *params, bool ordered)
{
	uint8_t lmc = graph_lmc(f, params);

	*x = (struct parx){ .f = f, .grid = grid, .t = t, .lmc = lmc, .ordered = ordered };
	chan_weights_init(&x->weights, f, params->ignore_rates);
	parx_dags_init(&x->dags, f, grid, lmc);
	x->balance = min_load_tree_new(f, t, BALANCE_PATHS, NULL, NULL);
	min_load_tree_weigh(x->balance, &x->weights);
	x->weight = xcalloc(f->nsw, sizeof(*x->weight));
	x->share = xcalloc(f->nsw, sizeof(*x->share));
}

static void parx_done(struct parx *x)
{
	chan_weights_done(&x->weights);
	parx_dags_done(&x->dags);
	min_load_tree_free(x->balance);
	free(x->weight);
	free(x->share);
}

/*
 * The paper adds the whole weight for each of a port's LIDs.  But messages take only those that
 * the rule names, and most bytes are in large ones: only they should keep paths apart.
 */
static const uint32_t *parx_share(struct parx *x, uint32_t root, uint32_t i, const uint32_t *weight)
{
	const struct parx_rules *r = &x->dags.rules;

	for (uint32_t u = 0; u < x->f->nsw; u++) {
		struct lid_set lids = parx_rules_lids(r, x->lmc, r->half[u], r->half[root]);
		uint32_t unit = 0;

		lids.large |= x->dags.extra[u];
		if (weight[u] && lids.large >> i & 1)
			unit += LARGE_UNITS / (uint32_t)__builtin_popcount(lids.large);
		if (weight[u] && lids.small >> i & 1)
			unit++;
		x->share[u] = weight[u] * unit;
	}
	return x->share;
}

static uint64_t parx_route_end(struct parx *x, uint32_t end, bool ordered, const uint32_t *weight)
{
	struct dest d[128];
	uint32_t n = graph_end_dests(d, x->f, x->lmc, end), nrule = x->dags.rules.n;
	uint64_t work = parx_dags_build(&x->dags, d->sw, ordered);
	bool even = x->even && x->f->sw_nterm[d->sw] >= EVEN_TERMINALS;

	for (uint32_t i = 0; i < n && i < nrule; i++) {
		const struct spdag *g = even ? parx_dags_least_used(&x->dags, i) : &x->dags.dag[i];

		work += min_load_tree_route_in(x->balance, g, d + i, 1,
					       parx_share(x, d->sw, i, weight));
		if (even)
			parx_dags_count_used(&x->dags, i, x->t, d[i].lid);
	}
	if (n > nrule)
		work += min_load_tree_route_in(x->balance, &x->dags.dag[nrule], d + nrule,
					       n - nrule, weight);
	return work;
}

static void parx_weigh(struct parx *x, const struct demand *demand, uint32_t dst)
{
	memset(x->weight, 0, x->f->nsw * sizeof(*x->weight));
	for (uint32_t k = demand->off[dst]; k < demand->off[dst + 1]; k++)
		x->weight[x->f->term_sw[demand->src[k]]] += demand->w[k];
}

/* First the destinations in the demand, in its order, then all others. */
static int parx_route_terminals(struct parx *x, const struct demand *demand, struct pace *p,
				uint64_t *done)
{
	const struct fabric *f = x->f;
	bool *routed = xcalloc(f->nterm, sizeof(*routed));
	int rc = 0;

	for (uint32_t i = 0; demand && i < demand->ndest && !rc; i++) {
		parx_weigh(x, demand, demand->dest[i]);
		routed[demand->dest[i]] = true;
		*done += 1u << x->lmc;
		if (pace_tick(p, *done, parx_route_end(x, demand->dest[i], x->ordered, x->weight)))
			rc = -ECANCELED;
	}
	for (uint32_t k = 0; k < f->nend && !rc; k++) {
		uint32_t end = f->term_list[k];

		if (end >= f->nterm || routed[end])
			continue;
		*done += 1u << x->lmc;
		if (pace_tick(p, *done, parx_route_end(x, end, true, f->sw_nterm)))
			rc = -ECANCELED;
	}
	free(routed);
	return rc;
}

static int parx_route_paths(struct parx *x, const struct demand *demand, struct pace *pace,
			    uint64_t *done)
{
	uint32_t n, nterm = x->f->nterm << x->lmc;
	struct dest *dests = graph_dests_by_lid(&n, x->f, x->lmc);
	int rc = parx_route_terminals(x, demand, pace, done);

	if (!rc)
		rc = min_load_tree_route_all(x->balance, dests + nterm, n - nterm, pace, done);
	free(dests);
	return rc;
}

static uint64_t parx_most_load(const struct parx *x)
{
	const uint64_t *load = min_load_tree_loads(x->balance);
	uint64_t most = 0;

	for (uint32_t c = 0; c < x->f->nchan; c++)
		most = load[c] > most ? load[c] : most;
	return most;
}

static void parx_note(const struct parx *x, struct notes *notes)
{
	uint32_t missing = x->grid->missing;
	char dims[96];

	notes_set(notes, "hyperx_missing", missing,
		  "HyperX of %s, %u pairs of neighbours without a cable",
		  grid_dims_text(dims, sizeof(dims), x->grid), missing);
	if (x->dags.nforced)
		notes_set(notes, "parx_forced", x->dags.nforced,
			  "%llu times a switch reaches a LID only over a cable that this LID "
			  "should avoid",
			  (unsigned long long)x->dags.nforced);
	if (x->dags.nlift)
		notes_set(notes, "parx_lifted", x->dags.nlift,
			  "%llu times a LID may use cables that it should avoid: there is no "
			  "other shortest path",
			  (unsigned long long)x->dags.nlift);
	if (x->dags.ncut)
		notes_set(notes, "parx_cut", x->dags.ncut,
			  "%llu times a LID does not use the direct cable: there is no path out of "
			  "its half",
			  (unsigned long long)x->dags.ncut);
}

static int parx_check_lmc(const struct grid *g, uint8_t have, bool escape, struct err *err)
{
	uint8_t lmc = parx_lmc(g->ndims);
	char dims[96];

	if (have >= lmc)
		return 0;
	return err_set(
		err, -EINVAL,
		"parx takes %u LIDs per port on a HyperX of %s%s: LMC %u, and the fabric has %u; "
		"raise the LMC or use another engine",
		1u << lmc, grid_dims_text(dims, sizeof(dims), g),
		escape ? " and as many escape LIDs" : "", lmc + escape, have + escape);
}

static int parx_suits(const struct fabric *f, struct err *why)
{
	struct topology_kind *topology;
	int rc = graph_check_connected(f, why);

	if (!rc)
		rc = topology_kind_find(&topology, f, TOPOLOGY_HYPERX, NULL, why);
	if (rc)
		return rc;
	rc = parx_check_lmc(topology->grid, f->lmc, false, why);
	topology_kind_free(topology);
	return rc;
}

struct work {
	const struct fabric *f;
	const struct grid *grid;
	const struct demand *demand;
	const struct engine_params *params;
	struct pace pace;
	uint64_t done;
};

static int parx_attempt(struct tables **out, uint64_t *most, struct work *w, bool ordered)
{
	struct tables *t = graph_tables(w->f, "parx", w->params, w->pace.progress);
	size_t len = strlen(t->params);
	struct parx x;
	char dims[96];
	int rc;

	snprintf(t->params + len, sizeof(t->params) - len, ",hyperx=%s%s",
		 grid_dims_text(dims, sizeof(dims), w->grid), w->demand ? ",demand" : "");
	parx_init(&x, w->f, w->grid, t, w->params, ordered);
	x.even = !w->demand && !x.weights.of;
	rc = parx_route_paths(&x, w->demand, &w->pace, &w->done);
	if (!rc && ordered)
		parx_note(&x, w->params->notes);
	*most = parx_most_load(&x);
	parx_done(&x);
	if (rc)
		tables_put(t);
	else
		*out = t;
	return rc;
}

/* With a demand both are tried: dimension order, and the least load among all shortest paths.  The
 * one with the lower maximum comes first; the other is for fabrics with too few VLs for it. */
static int parx_route_both(struct tables *t[2], struct work *w)
{
	uint64_t most[2];
	int rc = parx_attempt(&t[0], &most[0], w, true);

	if (rc || !w->demand)
		return rc;
	rc = parx_attempt(&t[1], &most[1], w, false);
	if (!rc && most[1] < most[0]) {
		struct tables *swap = t[0];

		t[0] = t[1];
		t[1] = swap;
	}
	return rc;
}

/* Switches of a line follow each other. */
static int parx_assign_layers(struct tables *t, struct work *w, struct progress *progress,
			      struct err *err)
{
	uint32_t *switches = xcalloc(w->f->nsw, sizeof(*switches)), n = 0;
	int rc;

	for (uint32_t i = 0; i < w->grid->ncell; i++)
		if (w->grid->at[i] != FAB_NONE)
			switches[n++] = w->grid->at[i];
	rc = vl_layers_assign_in_order(t, w->f, switches, w->params, progress, err);
	free(switches);
	return rc;
}

/* Domke et al., SC19, Algorithm 1: for each LID paths that keep its rule (parx_dags.h), balanced by
 * demand and load; then VLs against deadlocks. */
static int parx_route_grid(struct tables **out, struct work *w, struct progress *progress,
			   struct err *err)
{
	uint64_t n = graph_count_lids(w->f, graph_lmc(w->f, w->params)) * (w->demand ? 2ull : 1);
	struct tables *t[2] = { NULL, NULL };
	int rc = pace_begin(&w->pace, progress, "paths", n) ? -ECANCELED : 0;

	if (!rc)
		rc = parx_route_both(t, w);
	if (!rc)
		rc = parx_assign_layers(t[0], w, progress, err);
	if (rc == -ENOSPC && t[1]) {
		tables_put(t[0]);
		t[0] = t[1];
		t[1] = NULL;
		rc = parx_assign_layers(t[0], w, progress, err);
	}
	if (!rc)
		*out = t[0];
	else
		tables_put(t[0]);
	tables_put(t[1]);
	return rc;
}

static int parx_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		      const struct demand *demand, const struct engine_params *params,
		      struct progress *progress, struct err *err)
{
	struct work w = { .f = f, .demand = demand, .params = params };
	struct topology_kind *topology;
	int rc;

	(void)jobs;
	if (demand && demand->nterm != f->nterm)
		return err_set(
			err, -EINVAL,
			"the demand is that of another fabric (%u terminals there, %u here); "
			"read it again",
			demand->nterm, f->nterm);
	rc = topology_kind_find(&topology, f, TOPOLOGY_HYPERX, progress, err);
	if (rc)
		return rc;
	w.grid = topology->grid;
	rc = parx_check_lmc(w.grid, graph_lmc(f, params), params->escape, err);
	if (!rc)
		rc = parx_route_grid(out, &w, progress, err);
	topology_kind_free(topology);
	return rc;
}

const struct engine engine_parx = {
	.name = "parx",
	.summary = "minimal paths and detours on HyperX, selected by LID and demand (SC19)",
	.suits = parx_suits,
	.route = parx_route,
};
