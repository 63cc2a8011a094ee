/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/parx/parx_paths.h"

#include "engines/graph/balance/min_load_tree.h"
#include "engines/parx/parx_dags.h"
#include "engines/parx/parx_even.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/pool.h"
#include "fabric/model/topology/chan_weight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Weight of a pair's large messages against its small ones, on each of their LIDs. */
#define LARGE_UNITS 12u

/* Without a demand so many on one switch are led apart; of fewer, the loads alone decide, which
 * takes fewer VLs where cables are missing. */
#define EVEN_TERMINALS 4

#define RUNS  4	 /* that are routed while others are prepared */
#define PARTS 16 /* of the switches, whose rows are written */

/* Terminals of one switch that follow each other. */
struct run {
	const uint32_t *end;
	uint32_t n; /* of them; 0: none */
	bool ordered, even;
	struct parx_dags dags;
	uint32_t *share; /* by rule * switches + switch, where there is no demand */
	uint64_t work;	 /* for these two */

	/* entries of an even run, on their way to the rows */
	uint16_t *lid;
	uint8_t *column; /* by LID * switches + switch */
	uint32_t nlid;
};

struct paths {
	const struct fabric *f;
	struct tables *t;
	const struct demand *demand;
	uint8_t lmc;   /* of traffic LIDs */
	bool even;     /* without a demand, where all cables between switches are as fast */
	bool ordered;  /* the destinations of the demand too take dimension order */
	uint32_t *end; /* terminals in the order in which they are routed, those of the demand first
			*/
	uint32_t n, ndemand, at;
	struct run run[2][RUNS];
	unsigned now; /* which of both are routed; the others are prepared */
	struct chan_weights weights;
	struct min_load_tree *balance;
	struct parx_even fewest;
	struct pool *pool;
	uint32_t *weight; /* by switch: what it sends to the terminal at hand ... */
	uint32_t *share;  /* ... and in which share to the LID at hand */
	struct pace *pace;
	uint64_t *done;
};

/* First the destinations in the demand, in its order, then all others. */
static void parx_paths_list_ends(struct paths *x)
{
	const struct fabric *f = x->f;
	bool *listed = xcalloc(f->nterm, sizeof(*listed));

	x->end = xcalloc(f->nterm, sizeof(*x->end));
	x->ndemand = x->demand ? x->demand->ndest : 0;
	for (x->n = 0; x->n < x->ndemand; x->n++)
		listed[x->end[x->n] = x->demand->dest[x->n]] = true;
	for (uint32_t k = 0; k < f->nend; k++)
		if (f->term_list[k] < f->nterm && !listed[f->term_list[k]])
			x->end[x->n++] = f->term_list[k];
	free(listed);
}

static void parx_paths_init(struct paths *x, const struct grid *grid,
			    const struct engine_params *params)
{
	const struct fabric *f = x->f;
	uint32_t nrule = 0;

	parx_paths_list_ends(x);
	chan_weights_init(&x->weights, f, params->ignore_rates);
	x->even = !x->demand && !x->weights.of;
	for (uint32_t i = 0; i < 2 * RUNS; i++) {
		struct run *r = &x->run[i % 2][i / 2];

		parx_dags_init(&r->dags, f, grid, x->lmc);
		nrule = r->dags.rules.n;
		r->share = xcalloc((size_t)nrule * f->nsw, sizeof(*r->share));
	}
	x->balance = min_load_tree_new(f, x->t, BALANCE_PATHS, NULL, NULL);
	min_load_tree_weigh(x->balance, &x->weights);
	parx_even_init(&x->fewest, f, nrule);
	x->pool = pool_new(params->threads);
	x->weight = xcalloc(f->nsw, sizeof(*x->weight));
	x->share = xcalloc(f->nsw, sizeof(*x->share));
}

static void parx_paths_done(struct paths *x)
{
	for (uint32_t i = 0; i < 2 * RUNS; i++) {
		struct run *r = &x->run[i % 2][i / 2];

		parx_dags_done(&r->dags);
		free(r->share);
		free(r->lid);
		free(r->column);
	}
	min_load_tree_free(x->balance);
	pool_free(x->pool);
	parx_even_done(&x->fewest);
	chan_weights_done(&x->weights);
	free(x->weight);
	free(x->share);
	free(x->end);
}

/*
 * The paper adds the whole weight for each of a port's LIDs.  But messages take only those that
 * the rule names, and most bytes are in large ones: only they should keep paths apart.
 */
static void parx_paths_share(uint32_t *share, const struct paths *x, const struct parx_dags *dags,
			     uint32_t i, const uint32_t *weight)
{
	const struct parx_rules *r = &dags->rules;

	for (uint32_t u = 0; u < x->f->nsw; u++) {
		struct lid_set lids = parx_rules_lids(r, x->lmc, r->half[u], r->half[dags->root]);
		uint32_t unit = 0;

		lids.large |= dags->extra[u];
		if (weight[u] && lids.large >> i & 1)
			unit += LARGE_UNITS / (uint32_t)__builtin_popcount(lids.large);
		if (weight[u] && lids.small >> i & 1)
			unit++;
		share[u] = weight[u] * unit;
	}
}

/* --- what others do meanwhile ---------------------------------------------------------------- */

static void parx_paths_prepare(const struct paths *x, struct run *r)
{
	const struct fabric *f = x->f;

	r->dags.root = FAB_NONE;
	r->work = parx_dags_build(&r->dags, f->term_sw[r->end[0]], r->ordered);
	for (uint32_t i = 0; i < r->dags.rules.n && !x->demand; i++)
		parx_paths_share(r->share + (size_t)i * f->nsw, x, &r->dags, i, f->sw_nterm);
}

/* The rows of some switches. */
static void parx_paths_write_part(const struct paths *x, uint32_t part)
{
	uint32_t nsw = x->f->nsw, to = (uint32_t)((uint64_t)nsw * (part + 1) / PARTS);

	for (uint32_t u = (uint32_t)((uint64_t)nsw * part / PARTS); u < to; u++) {
		uint8_t *row = tables_row(x->t, u);

		for (const struct run *r = x->run[!x->now]; r < x->run[!x->now] + RUNS; r++)
			for (uint32_t k = 0; k < r->nlid; k++)
				row[r->lid[k]] = r->column[(size_t)k * nsw + u];
	}
}

/* The short turns last. */
static bool parx_paths_turn(void *ctx, unsigned worker, uint32_t i)
{
	struct paths *x = ctx;

	(void)worker;
	if (i >= RUNS)
		parx_paths_write_part(x, i - RUNS);
	else if (x->run[!x->now][i].n)
		parx_paths_prepare(x, &x->run[!x->now][i]);
	return false;
}

/* --- one LID after another ------------------------------------------------------------------- */

static void parx_paths_weigh(struct paths *x, uint32_t dst)
{
	const struct demand *demand = x->demand;

	memset(x->weight, 0, x->f->nsw * sizeof(*x->weight));
	for (uint32_t k = demand->off[dst]; k < demand->off[dst + 1]; k++)
		x->weight[x->f->term_sw[demand->src[k]]] += demand->w[k];
}

/* What the switches send to the k-th terminal of a run. */
static const uint32_t *parx_paths_weight(struct paths *x, const struct run *r, uint32_t k)
{
	if (r->end + k >= x->end + x->ndemand)
		return x->f->sw_nterm;
	parx_paths_weigh(x, r->end[k]);
	return x->weight;
}

static uint64_t parx_paths_route_lid(struct paths *x, struct run *r, const struct dest *d,
				     uint32_t i, const uint32_t *weight)
{
	const uint32_t *share = x->share;
	uint8_t *column;

	if (x->demand)
		parx_paths_share(x->share, x, &r->dags, i, weight);
	else
		share = r->share + (size_t)i * x->f->nsw;
	if (!r->even)
		return min_load_tree_route_in(x->balance, &r->dags.dag[i], d, 1, share);
	column = r->column + (size_t)r->nlid * x->f->nsw;
	r->lid[r->nlid++] = d->lid;
	column[d->sw] = d->port;
	return parx_even_choose(&x->fewest, &r->dags, i, share, min_load_tree_loads(x->balance),
				column);
}

static uint64_t parx_paths_route_end(struct paths *x, struct run *r, uint32_t k)
{
	struct dest d[128];
	uint32_t n = graph_end_dests(d, x->f, x->lmc, r->end[k]), nrule = r->dags.rules.n;
	const uint32_t *weight = parx_paths_weight(x, r, k);
	uint64_t work = 0;

	for (uint32_t i = 0; i < n && i < nrule; i++)
		work += parx_paths_route_lid(x, r, d + i, i, weight);
	if (n > nrule)
		work += min_load_tree_route_in(x->balance, &r->dags.dag[nrule], d + nrule,
					       n - nrule, weight);
	return work;
}

/* True: cancelled. */
static bool parx_paths_route_run(struct paths *x, struct run *r)
{
	uint32_t room = r->n * r->dags.rules.n;

	r->nlid = 0;
	r->even = r->n && x->even && x->f->sw_nterm[r->dags.root] >= EVEN_TERMINALS;
	if (r->even) {
		r->lid = xrealloc(r->lid, room, sizeof(*r->lid));
		r->column = xrealloc(r->column, room, x->f->nsw);
		parx_even_begin(&x->fewest, &r->dags);
	}
	for (uint32_t k = 0; k < r->n; k++) {
		*x->done += 1u << x->lmc;
		if (pace_tick(x->pace, *x->done, r->work + parx_paths_route_end(x, r, k)))
			return true;
		r->work = 0;
	}
	return false;
}

/* --------------------------------------------------------------------------------------------- */

static bool parx_paths_is_ordered(const struct paths *x, uint32_t at)
{
	return at >= x->ndemand || x->ordered;
}

/* Those that are prepared next. */
static void parx_paths_next_runs(struct paths *x)
{
	const uint32_t *sw = x->f->term_sw;

	for (struct run *r = x->run[!x->now]; r < x->run[!x->now] + RUNS; r++) {
		uint32_t at = x->at, n = 0;

		r->end = x->end + at;
		r->ordered = parx_paths_is_ordered(x, at);
		while (at + n < x->n && sw[r->end[n]] == sw[r->end[0]] &&
		       parx_paths_is_ordered(x, at + n) == r->ordered)
			n++;
		r->n = n;
		x->at += n;
	}
}

static bool parx_paths_under_way(const struct paths *x)
{
	bool any = x->at < x->n;

	for (uint32_t i = 0; i < 2 * RUNS; i++)
		any |= x->run[i % 2][i / 2].n || x->run[i % 2][i / 2].nlid;
	return any;
}

static int parx_paths_route_terminals(struct paths *x)
{
	bool stop = false;

	while (!stop && parx_paths_under_way(x)) {
		parx_paths_next_runs(x);
		pool_begin(x->pool, RUNS + PARTS, parx_paths_turn, x);
		for (uint32_t i = 0; i < RUNS && !stop; i++)
			stop = parx_paths_route_run(x, &x->run[x->now][i]);
		pool_end(x->pool);
		for (uint32_t i = 0; i < RUNS; i++) {
			x->run[!x->now][i].nlid = 0; /* in the rows */
			x->run[x->now][i].n = 0;
		}
		x->now = !x->now;
	}
	return stop ? -ECANCELED : 0;
}

static void parx_paths_tell(struct parx_paths_found *out, const struct paths *x)
{
	const uint64_t *load = min_load_tree_loads(x->balance);

	*out = (struct parx_paths_found){ 0 };
	for (uint32_t c = 0; c < x->f->nchan; c++)
		out->most = load[c] > out->most ? load[c] : out->most;
	for (uint32_t i = 0; i < 2 * RUNS; i++) {
		const struct parx_dags *dags = &x->run[i % 2][i / 2].dags;

		out->nforced += dags->nforced;
		out->nlift += dags->nlift;
		out->ncut += dags->ncut;
	}
}

int parx_paths_route(struct parx_paths_found *out, struct tables *t, const struct fabric *f,
		     const struct grid *grid, const struct demand *demand, bool ordered,
		     const struct engine_params *params, struct pace *p, uint64_t *done)
{
	struct paths x = { .f = f, .t = t, .demand = demand, .ordered = ordered };
	uint32_t n, nterm;
	struct dest *dests;
	int rc;

	x.lmc = graph_lmc(f, params);
	x.pace = p;
	x.done = done;
	nterm = f->nterm << x.lmc;
	dests = graph_dests_by_lid(&n, f, x.lmc);
	parx_paths_init(&x, grid, params);
	rc = parx_paths_route_terminals(&x);
	min_load_tree_share(x.balance, x.pool);
	if (!rc)
		rc = min_load_tree_route_all(x.balance, dests + nterm, n - nterm, p, done);
	parx_paths_tell(out, &x);
	parx_paths_done(&x);
	free(dests);
	return rc;
}
