/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/balance.h"

#include "fabric/base/mem.h"

#include <errno.h>
#include <stdlib.h>

#define BATCH 64 /* LIDs of one destination switch whose ports are written row by row */

struct balance {
	const struct fabric *f;
	struct tables *t;
	enum balance_rule rule;
	uint64_t *load;	 /* by channel */
	uint64_t *eload; /* the same by edge of the DAG at hand */
	uint64_t *cost;	 /* by position */
	uint64_t *routes;
	uint32_t *pick; /* edge by position */
	uint8_t *port;	/* by LID of the batch * nsw + position */
	struct spdag dag;
	balance_build_fn build;
	void *ctx;
};

static void build_shortest(void *ctx, struct spdag *g, const struct fabric *f, uint32_t root)
{
	(void)ctx;
	spdag_shortest(g, f, root);
}

struct balance *balance_new(const struct fabric *f, struct tables *t, enum balance_rule rule,
			    balance_build_fn build, void *ctx)
{
	struct balance *b = xcalloc(1, sizeof(*b));

	b->f = f;
	b->t = t;
	b->rule = rule;
	b->build = build ? build : build_shortest;
	b->ctx = ctx;
	spdag_init(&b->dag, f);
	b->load = xcalloc(f->nchan, sizeof(*b->load));
	b->eload = xcalloc(f->nchan, sizeof(*b->eload));
	b->cost = xcalloc(f->nsw, sizeof(*b->cost));
	b->routes = xcalloc(f->nsw, sizeof(*b->routes));
	b->pick = xcalloc(f->nsw, sizeof(*b->pick));
	b->port = xcalloc((size_t)f->nsw * BATCH, 1);
	return b;
}

void balance_free(struct balance *b)
{
	if (!b)
		return;
	spdag_done(&b->dag);
	free(b->load);
	free(b->eload);
	free(b->cost);
	free(b->routes);
	free(b->pick);
	free(b->port);
	free(b);
}

uint64_t *balance_loads(struct balance *b)
{
	return b->load;
}

/* Cheapest edge of every position; the first one when equal. */
static void pick_paths(struct balance *b, const struct spdag *g)
{
	const uint64_t *eload = b->eload;
	const uint32_t *to = g->to;
	uint64_t *cost = b->cost;

	cost[0] = 0;
	for (uint32_t i = 1; i < g->n; i++) {
		uint32_t k = g->off[i], end = g->off[i + 1], best = k;
		uint64_t least = eload[k] + cost[to[k]];

		for (k++; k < end; k++) {
			uint64_t v = eload[k] + cost[to[k]];

			best = v < least ? k : best;
			least = v < least ? v : least;
		}
		cost[i] = least;
		b->pick[i] = best;
	}
}

static void pick_ports(struct balance *b, const struct spdag *g)
{
	for (uint32_t i = 1; i < g->n; i++) {
		uint32_t best = g->off[i];

		for (uint32_t k = best + 1; k < g->off[i + 1]; k++)
			best = b->eload[k] < b->eload[best] ? k : best;
		b->pick[i] = best;
	}
}

/* Positions grow away from the root, so a pass downwards meets every subtree complete. */
static void add_routes(struct balance *b, const struct spdag *g, const uint32_t *weight)
{
	for (uint32_t i = 0; i < g->n; i++)
		b->routes[i] = weight[g->sw[i]];
	for (uint32_t i = g->n; i-- > 1;) {
		uint32_t k = b->pick[i];

		b->eload[k] += b->routes[i];
		b->routes[g->to[k]] += b->routes[i];
	}
}

static void add_lids(struct balance *b, const struct spdag *g)
{
	for (uint32_t i = 1; i < g->n; i++)
		b->eload[b->pick[i]]++;
}

static void write_rows(struct balance *b, const struct spdag *g, const struct dest *d, uint32_t n)
{
	for (uint32_t i = 1; i < g->n; i++) {
		uint8_t *row = tables_row(b->t, g->sw[i]);

		for (uint32_t k = 0; k < n; k++)
			row[d[k].lid] = b->port[(size_t)k * b->f->nsw + i];
	}
	for (uint32_t k = 0; k < n; k++)
		tables_row(b->t, g->root)[d[k].lid] = d[k].port;
}

static void route_batch(struct balance *b, const struct spdag *g, const struct dest *d, uint32_t n,
			const uint32_t *weight)
{
	for (uint32_t k = 0; k < n; k++) {
		uint8_t *port = b->port + (size_t)k * b->f->nsw;

		if (b->rule == BALANCE_PATHS)
			pick_paths(b, g);
		else
			pick_ports(b, g);
		for (uint32_t i = 1; i < g->n; i++)
			port[i] = b->f->chan_port[g->chan[b->pick[i]]];
		if (!weight)
			continue;
		if (b->rule == BALANCE_PATHS)
			add_routes(b, g, weight);
		else
			add_lids(b, g);
	}
	write_rows(b, g, d, n);
}

uint64_t balance_route_in(struct balance *b, const struct spdag *g, const struct dest *d,
			  uint32_t n, const uint32_t *weight)
{
	for (uint32_t k = 0; k < g->nedge; k++)
		b->eload[k] = b->load[g->chan[k]];
	for (uint32_t k = 0; k < n; k += BATCH)
		route_batch(b, g, d + k, n - k < BATCH ? n - k : BATCH, weight);
	for (uint32_t k = 0; k < g->nedge; k++)
		b->load[g->chan[k]] = b->eload[k];
	return (uint64_t)n * (g->nedge + g->n) + g->nedge;
}

uint64_t balance_route(struct balance *b, const struct dest *d, uint32_t n, const uint32_t *weight)
{
	uint64_t work = 0;

	if (b->dag.root != d->sw) {
		b->build(b->ctx, &b->dag, b->f, d->sw);
		work = b->f->nchan;
	}
	return work + balance_route_in(b, &b->dag, d, n, weight);
}

/* The switch's own LID takes the column of its first terminal; returns false without one. */
static bool follow_terminal(struct balance *b, const struct dest *d)
{
	const struct fabric *f = b->f;
	uint32_t term = FAB_NONE;

	for (uint32_t k = f->term_off[d->sw]; k < f->term_off[d->sw + 1] && term == FAB_NONE; k++)
		if (f->term_list[k] < f->nterm)
			term = f->term_list[k];
	if (term == FAB_NONE)
		return false;
	for (uint32_t u = 0; u < f->nsw; u++) {
		uint8_t *row = tables_row(b->t, u);

		row[d->lid] = u == d->sw ? 0 : row[f->term_lid[term]];
	}
	return true;
}

/* LIDs from the first on that end on one switch and count alike; few enough to cancel soon. */
static uint32_t run_length(const struct fabric *f, const struct dest *d, uint32_t n)
{
	uint32_t k = 1;

	while (k < n && k < BATCH && d[k].sw == d->sw &&
	       (d[k].end < f->nterm) == (d->end < f->nterm) && d[k].end < f->nend)
		k++;
	return k;
}

int balance_route_all(struct balance *b, const struct dest *dests, uint32_t n, struct pace *p,
		      uint64_t *done)
{
	const struct fabric *f = b->f;

	for (uint32_t i = 0; i < n;) {
		const struct dest *d = &dests[i];
		uint32_t k = run_length(f, d, n - i);
		uint64_t work = f->nsw;

		if (d->end < f->nend || !follow_terminal(b, d))
			work = balance_route(b, d, k, d->end < f->nterm ? f->sw_nterm : NULL);
		i += k;
		*done += k;
		if (pace_tick(p, *done, work))
			return -ECANCELED;
	}
	return 0;
}

int balance_by_lid(struct tables *t, const struct fabric *f, uint8_t lmc, enum balance_rule rule,
		   balance_build_fn build, void *ctx, struct progress *progress)
{
	uint32_t n;
	struct dest *dests = graph_dests_by_lid(&n, f, lmc);
	struct balance *b = balance_new(f, t, rule, build, ctx);
	struct pace pace;
	uint64_t done = 0;
	int rc = pace_begin(&pace, progress, "paths", n) ? -ECANCELED : 0;

	if (!rc)
		rc = balance_route_all(b, dests, n, &pace, &done);
	balance_free(b);
	free(dests);
	return rc;
}
