/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/min_load_tree.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH	   64 /* LIDs of one destination switch whose ports are written row by row */
#define RUN_WORK   (4u << 20) /* edges at most between two reports */
#define PACKED_RUN 16	      /* LIDs of different switches whose ports are written row by row */
#define AHEAD	   8	      /* rows asked for before they are written */
#define ROWS_TURNS 8	      /* turns in which threads share the rows */
#define DAGS_AHEAD 4	      /* built together */
#define PARTS_MAX  8	      /* of a level, whose switches choose at the same time */
#define PART_EDGES 512	      /* of a part at least */

/* Ports by switch of some LIDs, on their way to the rows. */
struct columns {
	uint32_t n;
	const uint8_t *port[PACKED_RUN];
	uint16_t lid[PACKED_RUN];
	uint32_t nline;		   /* lines of memory that these entries take of a row, ... */
	uint32_t line[PACKED_RUN]; /* ... and where they begin */
};

struct min_load_tree {
	const struct fabric *f;
	struct tables *t;
	enum min_load_rule rule;
	struct chan_weights weights; /* the caller's */
	uint32_t usual;		     /* routes of a switch with terminals */
	uint64_t *load;		     /* by channel */
	uint64_t *eload;	     /* the same by edge of the DAG at hand */
	uint64_t *cost;		     /* by position */
	uint64_t *routes;
	uint32_t *pick; /* edge by position, or its channel where the DAG is packed */
	uint32_t *next; /* where the DAG is packed: position to which it leads */
	uint8_t *port;	/* by LID of the batch * nsw + position */
	struct spdag dag;
	const struct dagset *set;
	struct lft_hops *hops; /* NULL: nobody wants them */
	balance_build_fn build;
	void *ctx;
	struct pool *pool; /* NULL: there is only one thread */
	struct spdag ahead[2][DAGS_AHEAD];
	unsigned takes; /* from which of both; the others build the other one meanwhile */
	const struct dest *coming; /* LIDs whose DAGs are wanted next */
	uint32_t ncoming;
	uint32_t *part[PARTS_MAX]; /* by position * LIDs + LID: routes that come through */
	struct columns columns;	   /* n: others may be writing them */
	unsigned half;		   /* of port, for the columns at hand */
};

static void load_tree_build_shortest(void *ctx, struct spdag *g, const struct fabric *f,
				     uint32_t root)
{
	(void)ctx;
	spdag_shortest(g, f, root);
}

struct min_load_tree *min_load_tree_new(const struct fabric *f, struct tables *t,
					enum min_load_rule rule, balance_build_fn build, void *ctx)
{
	struct min_load_tree *b = xcalloc(1, sizeof(*b));

	b->f = f;
	b->t = t;
	b->rule = rule;
	b->build = build ? build : load_tree_build_shortest;
	b->ctx = ctx;
	b->weights = (struct chan_weights){ .unit = 1 };
	for (uint32_t u = 0; u < f->nsw; u++)
		b->usual = f->sw_nterm[u] > b->usual ? f->sw_nterm[u] : b->usual;
	spdag_init(&b->dag, f);
	b->load = xcalloc(f->nchan, sizeof(*b->load));
	b->eload = xcalloc(f->nchan, sizeof(*b->eload));
	b->cost = xcalloc(f->nsw, sizeof(*b->cost));
	b->routes = xcalloc(f->nsw, sizeof(*b->routes));
	b->pick = xcalloc(f->nsw, sizeof(*b->pick));
	b->next = xcalloc(f->nsw, sizeof(*b->next));
	b->port = xcalloc((size_t)f->nsw * BATCH, 1);
	return b;
}

void min_load_tree_free(struct min_load_tree *b)
{
	if (!b)
		return;
	spdag_done(&b->dag);
	if (b->pool)
		pool_end(b->pool);
	for (uint32_t i = 0; i < 2 * DAGS_AHEAD; i++)
		spdag_done(&b->ahead[i % 2][i / 2]);
	for (uint32_t i = 0; i < PARTS_MAX; i++)
		free(b->part[i]);
	free(b->load);
	free(b->eload);
	free(b->cost);
	free(b->routes);
	free(b->pick);
	free(b->next);
	free(b->port);
	free(b);
}

void min_load_tree_use(struct min_load_tree *b, const struct dagset *set)
{
	b->set = set;
}

void min_load_tree_tell(struct min_load_tree *b, struct lft_hops *hops)
{
	b->hops = hops;
}

void min_load_tree_share(struct min_load_tree *b, struct pool *pool)
{
	if (pool_threads(pool) < 2)
		return;
	b->pool = pool;
	for (uint32_t i = 0; i < 2 * DAGS_AHEAD; i++)
		spdag_init(&b->ahead[i % 2][i / 2], b->f);
}

void min_load_tree_weigh(struct min_load_tree *b, const struct chan_weights *weights)
{
	b->weights = *weights;
}

uint64_t *min_load_tree_loads(struct min_load_tree *b)
{
	return b->load;
}

/* Cheapest edge of every position; the first one when equal.  again: the DAG is that of the
 * pick before and loads have only grown since, so that what costs the same is still cheapest. */
static void load_tree_pick_paths(struct min_load_tree *b, const struct spdag *g, bool again)
{
	const uint64_t *eload = b->eload;
	const uint32_t *to = g->to;
	uint64_t *cost = b->cost;

	cost[0] = 0;
	for (uint32_t i = 1; i < g->n; i++) {
		uint32_t k = g->off[i], end = g->off[i + 1], best = k;
		uint64_t least = eload[k] + cost[to[k]];

		if (again && eload[b->pick[i]] + cost[to[b->pick[i]]] == cost[i])
			continue;
		for (k++; k < end; k++) {
			uint64_t v = eload[k] + cost[to[k]];

			best = v < least ? k : best;
			least = v < least ? v : least;
		}
		cost[i] = least;
		b->pick[i] = best;
	}
}

/* Positions grow away from the root, so a pass downwards meets every subtree complete. */
static void load_tree_add_routes(struct min_load_tree *b, const struct spdag *g,
				 const uint32_t *weight)
{
	for (uint32_t i = 0; i < g->n; i++)
		b->routes[i] = weight[g->sw[i]];
	for (uint32_t i = g->n; i-- > 1;) {
		uint32_t k = b->pick[i];

		b->eload[k] += b->routes[i];
		b->routes[g->to[k]] += b->routes[i];
	}
}

/* First of the least loaded edges of position i.  again: the DAG is that of the pick before, so
 * that edges before its pick are above its load, and those behind at least as loaded. */
static uint32_t load_tree_least_loaded(struct min_load_tree *b, const struct spdag *g, uint32_t i,
				       bool again)
{
	const uint64_t *eload = b->eload;
	uint32_t end = g->off[i + 1], best;

	if (again) {
		for (best = b->pick[i]; best < end && eload[best] != b->cost[i]; best++)
			;
		if (best < end)
			return best;
	}
	best = g->off[i];
	for (uint32_t k = best + 1; k < end; k++)
		best = eload[k] < eload[best] ? k : best;
	b->cost[i] = eload[best];
	return best;
}

/* The same with the least loaded edge of every position, farthest first: only a switch that
 * has routes to send counts its choice. */
static void load_tree_pick_ports(struct min_load_tree *b, const struct spdag *g,
				 const uint32_t *weight, bool again)
{
	for (uint32_t i = 0; i < g->n; i++)
		b->routes[i] = weight ? weight[g->sw[i]] : 0;
	for (uint32_t i = g->n; i-- > 1;) {
		uint32_t best = load_tree_least_loaded(b, g, i, again);

		b->pick[i] = best;
		b->eload[best] += b->routes[i];
		b->routes[g->to[best]] += b->routes[i];
	}
}

/* --- channels of different rates ------------------------------------------------------------- */

/* What routes cost from edge k on, with those that are there. */
static uint64_t load_tree_weighed_cost(const struct min_load_tree *b, const struct spdag *g,
				       uint32_t k, uint64_t routes)
{
	uint64_t cost = 0;

	for (;;) {
		cost += b->eload[k] + routes * b->weights.of[g->chan[k]];
		if (!g->to[k])
			return cost;
		k = b->pick[g->to[k]];
	}
}

/* Every source switch sees what those nearer to the destination have taken: on a slow channel few
 * routes are many already. */
static void load_tree_pick_weighed_paths(struct min_load_tree *b, const struct spdag *g,
					 const uint32_t *weight)
{
	for (uint32_t i = 1; i < g->n; i++) {
		uint32_t own = weight ? weight[g->sw[i]] : 0, best = g->off[i];
		uint64_t least = UINT64_MAX;

		for (uint32_t k = g->off[i]; k < g->off[i + 1]; k++) {
			uint64_t v = load_tree_weighed_cost(b, g, k, own ? own : b->usual);

			best = v < least ? k : best;
			least = v < least ? v : least;
		}
		b->pick[i] = best;
		for (uint32_t at = i; own && at; at = g->to[b->pick[at]])
			b->eload[b->pick[at]] +=
				(uint64_t)own * b->weights.of[g->chan[b->pick[at]]];
	}
}

/* The weight of the slowest channel on the fastest way from edge k on. */
static uint64_t load_tree_slowest_from(const struct min_load_tree *b, const struct spdag *g,
				       uint32_t k)
{
	uint64_t near = b->weights.of[g->chan[k]], far = b->cost[g->to[k]];

	return near > far ? near : far;
}

static void load_tree_find_slowest(struct min_load_tree *b, const struct spdag *g)
{
	b->cost[0] = 0;
	for (uint32_t i = 1; i < g->n; i++) {
		b->cost[i] = UINT64_MAX;
		for (uint32_t k = g->off[i]; k < g->off[i + 1]; k++) {
			uint64_t v = load_tree_slowest_from(b, g, k);

			b->cost[i] = v < b->cost[i] ? v : b->cost[i];
		}
	}
}

/* As load_tree_pick_ports(); a port counts as slow as the way behind it, which its switch would
 * not see else. */
static void load_tree_pick_weighed_ports(struct min_load_tree *b, const struct spdag *g,
					 const uint32_t *weight)
{
	const uint32_t *w = b->weights.of;

	load_tree_find_slowest(b, g);
	for (uint32_t i = 0; i < g->n; i++)
		b->routes[i] = weight ? weight[g->sw[i]] : 0;
	for (uint32_t i = g->n; i-- > 1;) {
		uint64_t own = b->routes[i] ? b->routes[i] : b->usual, least = UINT64_MAX;

		for (uint32_t k = g->off[i]; k < g->off[i + 1]; k++) {
			uint64_t v = b->eload[k] + own * load_tree_slowest_from(b, g, k);

			b->pick[i] = v < least ? k : b->pick[i];
			least = v < least ? v : least;
		}
		b->eload[b->pick[i]] += b->routes[i] * w[g->chan[b->pick[i]]];
		b->routes[g->to[b->pick[i]]] += b->routes[i];
	}
}

static void load_tree_pick_weighed(struct min_load_tree *b, const struct spdag *g,
				   const uint32_t *weight)
{
	if (b->rule == BALANCE_PORTS)
		load_tree_pick_weighed_ports(b, g, weight);
	else
		load_tree_pick_weighed_paths(b, g, weight);
}

/* --------------------------------------------------------------------------------------------- */

static void load_tree_pick(struct min_load_tree *b, const struct spdag *g, const uint32_t *weight,
			   bool again)
{
	if (b->weights.of)
		load_tree_pick_weighed(b, g, weight);
	else if (b->rule == BALANCE_PORTS)
		load_tree_pick_ports(b, g, weight, again);
	else
		load_tree_pick_paths(b, g, again);
	if (!b->weights.of && b->rule == BALANCE_PATHS && weight)
		load_tree_add_routes(b, g, weight);
}

static void load_tree_write_rows(struct min_load_tree *b, const struct spdag *g,
				 const struct dest *d, uint32_t n)
{
	for (uint32_t i = 1; i < g->n; i++) {
		uint8_t *row = tables_row(b->t, g->sw[i]);

		for (uint32_t k = 0; k < n; k++)
			row[d[k].lid] = b->port[(size_t)k * b->f->nsw + i];
	}
	for (uint32_t k = 0; k < n; k++)
		tables_row(b->t, g->root)[d[k].lid] = d[k].port;
}

/* Ports by position, to where they are wanted by switch. */
static void load_tree_tell_hops(struct min_load_tree *b, const struct spdag *g, uint16_t lid,
				const uint8_t *port)
{
	uint8_t *hops = lft_hops_fill(b->hops, lid);

	for (uint32_t i = 1; i < g->n; i++)
		hops[g->sw[i]] = port[i];
}

static void load_tree_route_batch(struct min_load_tree *b, const struct spdag *g,
				  const struct dest *d, uint32_t n, const uint32_t *weight,
				  bool again)
{
	for (uint32_t k = 0; k < n; k++) {
		uint8_t *port = b->port + (size_t)k * b->f->nsw;

		load_tree_pick(b, g, weight, again || k);
		for (uint32_t i = 1; i < g->n; i++)
			port[i] = b->f->chan_port[g->chan[b->pick[i]]];
		if (b->hops)
			load_tree_tell_hops(b, g, d[k].lid, port);
	}
	load_tree_write_rows(b, g, d, n);
}

/* The first terminal of a switch, or FAB_NONE. */
static uint32_t load_tree_first_terminal(const struct fabric *f, uint32_t sw)
{
	for (uint32_t k = f->term_off[sw]; k < f->term_off[sw + 1]; k++)
		if (f->term_list[k] < f->nterm)
			return f->term_list[k];
	return FAB_NONE;
}

/* A switch's own LID that takes the way of a terminal. */
static bool load_tree_follows(const struct fabric *f, const struct dest *d)
{
	return d->end >= f->nend && load_tree_first_terminal(f, d->sw) != FAB_NONE;
}

/* --- several threads -------------------------------------------------------------------------- */

static bool load_tree_build_ahead(void *ctx, unsigned worker, uint32_t i)
{
	struct min_load_tree *b = ctx;
	struct spdag *g = &b->ahead[!b->takes][i];

	(void)worker;
	if (g->root != FAB_NONE)
		b->build(b->ctx, g, b->f, g->root);
	return false;
}

/* Which switches come next, root first; returns how many of so many are known. */
static uint32_t load_tree_list_roots(const struct min_load_tree *b, uint32_t root, uint32_t *list,
				     uint32_t most)
{
	uint32_t n = 0;

	list[n++] = root;
	for (uint32_t i = 0; i < b->ncoming && n < most; i++) {
		const struct dest *d = &b->coming[i];

		if (d->sw != list[n - 1] && !load_tree_follows(b->f, d))
			list[n++] = d->sw;
	}
	return n;
}

/* Begins to build the DAGs of n switches. */
static void load_tree_begin_ahead(struct min_load_tree *b, const uint32_t *root, uint32_t n)
{
	for (uint32_t i = 0; i < DAGS_AHEAD; i++)
		b->ahead[!b->takes][i].root = i < n ? root[i] : FAB_NONE;
	if (n)
		pool_begin(b->pool, DAGS_AHEAD, load_tree_build_ahead, b);
}

static struct spdag *load_tree_find_ahead(struct min_load_tree *b, uint32_t root)
{
	for (uint32_t i = 0; i < DAGS_AHEAD; i++)
		if (b->ahead[b->takes][i].root == root)
			return &b->ahead[b->takes][i];
	return NULL;
}

/* Those that were begun are there, that of root among them; the next ones are begun. */
static void load_tree_go_ahead(struct min_load_tree *b, uint32_t root)
{
	uint32_t list[2 * DAGS_AHEAD], n = load_tree_list_roots(b, root, list, 2 * DAGS_AHEAD);

	pool_end(b->pool);
	b->takes = !b->takes;
	if (!load_tree_find_ahead(b, root)) {
		load_tree_begin_ahead(b, list, n < DAGS_AHEAD ? n : DAGS_AHEAD);
		pool_end(b->pool);
		b->takes = !b->takes;
	}
	while (n && load_tree_find_ahead(b, list[0])) {
		memmove(list, list + 1, --n * sizeof(*list));
	}
	load_tree_begin_ahead(b, list, n < DAGS_AHEAD ? n : DAGS_AHEAD);
}

/* The DAG towards root from those ahead. */
static void load_tree_take_ahead(struct min_load_tree *b, uint32_t root)
{
	struct spdag was = b->dag, *g = load_tree_find_ahead(b, root);

	if (!g) {
		load_tree_go_ahead(b, root);
		g = load_tree_find_ahead(b, root);
	}
	b->dag = *g;
	*g = was;
	g->root = FAB_NONE;
}

/* LIDs of one switch whose ports are chosen at the same time. */
struct ports_run {
	struct min_load_tree *b;
	const struct dest *d;
	uint32_t n;
	const uint32_t *weight;
	uint32_t first, end, parts; /* positions of the level at hand */
};

/* All LIDs, one after another: a switch chooses by nothing but its own loads. */
static void load_tree_choose_ports(const struct ports_run *r, uint32_t part, uint32_t i)
{
	struct min_load_tree *b = r->b;
	const struct spdag *g = &b->dag;
	uint32_t own = r->weight ? r->weight[g->sw[i]] : 0;
	uint8_t *row = tables_row(b->t, g->sw[i]);

	for (uint32_t e = g->off[i]; e < g->off[i + 1]; e++)
		b->eload[e] = b->load[g->chan[e]];
	for (uint32_t k = 0; k < r->n; k++) {
		uint32_t best = load_tree_least_loaded(b, g, i, k > 0), routes = own;

		for (uint32_t p = 0; p < r->parts; p++)
			routes += b->part[p][(size_t)i * r->n + k];
		b->pick[i] = best;
		b->eload[best] += routes;
		b->part[part][(size_t)g->to[best] * r->n + k] += routes;
		row[r->d[k].lid] = b->f->chan_port[g->chan[best]];
	}
	for (uint32_t e = g->off[i]; e < g->off[i + 1]; e++)
		b->load[g->chan[e]] = b->eload[e];
}

static bool load_tree_choose_part(void *ctx, unsigned worker, uint32_t part)
{
	const struct ports_run *r = ctx;
	uint64_t n = r->end - r->first;

	(void)worker;
	for (uint32_t i = r->first + (uint32_t)(n * part / r->parts);
	     i < r->first + (uint32_t)(n * (part + 1) / r->parts); i++)
		load_tree_choose_ports(r, part, i);
	return false;
}

/* Level by level, the farthest first, as no switch sends to another of its level. */
static uint64_t load_tree_route_ports(struct min_load_tree *b, const struct dest *d, uint32_t n,
				      const uint32_t *weight)
{
	const struct spdag *g = &b->dag;
	struct ports_run r = { .b = b, .d = d, .n = n, .weight = weight, .end = g->n };

	r.parts = b->pool ? pool_threads(b->pool) : 1;
	r.parts = r.parts < PARTS_MAX ? r.parts : PARTS_MAX;
	for (uint32_t p = 0; p < r.parts; p++) {
		if (!b->part[p])
			b->part[p] = xcalloc((size_t)b->f->nsw * BATCH, sizeof(**b->part));
		memset(b->part[p], 0, (size_t)g->n * n * sizeof(**b->part));
	}
	for (; r.end > 1; r.end = r.first) {
		r.first = r.end - 1;
		while (r.first > 1 && g->dist[r.first - 1] == g->dist[r.end - 1])
			r.first--;
		if (r.parts > 1 && g->off[r.end] - g->off[r.first] >= PART_EDGES * r.parts)
			pool_for(b->pool, r.parts, load_tree_choose_part, &r);
		else
			for (uint32_t p = 0; p < r.parts; p++)
				load_tree_choose_part(&r, 0, p);
	}
	for (uint32_t k = 0; k < n; k++)
		tables_row(b->t, g->root)[d[k].lid] = d[k].port;
	return (uint64_t)n * (g->nedge + g->n) + g->nedge;
}

/* Are positions sorted by distance? */
static bool load_tree_has_levels(const struct spdag *g)
{
	uint32_t i = 1;

	while (i < g->n && g->dist[i - 1] <= g->dist[i])
		i++;
	return i >= g->n;
}

static bool load_tree_goes_by_levels(const struct min_load_tree *b, uint32_t n)
{
	return b->rule == BALANCE_PORTS && !b->weights.of && !b->set && !b->hops && n > 1 &&
	       n <= BATCH && load_tree_has_levels(&b->dag);
}

/* ---------------------------------------------------------------------------------------------- */

/* Returns what it costs to have the DAG towards root. */
static uint64_t load_tree_turn_to(struct min_load_tree *b, uint32_t root)
{
	if (b->dag.root == root)
		return 0;
	if (b->set && dagset_load(b->set, &b->dag, root))
		return b->dag.n + b->dag.nedge;
	if (b->pool)
		load_tree_take_ahead(b, root);
	else
		b->build(b->ctx, &b->dag, b->f, root);
	return b->f->nchan;
}

uint64_t min_load_tree_route_in(struct min_load_tree *b, const struct spdag *g,
				const struct dest *d, uint32_t n, const uint32_t *weight)
{
	for (uint32_t k = 0; k < g->nedge; k++)
		b->eload[k] = b->load[g->chan[k]];
	for (uint32_t k = 0; k < n; k += BATCH)
		load_tree_route_batch(b, g, d + k, n - k < BATCH ? n - k : BATCH, weight, k);
	for (uint32_t k = 0; k < g->nedge; k++)
		b->load[g->chan[k]] = b->eload[k];
	return (uint64_t)n * (g->nedge + g->n) + g->nedge;
}

/* The cheapest of the edges from k on of a position whose channels begin at first. */
static inline uint32_t load_tree_cheapest(const struct min_load_tree *b, const struct packed_dag *g,
					  uint32_t first, uint32_t k, uint32_t end, uint64_t *cost)
{
	uint32_t best = k;
	uint64_t least = b->load[first + g->place[k]] + b->cost[g->to[k]];

	for (k++; k < end; k++) {
		uint64_t v = b->load[first + g->place[k]] + b->cost[g->to[k]];

		best = v < least ? k : best;
		least = v < least ? v : least;
	}
	*cost = least;
	return best;
}

/* load_tree_pick_paths() for the positions at which edges arrive; returns how many edges these
 * have. */
static uint32_t load_tree_pick_inner(struct min_load_tree *b, const struct packed_dag *g,
				     const uint32_t *weight)
{
	uint32_t k = g->degree[0];

	b->cost[0] = b->routes[0] = 0;
	for (uint32_t i = 1; i < g->ninner; i++) {
		uint32_t first = b->f->chan_off[g->sw[i]], end = k + g->degree[i];
		uint32_t best = load_tree_cheapest(b, g, first, k, end, &b->cost[i]);

		b->pick[i] = first + g->place[best];
		b->next[i] = g->to[best];
		b->routes[i] = weight ? weight[g->sw[i]] : 0;
		k = end;
	}
	return k;
}

/* The last ones have no choice.  k: their first edge; those that send to the same switch follow
 * each other mostly, so its sum stays in a register. */
static void load_tree_send_singles(struct min_load_tree *b, const struct packed_dag *g, uint32_t k,
				   const uint32_t *weight, uint8_t *port)
{
	const uint32_t *chan_off = b->f->chan_off;
	const uint8_t *chan_port = b->f->chan_port;
	uint64_t *load = b->load, *routes = b->routes, sum = 0;
	const uint16_t *sw = g->sw + (g->n - g->nsingle), *to = g->to + k;
	const uint8_t *place = g->place + k;
	uint32_t n = g->nsingle, at = n ? to[0] : 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t u = sw[i], c = chan_off[u] + place[i];

		if (to[i] != at) {
			routes[at] += sum;
			sum = 0;
			at = to[i];
		}
		sum += weight[u];
		load[c] += weight[u];
		port[u] = chan_port[c];
	}
	routes[at] += sum;
}

/* The others choose and send at once: nobody asks what they cost, and nobody else loads their
 * channels.  k: their first edge. */
static void load_tree_route_leaves(struct min_load_tree *b, const struct packed_dag *g, uint32_t k,
				   const uint32_t *weight, uint8_t *port)
{
	uint32_t end = g->n - g->nsingle;
	uint64_t cost;

	for (uint32_t i = g->ninner; i < end; i++) {
		uint32_t u = g->sw[i], first = b->f->chan_off[u], next = k + g->degree[i];
		uint32_t best = load_tree_cheapest(b, g, first, k, next, &cost);

		k = next;
		b->load[first + g->place[best]] += weight[u];
		b->routes[g->to[best]] += weight[u];
		port[u] = b->f->chan_port[first + g->place[best]];
	}
	load_tree_send_singles(b, g, k, weight, port);
}

/* One LID, for which no DAG is worth unpacking nor any load worth copying; its ports go to port by
 * switch. */
static uint64_t load_tree_route_packed(struct min_load_tree *b, const struct packed_dag *g,
				       const struct dest *d, const uint32_t *weight, uint8_t *port)
{
	uint32_t k = load_tree_pick_inner(b, g, weight);

	load_tree_route_leaves(b, g, k, weight, port);
	for (uint32_t i = g->ninner; i-- > 1;) {
		uint32_t c = b->pick[i];

		b->load[c] += b->routes[i];
		b->routes[b->next[i]] += b->routes[i];
		port[g->sw[i]] = b->f->chan_port[c];
	}
	port[d->sw] = d->port;
	return 2ull * g->nedge + g->n;
}

/* Where the ports by switch of LID k of a run go first. */
static uint8_t *load_tree_column(struct min_load_tree *b, const struct dest *d, uint32_t k)
{
	size_t at = (size_t)b->half * PACKED_RUN + k;

	return b->hops ? lft_hops_fill(b->hops, d[k].lid) : b->port + at * b->f->nsw;
}

static void load_tree_list_columns(struct min_load_tree *b, const struct dest *d, uint32_t n)
{
	struct columns *c = &b->columns;

	c->n = n;
	c->nline = 0;
	for (uint32_t k = 0; k < n; k++) {
		c->port[k] = load_tree_column(b, d, k);
		c->lid[k] = d[k].lid;
		if (!c->nline || d[k].lid / LFT_BLOCK != c->line[c->nline - 1] / LFT_BLOCK)
			c->line[c->nline++] = d[k].lid;
	}
	b->half = !b->half;
}

/* Some switches' entries, asked for before they are written: rows lie far from each other. */
static bool load_tree_write_columns(void *ctx, unsigned worker, uint32_t part)
{
	struct min_load_tree *b = ctx;
	const struct columns *c = &b->columns;
	uint64_t nsw = b->f->nsw;
	uint32_t end = (uint32_t)(nsw * (part + 1) / ROWS_TURNS);

	(void)worker;
	for (uint32_t u = (uint32_t)(nsw * part / ROWS_TURNS); u < end; u++) {
		uint8_t *row = tables_row(b->t, u), *ahead = row + (size_t)AHEAD * b->t->stride;

		for (uint32_t i = 0; u + AHEAD < nsw && i < c->nline; i++)
			__builtin_prefetch(ahead + c->line[i], 1);
		for (uint32_t k = 0; k < c->n; k++)
			row[c->lid[k]] = c->port[k][u];
	}
	return false;
}

/* Waits until the other threads have written what they were given. */
static void load_tree_settle(struct min_load_tree *b)
{
	if (b->pool && b->columns.n)
		pool_end(b->pool);
	b->columns.n = 0;
}

/* Writes the columns of some LIDs into the rows.  Where more LIDs follow, the other threads do so
 * while those are computed: nobody reads the rows before. */
static void load_tree_hand_over(struct min_load_tree *b, const struct dest *d, uint32_t n,
				bool more)
{
	load_tree_settle(b);
	load_tree_list_columns(b, d, n);
	if (b->pool && more) {
		pool_begin(b->pool, ROWS_TURNS, load_tree_write_columns, b);
		return;
	}
	for (uint32_t i = 0; i < ROWS_TURNS; i++)
		load_tree_write_columns(b, 0, i);
	b->columns.n = 0;
}

uint64_t min_load_tree_route(struct min_load_tree *b, const struct dest *d, uint32_t n,
			     const uint32_t *weight)
{
	uint64_t work = load_tree_turn_to(b, d->sw);

	if (load_tree_goes_by_levels(b, n))
		return work + load_tree_route_ports(b, d, n, weight);
	return work + min_load_tree_route_in(b, &b->dag, d, n, weight);
}

/* LIDs from the first on whose DAGs are packed, and that are not worth more than that. */
static uint32_t load_tree_packed_run(const struct min_load_tree *b, const struct dest *d,
				     uint32_t n)
{
	struct packed_dag g;
	uint32_t k = 0;

	if (b->rule != BALANCE_PATHS || !b->set || b->weights.of)
		return 0;
	while (k < n && k < PACKED_RUN && (k + 1 == n || d[k + 1].sw != d[k].sw) &&
	       dagset_find(b->set, &g, d[k].sw))
		k++;
	return k;
}

uint32_t min_load_tree_route_some(struct min_load_tree *b, const struct dest *d, uint32_t n,
				  const uint32_t *weight, uint64_t *work)
{
	uint32_t run = load_tree_packed_run(b, d, n);
	struct packed_dag g;

	*work = 0;
	b->coming = d;
	b->ncoming = n;
	for (uint32_t k = 0; k < run; k++) {
		dagset_find(b->set, &g, d[k].sw);
		*work += load_tree_route_packed(b, &g, d + k, weight, load_tree_column(b, d, k));
	}
	if (run) {
		load_tree_hand_over(b, d, run, run < n);
	} else {
		load_tree_settle(b);
		run = min_load_tree_run(b, d, n);
		*work = min_load_tree_route(b, d, run, weight);
	}
	b->ncoming = 0;
	return run;
}

/* The edge of a position that the LID's entry takes. */
static inline uint32_t load_tree_edge_taken(const struct min_load_tree *b,
					    const struct packed_dag *g, uint32_t i, uint32_t end,
					    uint16_t lid)
{
	const uint8_t *port = b->f->chan_port + b->f->chan_off[g->sw[i]];
	uint32_t k = end - g->degree[i];

	while (k + 1 < end && port[g->place[k]] != tables_row(b->t, g->sw[i])[lid])
		k++;
	return k;
}

/* load_tree_count() of a LID whose DAG is packed. */
static uint64_t load_tree_count_packed(struct min_load_tree *b, const struct packed_dag *g,
				       const struct dest *d, const uint32_t *weight, int64_t sign)
{
	uint32_t end = g->nedge;

	for (uint32_t i = 0; i < g->n; i++)
		b->routes[i] = weight[g->sw[i]];
	for (uint32_t i = g->n; i-- > 1;) {
		uint32_t k = load_tree_edge_taken(b, g, i, end, d->lid);
		uint32_t c = b->f->chan_off[g->sw[i]] + g->place[k];

		end -= g->degree[i];
		b->load[c] += (uint64_t)sign * b->routes[i] * chan_weight(&b->weights, c);
		b->routes[g->to[k]] += b->routes[i];
	}
	return 2ull * g->n + g->nedge;
}

/* Sums the routes up along the tables, away from the farthest switches; sign 1 or -1. */
static uint64_t load_tree_count(struct min_load_tree *b, const struct dest *d,
				const uint32_t *weight, int64_t sign)
{
	const struct spdag *g = &b->dag;
	struct packed_dag packed;
	uint64_t work;

	if (b->set && dagset_find(b->set, &packed, d->sw))
		return load_tree_count_packed(b, &packed, d, weight, sign);
	work = load_tree_turn_to(b, d->sw);
	for (uint32_t i = 0; i < g->n; i++)
		b->routes[i] = weight[g->sw[i]];
	for (uint32_t i = g->n; i-- > 1;) {
		uint32_t u = g->sw[i], c = fabric_chan(b->f, u, tables_row(b->t, u)[d->lid]);

		b->load[c] += (uint64_t)sign * b->routes[i] * chan_weight(&b->weights, c);
		b->routes[g->pos[b->f->chan_dst[c]]] += b->routes[i];
	}
	return work + g->n;
}

uint64_t min_load_tree_take_out(struct min_load_tree *b, const struct dest *d,
				const uint32_t *weight)
{
	return load_tree_count(b, d, weight, -1);
}

uint64_t min_load_tree_put_in(struct min_load_tree *b, const struct dest *d, const uint32_t *weight)
{
	return load_tree_count(b, d, weight, 1);
}

/* Switches' own LIDs from the first on that follow a terminal, as many as BATCH. */
static uint32_t load_tree_followers(const struct fabric *f, const struct dest *d, uint32_t n)
{
	uint32_t k = 0;

	while (k < n && k < BATCH && load_tree_follows(f, &d[k]))
		k++;
	return k;
}

/* Those take the columns of the first terminals on their switches. */
static void load_tree_follow_terminals(struct min_load_tree *b, const struct dest *d, uint32_t n)
{
	const struct fabric *f = b->f;
	uint16_t from[BATCH];

	for (uint32_t k = 0; k < n; k++)
		from[k] = f->term_lid[load_tree_first_terminal(f, d[k].sw)];
	for (uint32_t u = 0; u < f->nsw; u++) {
		uint8_t *row = tables_row(b->t, u);

		for (uint32_t k = 0; k < n; k++)
			row[d[k].lid] = u == d[k].sw ? 0 : row[from[k]];
	}
}

uint32_t min_load_tree_run(const struct min_load_tree *b, const struct dest *d, uint32_t n)
{
	const struct fabric *f = b->f;
	uint32_t most = RUN_WORK / (f->nchan + 1), k = 1;

	most = most < BATCH ? most : BATCH;
	while (k < n && k < most && d[k].sw == d->sw &&
	       (d[k].end < f->nterm) == (d->end < f->nterm) && d[k].end < f->nend)
		k++;
	return k;
}

int min_load_tree_route_all(struct min_load_tree *b, const struct dest *dests, uint32_t n,
			    struct pace *p, uint64_t *done)
{
	const struct fabric *f = b->f;

	for (uint32_t i = 0; i < n;) {
		const struct dest *d = &dests[i];
		uint32_t k = load_tree_followers(f, d, n - i);
		uint64_t work = (uint64_t)k * f->nsw;

		if (k) {
			load_tree_follow_terminals(b, d, k);
		} else {
			k = min_load_tree_run(b, d, n - i);
			b->coming = d;
			b->ncoming = n - i;
			work = min_load_tree_route(b, d, k, d->end < f->nterm ? f->sw_nterm : NULL);
			b->ncoming = 0;
		}
		i += k;
		*done += k;
		if (pace_tick(p, *done, work))
			return -ECANCELED;
	}
	return 0;
}
