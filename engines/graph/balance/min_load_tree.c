/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/balance/min_load_tree.h"

#include "engines/graph/balance/packed_tree.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH	    64 /* LIDs of one destination switch whose ports are written row by row */
#define RUN_WORK    (4u << 20) /* edges at most between two reports */
#define PACKED_RUN  16	       /* LIDs of different switches whose ports are written row by row */
#define AHEAD	    8	       /* rows asked for before they are written */
#define ROWS_TURNS  8	       /* turns in which threads share the rows */
#define IN_LANES    8192       /* terminals from which on LIDs are chosen in lanes */
#define MATES	    16	       /* switches whose LIDs add nothing that are routed together */
#define FEW_MOVED   8	       /* one position in so many goes on to an edge that costs the same */
#define STREAM_RUNS 4	       /* that are routed while others prepare as many */

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
	uint32_t *pick; /* edge by position */
	uint32_t near;	/* edges from the last pick on that are tried before all are looked at */
	uint8_t *port;	/* by LID of the batch * nsw + position */
	struct spdag dag;
	const struct dagset *set;
	struct packed_tree *packed; /* in DAGs of the set */
	struct load_lanes *lanes;   /* NULL: none yet */
	bool in_lanes;		    /* LIDs whose DAGs are packed are chosen side by side */
	struct lft_hops *hops;	    /* NULL: nobody wants them */
	balance_build_fn build;
	void *ctx;
	struct pool *pool;		   /* NULL: there is only one thread */
	uint32_t *through;		   /* by position * LIDs + LID: routes that come through */
	struct min_load_tree *mate[MATES]; /* by switch of those together */
	bool borrows;		/* it is a mate: the loads are its leader's, and do not change */
	uint8_t *now;		/* ports by position of the LID at hand */
	struct columns columns; /* n: others may be writing them */
	unsigned half;		/* of port, for the columns at hand */
};

static void load_tree_build_shortest(void *ctx, struct spdag *g, const struct fabric *f,
				     uint32_t root)
{
	(void)ctx;
	spdag_shortest(g, f, root);
}

bool min_load_tree_in_lanes(const struct fabric *f)
{
	return f->nterm >= IN_LANES;
}

struct min_load_tree *min_load_tree_new(const struct fabric *f, struct tables *t,
					enum min_load_rule rule, balance_build_fn build, void *ctx)
{
	struct min_load_tree *b = xcalloc(1, sizeof(*b));

	b->f = f;
	b->t = t;
	b->in_lanes = min_load_tree_in_lanes(f);
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
	b->packed = packed_tree_new(f, b->load, rule == BALANCE_PORTS);
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
	free(b->through);
	load_lanes_free(b->lanes);
	for (uint32_t i = 0; i < MATES; i++)
		min_load_tree_free(b->mate[i]);
	if (!b->borrows)
		free(b->load);
	free(b->eload);
	free(b->cost);
	free(b->routes);
	free(b->pick);
	packed_tree_free(b->packed);
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
	if (pool_threads(pool) > 1)
		b->pool = pool;
}

void min_load_tree_weigh(struct min_load_tree *b, const struct chan_weights *weights)
{
	b->weights = *weights;
}

uint64_t *min_load_tree_loads(struct min_load_tree *b)
{
	return b->load;
}

/* What a choice looks at. */
struct sight {
	const uint32_t *to;
	const uint64_t *eload, *cost;
};

static inline uint64_t load_tree_cost(struct sight s, uint32_t k)
{
	return s.eload[k] + s.cost[s.to[k]];
}

/* The first edge of k to end - 1 that costs so much, or end. */
static inline uint32_t load_tree_first_at(struct sight s, uint32_t k, uint32_t end, uint64_t cost)
{
	while (k < end && load_tree_cost(s, k) != cost)
		k++;
	return k;
}

/* The first of the cheapest edges of a position. */
static inline uint32_t load_tree_cheapest(struct sight s, uint32_t k, uint32_t end, uint64_t *cost)
{
	uint32_t best = k;
	uint64_t least = load_tree_cost(s, k);

	for (k++; k < end; k++) {
		uint64_t v = load_tree_cost(s, k);

		best = v < least ? k : best;
		least = v < least ? v : least;
	}
	*cost = least;
	return best;
}

/* Cheapest edge of positions, and its port; the first one when equal.  again: the DAG is that of
 * the pick before and loads have only grown since, so that edges before that pick cost more than it
 * did, and what costs as much as it did is the cheapest.  Where only few others do, as in damaged
 * trees, all are looked at from then on. */
static void load_tree_pick_some(struct min_load_tree *b, const struct spdag *g, bool again)
{
	const struct sight s = { g->to, b->eload, b->cost };
	const uint32_t *off = g->off, *chan = g->chan;
	const uint8_t *chan_port = b->f->chan_port;
	uint32_t *pick = b->pick, n = g->n, near = again ? b->near : 0, moved = 0;
	uint64_t *cost = b->cost;
	uint8_t *port = b->now;

	for (uint32_t i = 1; i < n; i++) {
		uint32_t end = off[i + 1], last = again ? pick[i] : off[i];
		uint32_t behind = end - last < near ? end : last + near;
		uint32_t k = load_tree_first_at(s, last, behind, cost[i]);

		if (k == behind)
			k = load_tree_cheapest(s, off[i], end, &cost[i]);
		else
			moved += k != last;
		pick[i] = k;
		port[i] = chan_port[chan[k]];
	}
	if (!again)
		b->near = FAB_MAX_PORT;
	else if (moved < n / FEW_MOVED)
		b->near = 1;
}

/* Positions grow away from the root, so a pass downwards meets every subtree complete. */
static void load_tree_pick_paths(struct min_load_tree *b, const struct spdag *g,
				 const uint32_t *weight, bool again)
{
	b->cost[0] = 0;
	load_tree_pick_some(b, g, again);
	if (!weight)
		return;
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
		load_tree_pick_paths(b, g, weight, again);
}

static void load_tree_write_rows(struct min_load_tree *b, const struct spdag *g,
				 const struct dest *d, uint32_t n, const uint8_t *port)
{
	for (uint32_t i = 0; i < g->n; i++) {
		uint8_t *row = tables_row(b->t, g->sw[i]);

		for (uint32_t k = 0; k < n; k++)
			row[d[k].lid] = i ? port[(size_t)k * b->f->nsw + i] : d[k].port;
	}
}

/* Ports by position, to where they are wanted by switch. */
static void load_tree_tell_hops(struct min_load_tree *b, const struct spdag *g,
				const struct dest *d, uint32_t n, const uint8_t *port)
{
	for (uint32_t k = 0; k < n && b->hops; k++, port += b->f->nsw) {
		uint8_t *hops = lft_hops_fill(b->hops, d[k].lid);

		for (uint32_t i = 1; i < g->n; i++)
			hops[g->sw[i]] = port[i];
	}
}

/* Ports of some LIDs of one switch, by LID * switches + position. */
static void load_tree_choose_batch(struct min_load_tree *b, const struct spdag *g, uint32_t n,
				   const uint32_t *weight, bool again, uint8_t *port)
{
	for (uint32_t k = 0; k < n; k++, port += b->f->nsw) {
		b->now = port;
		load_tree_pick(b, g, weight, again || k);
		for (uint32_t i = 1; i < g->n && (b->weights.of || b->rule == BALANCE_PORTS); i++)
			port[i] = b->f->chan_port[g->chan[b->pick[i]]];
	}
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

/* The loads of edges from k to end, back to where they are from. */
static void load_tree_store(struct min_load_tree *b, const struct spdag *g, uint32_t k,
			    uint32_t end)
{
	for (; k < end && !b->borrows; k++)
		b->load[g->chan[k]] = b->eload[k];
}

/* What it costs to route n LIDs. */
static uint64_t load_tree_edges(const struct spdag *g, uint32_t n)
{
	return (uint64_t)n * (g->nedge + g->n) + g->nedge;
}

/* All LIDs, one after another: a switch chooses by nothing but its own loads. */
static void load_tree_choose_ports(struct min_load_tree *b, const struct dest *d, uint32_t n,
				   uint32_t own, uint32_t i)
{
	const struct spdag *g = &b->dag;
	const uint32_t *through = b->through + (size_t)i * n;
	uint8_t *row = tables_row(b->t, g->sw[i]);

	for (uint32_t e = g->off[i]; e < g->off[i + 1]; e++)
		b->eload[e] = b->load[g->chan[e]];
	for (uint32_t k = 0; k < n; k++) {
		uint32_t best = load_tree_least_loaded(b, g, i, k > 0), routes = own + through[k];

		b->pick[i] = best;
		b->eload[best] += routes;
		b->through[(size_t)g->to[best] * n + k] += routes;
		row[d[k].lid] = b->f->chan_port[g->chan[best]];
	}
	load_tree_store(b, g, g->off[i], g->off[i + 1]);
}

/* The farthest switches first, as none sends to one that is as far. */
static uint64_t load_tree_route_ports(struct min_load_tree *b, const struct dest *d, uint32_t n,
				      const uint32_t *weight)
{
	const struct spdag *g = &b->dag;

	if (!b->through)
		b->through = xcalloc((size_t)b->f->nsw * BATCH, sizeof(*b->through));
	memset(b->through, 0, (size_t)g->n * n * sizeof(*b->through));
	for (uint32_t i = g->n; i-- > 1;)
		load_tree_choose_ports(b, d, n, weight ? weight[g->sw[i]] : 0, i);
	for (uint32_t k = 0; k < n; k++)
		tables_row(b->t, g->root)[d[k].lid] = d[k].port;
	return load_tree_edges(g, n);
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
	b->build(b->ctx, &b->dag, b->f, root);
	return b->f->nchan;
}

static void load_tree_take_loads(struct min_load_tree *b, const struct spdag *g)
{
	for (uint32_t k = 0; k < g->nedge; k++)
		b->eload[k] = b->load[g->chan[k]];
}

uint64_t min_load_tree_route_in(struct min_load_tree *b, const struct spdag *g,
				const struct dest *d, uint32_t n, const uint32_t *weight)
{
	load_tree_take_loads(b, g);
	for (uint32_t k = 0; k < n; k += BATCH) {
		uint32_t some = n - k < BATCH ? n - k : BATCH;

		load_tree_choose_batch(b, g, some, weight, k, b->port);
		load_tree_tell_hops(b, g, d + k, some, b->port);
		load_tree_write_rows(b, g, d + k, some, b->port);
	}
	load_tree_store(b, g, 0, g->nedge);
	return load_tree_edges(g, n);
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
void min_load_tree_settle(struct min_load_tree *b)
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
	min_load_tree_settle(b);
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
	uint32_t k = 0, most = b->in_lanes ? LOAD_LANES_ROUND : PACKED_RUN;

	if (!b->set || b->weights.of)
		return 0;
	while (k < n && k < most && (k + 1 == n || d[k + 1].sw != d[k].sw) &&
	       dagset_find(b->set, &g, d[k].sw))
		k++;
	return k;
}

/* --- groups of switches ---------------------------------------------------------------------- */

/* By this thread and the others, where there are any. */
static void load_tree_do_all(struct min_load_tree *b, uint32_t n,
			     bool (*turn)(void *ctx, unsigned worker, uint32_t i), void *ctx)
{
	if (b->pool)
		pool_for(b->pool, n, turn, ctx);
	for (uint32_t i = 0; i < n && !b->pool; i++)
		turn(ctx, 0, i);
}

/* LIDs of some switches that follow each other, and that add nothing to the loads. */
struct switch_group {
	struct min_load_tree *b;
	const struct dest *run[MATES];
	uint32_t lids[MATES], n;
	uint64_t work[MATES];
};

/* One that chooses from these loads and leaves them as they are. */
static struct min_load_tree *load_tree_new_mate(const struct min_load_tree *b, uint64_t *load)
{
	struct min_load_tree *m = min_load_tree_new(b->f, b->t, b->rule, b->build, b->ctx);

	free(m->load);
	m->load = load;
	m->borrows = true;
	m->weights = b->weights;
	m->hops = b->hops;
	return m;
}

static bool load_tree_route_mate(void *ctx, unsigned worker, uint32_t i)
{
	struct switch_group *x = ctx;

	(void)worker;
	x->work[i] = min_load_tree_route(x->b->mate[i], x->run[i], x->lids[i], NULL);
	return false;
}

/* As many as may go together, and are few enough to cancel soon; returns their LIDs. */
static uint32_t load_tree_gather(struct switch_group *x, const struct dest *d, uint32_t n)
{
	const struct fabric *f = x->b->f;
	uint32_t k = 0, most = 4 * (RUN_WORK / (f->nchan + 1));

	for (x->n = 0; k < n && x->n < MATES && (!x->n || k < most); x->n++) {
		if (d[k].end < f->nterm || load_tree_follows(f, &d[k]))
			break;
		x->run[x->n] = d + k;
		x->lids[x->n] = min_load_tree_run(x->b, d + k, n - k);
		k += x->lids[x->n];
	}
	return k;
}

static uint32_t load_tree_route_switches(struct min_load_tree *b, const struct dest *d, uint32_t n,
					 uint64_t *work)
{
	struct switch_group x = { .b = b };
	uint32_t lids = load_tree_gather(&x, d, n);

	for (uint32_t i = 0; i < x.n; i++)
		if (!b->mate[i])
			b->mate[i] = load_tree_new_mate(b, b->load);
	for (uint32_t k = 0; k < lids && b->hops; k++)
		lft_hops_fill(b->hops, d[k].lid);
	load_tree_do_all(b, x.n, load_tree_route_mate, &x);
	*work = 0;
	for (uint32_t i = 0; i < x.n; i++)
		*work += x.work[i];
	return lids;
}

/* --------------------------------------------------------------------------------------------- */

static uint64_t load_tree_route_lanes(struct min_load_tree *b, const struct dest *d, uint32_t n,
				      const uint32_t *weight, uint8_t *was)
{
	if (!b->lanes)
		b->lanes = load_lanes_new(b->f, b->t, b->set, b->pool, b->hops,
					  b->rule == BALANCE_PORTS);
	return load_lanes_route(b->lanes, b->load, d, n, weight, was);
}

uint32_t min_load_tree_route_some(struct min_load_tree *b, const struct dest *d, uint32_t n,
				  const uint32_t *weight, uint64_t *work)
{
	uint32_t run = load_tree_packed_run(b, d, n);
	struct packed_dag g;

	*work = 0;
	if (b->in_lanes && run) {
		*work = load_tree_route_lanes(b, d, run, weight, NULL);
		return run;
	}
	for (uint32_t k = 0; k < run; k++) {
		uint8_t *port = load_tree_column(b, d, k);

		dagset_find(b->set, &g, d[k].sw);
		*work += packed_tree_route(b->packed, &g, weight, port);
		port[d[k].sw] = d[k].port;
	}
	if (run) {
		load_tree_hand_over(b, d, run, run < n);
	} else {
		min_load_tree_settle(b);
		run = min_load_tree_run(b, d, n);
		*work = min_load_tree_route(b, d, run, weight);
	}
	return run;
}

/* Sums the routes up along the tables, away from the farthest switches; sign 1 or -1. */
static uint64_t load_tree_count(struct min_load_tree *b, const struct dest *d,
				const uint32_t *weight, int64_t sign)
{
	const struct spdag *g = &b->dag;
	struct packed_dag packed;
	uint64_t work;

	if (b->set && dagset_find(b->set, &packed, d->sw)) {
		for (uint32_t u = 0; u < b->f->nsw; u++)
			b->port[u] = tables_row(b->t, u)[d->lid];
		return packed_tree_count(b->packed, &packed, weight, b->port, &b->weights, sign);
	}
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

uint32_t min_load_tree_route_again(struct min_load_tree *b, const struct dest *d, uint32_t n,
				   const uint32_t *weight, uint8_t *was, uint64_t *work)
{
	uint32_t run = b->in_lanes ? load_tree_packed_run(b, d, n) : 0;
	uint64_t taken;

	if (run) {
		*work = load_tree_route_lanes(b, d, run, weight, was);
		return run;
	}
	min_load_tree_settle(b);
	for (uint32_t u = 0; u < b->f->nsw; u++)
		was[u] = tables_row(b->t, u)[d->lid];
	taken = min_load_tree_take_out(b, d, weight);
	run = min_load_tree_route_some(b, d, 1, weight, work);
	*work += run * (uint64_t)b->f->nsw + taken;
	return run;
}

/* Switches' own LIDs from the first on that follow a terminal, as many as BATCH. */
static uint32_t load_tree_followers(const struct fabric *f, const struct dest *d, uint32_t n)
{
	uint32_t k = 0;

	while (k < n && k < BATCH && load_tree_follows(f, &d[k]))
		k++;
	return k;
}

struct followers {
	struct min_load_tree *b;
	const struct dest *d;
	uint32_t n;
	uint16_t from[BATCH]; /* LIDs */
};

static bool load_tree_follow_part(void *ctx, unsigned worker, uint32_t part)
{
	const struct followers *x = ctx;
	uint64_t nsw = x->b->f->nsw;
	uint32_t end = (uint32_t)(nsw * (part + 1) / ROWS_TURNS);

	(void)worker;
	for (uint32_t u = (uint32_t)(nsw * part / ROWS_TURNS); u < end; u++) {
		uint8_t *row = tables_row(x->b->t, u);

		for (uint32_t k = 0; k < x->n; k++)
			row[x->d[k].lid] = u == x->d[k].sw ? 0 : row[x->from[k]];
	}
	return false;
}

/* Those take the columns of the first terminals on their switches. */
static void load_tree_follow_terminals(struct min_load_tree *b, const struct dest *d, uint32_t n)
{
	struct followers x = { .b = b, .d = d, .n = n };

	for (uint32_t k = 0; k < n; k++)
		x.from[k] = b->f->term_lid[load_tree_first_terminal(b->f, d[k].sw)];
	load_tree_do_all(b, ROWS_TURNS, load_tree_follow_part, &x);
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
		} else if (b->pool && d->end >= f->nterm) {
			k = load_tree_route_switches(b, d, n - i, &work);
		} else {
			k = min_load_tree_run(b, d, n - i);
			work = min_load_tree_route(b, d, k, d->end < f->nterm ? f->sw_nterm : NULL);
		}
		i += k;
		*done += k;
		if (pace_tick(p, *done, work))
			return -ECANCELED;
	}
	return 0;
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

/* --- switch by switch --------------------------------------------------------------------------
 */

/* LIDs of one switch, and its DAG. */
struct stream_run {
	struct spdag dag;
	const struct dest *d,
		*was;	  /* was: those before, whose ports are on their way to the rows */
	uint32_t n, nwas; /* 0: none */
	uint8_t *port;	  /* by LID * switches + position */
};

/*
 * Some runs at a time: while one thread routes their LIDs, one after another, the others build the
 * DAGs of the next runs, write the rows of those before, and route LIDs that add nothing to the
 * loads, as if there were none.
 */
struct stream {
	struct min_load_tree *b;
	struct pool *pool; /* NULL: there is only one thread */
	const struct dest *d, *rest;
	uint32_t n, nrest; /* of both, those that are left */
	const uint32_t *weight;
	struct stream_run run[2][STREAM_RUNS];
	unsigned now;		     /* which of both are routed */
	uint64_t *none;		     /* by channel: no load */
	struct min_load_tree **mate; /* by worker; NULL: not there yet */
	struct spdag *found;	     /* by worker, for its room; without arrays: not there yet */
	const struct dest *beside;   /* of the rest, those at hand */
	uint32_t nbeside;
	struct pace *p;
	uint64_t *done;
};

static void load_tree_fill_hops(struct min_load_tree *b, const struct dest *d, uint32_t n)
{
	for (uint32_t k = 0; k < n && b->hops; k++)
		lft_hops_fill(b->hops, d[k].lid);
}

/* Takes the next runs off the list. */
static void load_tree_next_runs(struct stream *x)
{
	for (uint32_t i = 0; i < STREAM_RUNS; i++) {
		struct stream_run *r = &x->run[!x->now][i];

		r->was = r->d;
		r->nwas = r->n;
		r->d = x->d;
		r->n = x->n ? min_load_tree_run(x->b, x->d, x->n) : 0;
		load_tree_fill_hops(x->b, r->d, r->n);
		x->d += r->n;
		x->n -= r->n;
	}
}

/* As many of the rest as belong to the runs at hand: all are done when these are. */
static void load_tree_next_beside(struct stream *x)
{
	uint32_t n = 0, left = x->n;

	for (uint32_t i = 0; i < STREAM_RUNS; i++) {
		n += x->run[x->now][i].n;
		left += x->run[x->now][i].n + x->run[!x->now][i].n;
	}
	x->beside = x->rest;
	x->nbeside = left ? (uint32_t)(((uint64_t)x->nrest * n + left - 1) / left) : 0;
	load_tree_fill_hops(x->b, x->beside, x->nbeside);
	x->rest += x->nbeside;
	x->nrest -= x->nbeside;
}

static void load_tree_end_run(struct min_load_tree *b, struct stream_run *r)
{
	if (!r->nwas)
		return;
	load_tree_tell_hops(b, &r->dag, r->was, r->nwas, r->port);
	load_tree_write_rows(b, &r->dag, r->was, r->nwas, r->port);
	r->nwas = 0;
}

/* What is found while a DAG is built stays with the worker, so that caches hold it. */
static void load_tree_lend_found(struct spdag *to, struct spdag *from)
{
	uint32_t *was[3] = { to->found_from, to->found_chan, to->found_to };

	to->found_from = from->found_from;
	to->found_chan = from->found_chan;
	to->found_to = from->found_to;
	from->found_from = was[0];
	from->found_chan = was[1];
	from->found_to = was[2];
}

static void load_tree_begin_run(struct stream *x, unsigned worker, struct stream_run *r)
{
	const struct min_load_tree *b = x->b;
	struct spdag *own = &x->found[worker];

	if (!own->sw)
		spdag_init(own, b->f);
	if (!r->port) {
		r->port = xcalloc((size_t)b->f->nsw * BATCH, 1);
		spdag_init(&r->dag, b->f);
	}
	if (!r->n)
		return;
	load_tree_lend_found(&r->dag, own);
	b->build(b->ctx, &r->dag, b->f, r->d->sw);
	load_tree_lend_found(own, &r->dag);
}

static bool load_tree_do_beside(void *ctx, unsigned worker, uint32_t i)
{
	struct stream *x = ctx;
	struct stream_run *r;

	if (i < x->nbeside) {
		if (!x->mate[worker])
			x->mate[worker] = load_tree_new_mate(x->b, x->none);
		min_load_tree_route(x->mate[worker], &x->beside[i], 1, NULL);
		return false;
	}
	r = &x->run[!x->now][i - x->nbeside];
	load_tree_end_run(x->b, r);
	load_tree_begin_run(x, worker, r);
	return false;
}

static uint64_t load_tree_route_run(struct min_load_tree *b, struct stream_run *r,
				    const uint32_t *weight)
{
	struct spdag was = b->dag;
	uint64_t work = b->f->nchan;

	b->dag = r->dag;
	if (load_tree_goes_by_levels(b, r->n)) {
		work += load_tree_route_ports(b, r->d, r->n, weight);
		r->n = 0; /* these are in the rows */
	} else {
		load_tree_take_loads(b, &r->dag);
		load_tree_choose_batch(b, &r->dag, r->n, weight, false, r->port);
		load_tree_store(b, &r->dag, 0, r->dag.nedge);
		work += load_tree_edges(&r->dag, r->n);
	}
	b->dag = was;
	return work;
}

static bool load_tree_stream_tick(struct stream *x, uint32_t lids, uint64_t work)
{
	*x->done += lids;
	return pace_tick(x->p, *x->done, work);
}

/* The runs at hand; true when stopped. */
static bool load_tree_route_runs(struct stream *x)
{
	bool stop = false;

	for (uint32_t i = 0; i < STREAM_RUNS && !stop; i++) {
		struct stream_run *r = &x->run[x->now][i];
		uint32_t n = r->n;

		if (!n)
			continue;
		stop = load_tree_stream_tick(x, n, load_tree_route_run(x->b, r, x->weight));
	}
	return stop;
}

/* Are there runs that are not routed, or not in the rows? */
static bool load_tree_is_under_way(const struct stream *x)
{
	bool any = x->n;

	for (uint32_t i = 0; i < 2 * STREAM_RUNS; i++)
		any |= x->run[i % 2][i / 2].n;
	return any;
}

static int load_tree_stream(struct stream *x)
{
	bool stop = false;

	while (!stop && load_tree_is_under_way(x)) {
		load_tree_next_runs(x);
		load_tree_next_beside(x);
		pool_begin(x->pool, x->nbeside + STREAM_RUNS, load_tree_do_beside, x);
		stop = load_tree_route_runs(x);
		pool_end(x->pool);
		*x->done += x->nbeside;
		x->now = !x->now;
	}
	return stop ? -ECANCELED : 0;
}

/* The same by one thread, which needs no more than one DAG. */
static int load_tree_stream_alone(struct stream *x)
{
	bool stop = false;

	for (uint32_t i = 0, run; i < x->n && !stop; i += run) {
		run = min_load_tree_run(x->b, x->d + i, x->n - i);
		stop = load_tree_stream_tick(x, run,
					     min_load_tree_route(x->b, x->d + i, run, x->weight));
	}
	x->beside = x->rest;
	x->nbeside = x->nrest;
	for (uint32_t i = 0; i < x->nrest && !stop; i++) {
		load_tree_fill_hops(x->b, &x->rest[i], 1);
		load_tree_do_beside(x, 0, i);
		stop = load_tree_stream_tick(x, 1, x->b->f->nchan);
	}
	return stop ? -ECANCELED : 0;
}

static void load_tree_stream_done(struct stream *x, uint32_t workers)
{
	for (uint32_t i = 0; i < 2 * STREAM_RUNS; i++) {
		spdag_done(&x->run[i % 2][i / 2].dag);
		free(x->run[i % 2][i / 2].port);
	}
	for (uint32_t w = 0; w < workers; w++) {
		min_load_tree_free(x->mate[w]);
		spdag_done(&x->found[w]);
	}
	free(x->mate);
	free(x->found);
	free(x->none);
}

int min_load_tree_route_by_switch(struct min_load_tree *b, const struct dest *d, uint32_t n,
				  const uint32_t *weight, const struct dest *rest, uint32_t nrest,
				  struct pace *p, uint64_t *done)
{
	struct stream x = { .b = b, .pool = b->pool, .d = d, .n = n };
	uint32_t workers = b->pool ? pool_threads(b->pool) : 1;
	int rc;

	x.rest = rest;
	x.nrest = nrest;
	x.weight = weight;
	x.p = p;
	x.done = done;
	x.mate = xcalloc(workers, sizeof(struct min_load_tree *));
	x.found = xcalloc(workers, sizeof(*x.found));
	x.none = xcalloc(b->f->nchan, sizeof(*x.none));
	b->pool = NULL; /* the others have enough to do */
	rc = x.pool ? load_tree_stream(&x) : load_tree_stream_alone(&x);
	b->pool = x.pool;
	load_tree_stream_done(&x, workers);
	return rc;
}
