/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/balance/load_lanes.h"

#include "engines/graph/balance/packed_tree.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/chan_weight.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LANES	   2  /* with four, HyperX and irregular fabrics need more VLs */
#define LANE_LEAST 16 /* LIDs; for fewer a lane's loads are not worth their copy */
#define PARTS	   16 /* of the channels and of the switches, which threads share */
#define AHEAD	   8  /* rows asked for before they are written */

struct lane {
	struct packed_tree *tree;
	uint64_t *load; /* by channel */
	uint8_t *port;	/* by LID * switches + switch; NULL: the hops have room */
	uint64_t work;
};

struct load_lanes {
	const struct fabric *f;
	struct tables *t;
	const struct dagset *set;
	struct pool *pool;
	struct lft_hops *hops;
	struct chan_weights unit; /* a route is a route */
	struct lane lane[LANES];

	/* the round */
	const struct dest *d;
	uint32_t n, nlane;
	uint64_t *load;
	const uint32_t *weight;
	uint8_t *was;
	uint8_t *column[LOAD_LANES_ROUND]; /* ports by switch */
	uint32_t nline; /* lines of memory that the LIDs take of a row, and where they begin */
	uint32_t line[LOAD_LANES_ROUND];
	atomic_bool taken[PARTS]; /* turns of the loop at hand */
};

struct load_lanes *load_lanes_new(const struct fabric *f, struct tables *t,
				  const struct dagset *set, struct pool *pool,
				  struct lft_hops *hops, bool by_ports)
{
	struct load_lanes *x = xcalloc(1, sizeof(*x));
	size_t size = (size_t)f->nsw * LOAD_LANES_ROUND / LANES;

	x->f = f;
	x->t = t;
	x->set = set;
	x->pool = pool;
	x->hops = hops;
	x->unit = (struct chan_weights){ .unit = 1 };
	for (struct lane *l = x->lane; l < x->lane + LANES; l++) {
		l->load = xcalloc(f->nchan, sizeof(*l->load));
		l->tree = packed_tree_new(f, l->load, by_ports);
		l->port = hops ? NULL : xcalloc(size, 1);
	}
	return x;
}

void load_lanes_free(struct load_lanes *x)
{
	if (!x)
		return;
	for (struct lane *l = x->lane; l < x->lane + LANES; l++) {
		packed_tree_free(l->tree);
		free(l->load);
		free(l->port);
	}
	free(x);
}

static void load_lanes_do(struct load_lanes *x, uint32_t n,
			  bool (*turn)(void *ctx, unsigned worker, uint32_t i))
{
	for (uint32_t i = 0; i < PARTS; i++)
		atomic_store_explicit(&x->taken[i], false, memory_order_relaxed);
	if (x->pool)
		pool_for(x->pool, n, turn, x);
	for (uint32_t i = 0; i < n && !x->pool; i++)
		turn(x, 0, i);
}

/* Which of n turns a worker takes: its own of the rounds before, whose memory is near its core, and
 * those of others when these are done. */
static uint32_t load_lanes_take(struct load_lanes *x, unsigned worker, uint32_t n)
{
	uint32_t at = x->pool ? n * worker / pool_threads(x->pool) : 0;

	while (atomic_exchange_explicit(&x->taken[at], true, memory_order_relaxed))
		at = (at + 1) % n;
	return at;
}

/* Those of a part. */
static uint32_t load_lanes_first_of(uint32_t n, uint32_t part)
{
	return (uint32_t)((uint64_t)n * part / PARTS);
}

static void load_lanes_list_lines(struct load_lanes *x)
{
	x->nline = 0;
	for (uint32_t k = 0; k < x->n; k++)
		if (!k || x->d[k].lid / LFT_BLOCK != x->d[k - 1].lid / LFT_BLOCK)
			x->line[x->nline++] = x->d[k].lid;
}

/* Rows lie far from each other. */
static void load_lanes_ask_for_row(const struct load_lanes *x, uint32_t u)
{
	const uint8_t *row = u < x->f->nsw ? tables_row(x->t, u) : NULL;

	for (uint32_t i = 0; row && i < x->nline; i++)
		__builtin_prefetch(row + x->line[i], 1);
}

static bool load_lanes_read_part(void *ctx, unsigned worker, uint32_t i)
{
	struct load_lanes *x = ctx;
	uint32_t nsw = x->f->nsw, part = load_lanes_take(x, worker, PARTS);
	uint32_t end = load_lanes_first_of(nsw, part + 1);

	(void)i;
	for (uint32_t u = load_lanes_first_of(nsw, part); u < end; u++) {
		const uint8_t *row = tables_row(x->t, u);

		load_lanes_ask_for_row(x, u + AHEAD);
		for (uint32_t k = 0; k < x->n; k++)
			x->was[(size_t)k * nsw + u] = row[x->d[k].lid];
	}
	return false;
}

/* --- the lanes ------------------------------------------------------------------------------- */

/* Neighbours in the order are in different lanes, so that what each lane sees grows evenly. */
static void load_lanes_deal(struct load_lanes *x)
{
	x->nlane = (x->n + LANE_LEAST - 1) / LANE_LEAST;
	x->nlane = x->nlane < LANES ? x->nlane : LANES;
	for (uint32_t k = 0; k < x->n; k++)
		x->column[k] =
			x->hops ? lft_hops_fill(x->hops, x->d[k].lid)
				: x->lane[k % x->nlane].port + (size_t)(k / x->nlane) * x->f->nsw;
}

static bool load_lanes_route_lane(void *ctx, unsigned worker, uint32_t i)
{
	struct load_lanes *x = ctx;
	uint32_t first = load_lanes_take(x, worker, x->nlane);
	struct lane *l = &x->lane[first];
	struct packed_dag g;

	(void)i;
	memcpy(l->load, x->load, x->f->nchan * sizeof(*l->load));
	l->work = x->f->nchan;
	for (uint32_t k = first; k < x->n; k += x->nlane) {
		const uint8_t *was = x->was ? x->was + (size_t)k * x->f->nsw : NULL;

		dagset_find(x->set, &g, x->d[k].sw);
		if (was)
			l->work += packed_tree_count(l->tree, &g, x->weight, was, &x->unit, -1);
		l->work += packed_tree_route(l->tree, &g, x->weight, x->column[k]);
		x->column[k][x->d[k].sw] = x->d[k].port;
	}
	return false;
}

/* --- the end of a round ---------------------------------------------------------------------- */

/* What each lane has added, at some channels. */
static void load_lanes_join_part(struct load_lanes *x, uint32_t part)
{
	uint32_t from = load_lanes_first_of(x->f->nchan, part);
	uint32_t n = load_lanes_first_of(x->f->nchan, part + 1) - from;
	uint64_t *load = x->load + from, others = x->nlane - 1;

	for (uint32_t c = 0; c < n; c++)
		load[c] *= -others;
	for (uint32_t i = 0; i < x->nlane; i++) {
		const uint64_t *lane = x->lane[i].load + from;

		for (uint32_t c = 0; c < n; c++)
			load[c] += lane[c];
	}
}

static bool load_lanes_end_part(void *ctx, unsigned worker, uint32_t i)
{
	struct load_lanes *x = ctx;
	uint32_t nsw = x->f->nsw, part = load_lanes_take(x, worker, PARTS);
	uint32_t end = load_lanes_first_of(nsw, part + 1);

	(void)i;
	load_lanes_join_part(x, part);
	for (uint32_t u = load_lanes_first_of(nsw, part); u < end; u++) {
		uint8_t *row = tables_row(x->t, u);

		load_lanes_ask_for_row(x, u + AHEAD);
		for (uint32_t k = 0; k < x->n; k++)
			row[x->d[k].lid] = x->column[k][u];
	}
	return false;
}

uint64_t load_lanes_route(struct load_lanes *x, uint64_t *load, const struct dest *d, uint32_t n,
			  const uint32_t *weight, uint8_t *was)
{
	uint64_t work = 0;

	x->d = d;
	x->n = n;
	x->load = load;
	x->weight = weight;
	x->was = was;
	load_lanes_list_lines(x);
	if (was)
		load_lanes_do(x, PARTS, load_lanes_read_part);
	load_lanes_deal(x);
	load_lanes_do(x, x->nlane, load_lanes_route_lane);
	load_lanes_do(x, PARTS, load_lanes_end_part);
	for (uint32_t i = 0; i < x->nlane; i++)
		work += x->lane[i].work;
	return work;
}
