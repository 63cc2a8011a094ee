/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/min_load_tree.h"

#include "engines/graph/packed_tree.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH	   64 /* LIDs of one destination switch whose ports are written row by row */
#define RUN_WORK   (4u << 20) /* edges at most between two reports */
#define PACKED_RUN 16	      /* LIDs of different switches whose ports are written row by row */
#define AHEAD	   8	      /* rows asked for before they are written */
#define ROWS_TURNS 8	      /* turns in which threads share the rows */
#define IN_GROUPS  8192	      /* terminals from which on LIDs are chosen in groups */
#define DAGS_AHEAD 4	      /* built together */
#define PARTS_MAX  8	      /* of a level, whose switches choose at the same time */
#define WIDE_EDGES 4096	      /* of positions that threads share for each LID */
#define WIDE_LIDS  4	      /* LIDs from which on it is worth to look for these */
#define PART_EDGES 512	      /* of a part at least */

/* Ports by switch of some LIDs, on their way to the rows. */
struct columns {
	uint32_t n;
	const uint8_t *port[PACKED_RUN];
	uint16_t lid[PACKED_RUN];
	uint32_t nline;		   /* lines of memory that these entries take of a row, ... */
	uint32_t line[PACKED_RUN]; /* ... and where they begin */
};

/* Positions from first to end; wide: none of them waits for another, and they have many edges. */
struct segment {
	uint32_t first, end;
	bool wide;
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
	uint8_t *port;	/* by LID of the batch * nsw + position */
	struct spdag dag;
	const struct dagset *set;
	struct packed_tree *packed[MIN_LOAD_TREE_GROUP]; /* in DAGs of the set, by LID of a group */
	struct sent sent[MIN_LOAD_TREE_GROUP];		 /* likewise, of these together */
	bool together; /* groups of LIDs are chosen from the loads before the first of them */
	struct lft_hops *hops; /* NULL: nobody wants them */
	balance_build_fn build;
	void *ctx;
	struct pool *pool; /* NULL: there is only one thread */
	struct spdag ahead[2][DAGS_AHEAD];
	unsigned takes; /* from which of both; the others build the other one meanwhile */
	const struct dest *coming; /* LIDs whose DAGs are wanted next */
	uint32_t ncoming;
	uint32_t *part[PARTS_MAX]; /* by position * LIDs + LID: routes that come through */
	struct min_load_tree *mate[MIN_LOAD_TREE_GROUP]; /* of a group, by switch */
	bool borrows;		 /* it is a mate: the loads are its leader's, and do not change */
	struct segment *segment; /* of the DAG at hand, in the order of its positions */
	uint32_t nsegment;
	const struct spdag *in;	       /* that DAG; NULL: they are not known */
	const struct segment *at;      /* the one that threads share ... */
	bool once_more;		       /* ... as in load_tree_pick_some() ... */
	const uint32_t *shared_weight; /* ... and with these routes; NULL: none */
	uint8_t *now;		       /* ports by position of the LID at hand */
	struct columns columns;	       /* n: others may be writing them */
	unsigned half;		       /* of port, for the columns at hand */
};

static void load_tree_build_shortest(void *ctx, struct spdag *g, const struct fabric *f,
				     uint32_t root)
{
	(void)ctx;
	spdag_shortest(g, f, root);
}

bool min_load_tree_in_groups(const struct fabric *f)
{
	return f->nterm >= IN_GROUPS;
}

struct min_load_tree *min_load_tree_new(const struct fabric *f, struct tables *t,
					enum min_load_rule rule, balance_build_fn build, void *ctx)
{
	struct min_load_tree *b = xcalloc(1, sizeof(*b));

	b->f = f;
	b->t = t;
	b->together = min_load_tree_in_groups(f);
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
	b->packed[0] = packed_tree_new(f, b->load, rule == BALANCE_PORTS);
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
	for (uint32_t i = 0; i < MIN_LOAD_TREE_GROUP; i++)
		min_load_tree_free(b->mate[i]);
	if (!b->borrows)
		free(b->load);
	free(b->segment);
	free(b->eload);
	free(b->cost);
	free(b->routes);
	free(b->pick);
	for (uint32_t i = 0; i < MIN_LOAD_TREE_GROUP; i++) {
		packed_tree_free(b->packed[i]);
		free(b->sent[i].place);
		free(b->sent[i].routes);
	}
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

/* Cheapest edge of positions, and its port; the first one when equal.  again: the DAG is that of
 * the pick before and loads have only grown since, so that what costs the same is still cheapest.
 */
static void load_tree_pick_some(struct min_load_tree *b, const struct spdag *g, bool again,
				uint32_t from, uint32_t behind)
{
	const uint64_t *eload = b->eload;
	const uint32_t *to = g->to, *chan = g->chan;
	const uint8_t *chan_port = b->f->chan_port;
	uint64_t *cost = b->cost;

	for (uint32_t i = from; i < behind; i++) {
		uint32_t k = g->off[i], end = g->off[i + 1], best = again ? b->pick[i] : k;
		uint64_t least = eload[best] + cost[to[best]];

		if (!again || least != cost[i]) {
			best = k;
			least = eload[k] + cost[to[k]];
			for (k++; k < end; k++) {
				uint64_t v = eload[k] + cost[to[k]];

				best = v < least ? k : best;
				least = v < least ? v : least;
			}
			cost[i] = least;
			b->pick[i] = best;
		}
		b->now[i] = chan_port[chan[best]];
	}
}

/* --- threads that share the positions of one LID ---------------------------------------------- */

/* Sends from some of the last positions, at which no edge arrives. */
static void load_tree_send_last(struct min_load_tree *b, uint32_t part, uint32_t from,
				uint32_t behind)
{
	const struct spdag *g = b->in;
	uint32_t *routes = b->part[part];

	memset(routes, 0, b->at->first * sizeof(*routes));
	for (uint32_t i = from; i < behind; i++) {
		uint32_t own = b->shared_weight[g->sw[i]], k = b->pick[i];

		b->eload[k] += own;
		routes[g->to[k]] += own;
	}
}

static uint32_t load_tree_parts(const struct min_load_tree *b)
{
	uint32_t n = pool_threads(b->pool);

	return n < PARTS_MAX ? n : PARTS_MAX;
}

static bool load_tree_pick_part(void *ctx, unsigned worker, uint32_t part)
{
	struct min_load_tree *b = ctx;
	const struct segment *s = b->at;
	uint64_t n = s->end - s->first, parts = load_tree_parts(b);
	uint32_t from = s->first + (uint32_t)(n * part / parts);
	uint32_t behind = s->first + (uint32_t)(n * (part + 1) / parts);

	(void)worker;
	load_tree_pick_some(b, b->in, b->once_more, from, behind);
	if (b->shared_weight && s->end == b->in->n)
		load_tree_send_last(b, part, from, behind);
	return false;
}

/* What has not been sent yet. */
static void load_tree_send_rest(struct min_load_tree *b, const uint32_t *weight)
{
	const struct spdag *g = b->in;
	const struct segment *last = &b->segment[b->nsegment - 1];
	uint32_t n = last->wide ? last->first : g->n;

	for (uint32_t i = 0; i < n; i++)
		b->routes[i] = weight[g->sw[i]];
	for (uint32_t p = 0; last->wide && p < load_tree_parts(b); p++)
		for (uint32_t i = 0; i < n; i++)
			b->routes[i] += b->part[p][i];
	for (uint32_t i = n; i-- > 1;) {
		uint32_t k = b->pick[i];

		b->eload[k] += b->routes[i];
		b->routes[g->to[k]] += b->routes[i];
	}
}

/* Paths and routes, by segments. */
static void load_tree_pick_shared(struct min_load_tree *b, const uint32_t *weight, bool again)
{
	b->cost[0] = 0;
	b->once_more = again;
	b->shared_weight = weight;
	for (uint32_t k = 0; k < b->nsegment; k++) {
		b->at = &b->segment[k];
		if (b->at->wide)
			pool_for(b->pool, load_tree_parts(b), load_tree_pick_part, b);
		else
			load_tree_pick_some(b, b->in, again, b->at->first, b->at->end);
	}
	if (weight)
		load_tree_send_rest(b, weight);
}

static void load_tree_add_segment(struct min_load_tree *b, uint32_t first, uint32_t end, bool wide)
{
	struct segment *last = b->nsegment ? &b->segment[b->nsegment - 1] : NULL;

	if (last && !last->wide && !wide)
		last->end = end;
	else
		b->segment[b->nsegment++] = (struct segment){ first, end, wide };
}

/* Positions whose edges lead to none of them, one after another; b->in stays NULL where threads
 * would not gain. */
static void load_tree_find_segments(struct min_load_tree *b, const struct spdag *g)
{
	uint32_t first = 1, nwide = 0;

	b->in = NULL;
	b->nsegment = 0;
	if (!b->segment)
		b->segment = xcalloc(b->f->nsw, sizeof(*b->segment));
	for (uint32_t i = 1, near = 0; i <= g->n; i++) {
		bool wide = g->off[i] - g->off[first] >= WIDE_EDGES;

		for (uint32_t k = g->off[i], end = i < g->n ? g->off[i + 1] : k; k < end; k++)
			near = g->to[k] > near ? g->to[k] : near;
		if (i < g->n && near < first)
			continue;
		if (i > first)
			load_tree_add_segment(b, first, i, wide);
		nwide += i > first && wide;
		first = i;
	}
	if (nwide)
		b->in = g;
	for (uint32_t p = 0; nwide && p < load_tree_parts(b); p++)
		if (!b->part[p])
			b->part[p] = xcalloc((size_t)b->f->nsw * BATCH, sizeof(**b->part));
}

/* ---------------------------------------------------------------------------------------------- */

/* Positions grow away from the root, so a pass downwards meets every subtree complete. */
static void load_tree_pick_paths(struct min_load_tree *b, const struct spdag *g,
				 const uint32_t *weight, bool again)
{
	b->cost[0] = 0;
	load_tree_pick_some(b, g, again, 1, g->n);
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
	else if (b->in == g)
		load_tree_pick_shared(b, weight, again);
	else
		load_tree_pick_paths(b, g, weight, again);
}

/* LIDs of one switch on their way to the rows. */
struct rows {
	struct min_load_tree *b;
	const struct spdag *g;
	const struct dest *d;
	uint32_t n;
};

static bool load_tree_write_part(void *ctx, unsigned worker, uint32_t part)
{
	const struct rows *r = ctx;
	struct min_load_tree *b = r->b;
	uint64_t n = r->g->n;
	uint32_t end = (uint32_t)(n * (part + 1) / ROWS_TURNS);

	(void)worker;
	for (uint32_t i = (uint32_t)(n * part / ROWS_TURNS); i < end; i++) {
		uint8_t *row = tables_row(b->t, r->g->sw[i]);

		for (uint32_t k = 0; k < r->n; k++)
			row[r->d[k].lid] = i ? b->port[(size_t)k * b->f->nsw + i] : r->d[k].port;
	}
	return false;
}

static void load_tree_write_rows(struct min_load_tree *b, const struct spdag *g,
				 const struct dest *d, uint32_t n)
{
	struct rows r = { b, g, d, n };

	if (b->in)
		pool_for(b->pool, ROWS_TURNS, load_tree_write_part, &r);
	for (uint32_t i = 0; i < ROWS_TURNS && !b->in; i++)
		load_tree_write_part(&r, 0, i);
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

		b->now = port;
		load_tree_pick(b, g, weight, again || k);
		for (uint32_t i = 1; i < g->n && (b->weights.of || b->rule == BALANCE_PORTS); i++)
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

/* The loads of edges from k to end, back to where they are from. */
static void load_tree_store(struct min_load_tree *b, const struct spdag *g, uint32_t k,
			    uint32_t end)
{
	for (; k < end && !b->borrows; k++)
		b->load[g->chan[k]] = b->eload[k];
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
	load_tree_store(b, g, g->off[i], g->off[i + 1]);
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
	if (b->pool && pool_is_quick(b->pool) && n >= WIDE_LIDS && b->rule == BALANCE_PATHS)
		load_tree_find_segments(b, g);
	for (uint32_t k = 0; k < n; k += BATCH)
		load_tree_route_batch(b, g, d + k, n - k < BATCH ? n - k : BATCH, weight, k);
	b->in = NULL;
	load_tree_store(b, g, 0, g->nedge);
	return (uint64_t)n * (g->nedge + g->n) + g->nedge;
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
	uint32_t k = 0, most = b->together ? MIN_LOAD_TREE_GROUP : PACKED_RUN;

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
	const struct dest *run[MIN_LOAD_TREE_GROUP];
	uint32_t lids[MIN_LOAD_TREE_GROUP], n;
	uint64_t work[MIN_LOAD_TREE_GROUP];
};

static struct min_load_tree *load_tree_mate(struct min_load_tree *b, uint32_t i)
{
	struct min_load_tree *m = b->mate[i];

	if (!m) {
		m = b->mate[i] = min_load_tree_new(b->f, b->t, b->rule, b->build, b->ctx);
		free(m->load);
		m->load = b->load;
		m->borrows = true;
		m->weights = b->weights;
		m->hops = b->hops;
	}
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

	for (x->n = 0; k < n && x->n < MIN_LOAD_TREE_GROUP && (!x->n || k < most); x->n++) {
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
		load_tree_mate(b, i);
	for (uint32_t k = 0; k < lids && b->hops; k++)
		lft_hops_fill(b->hops, d[k].lid);
	load_tree_do_all(b, x.n, load_tree_route_mate, &x);
	*work = 0;
	for (uint32_t i = 0; i < x.n; i++)
		*work += x.work[i];
	return lids;
}

/* --- groups whose DAGs are packed ------------------------------------------------------------- */

struct packed_group {
	struct min_load_tree *b;
	const struct dest *d;
	uint32_t n;
	const uint32_t *weight;
	int64_t sign;
	uint8_t *was; /* what they take back, by LID * nsw + switch; NULL: they are routed */
};

static void load_tree_prepare_group(struct min_load_tree *b)
{
	for (uint32_t i = 0; i < MIN_LOAD_TREE_GROUP && !b->sent[i].place; i++) {
		if (!b->packed[i])
			b->packed[i] = packed_tree_new(b->f, b->load, b->rule == BALANCE_PORTS);
		b->sent[i].place = xcalloc(b->f->nsw, 1);
		b->sent[i].routes = xcalloc(b->f->nsw, sizeof(*b->sent[i].routes));
	}
}

static bool load_tree_choose_packed(void *ctx, unsigned worker, uint32_t i)
{
	const struct packed_group *x = ctx;
	struct min_load_tree *b = x->b;
	struct packed_dag g;

	(void)worker;
	dagset_find(b->set, &g, x->d[i].sw);
	packed_tree_choose(b->packed[i], &g, x->weight, &b->sent[i]);
	return false;
}

/* What the group sends, at one switch. */
static void load_tree_apply_at(const struct packed_group *x, uint32_t u)
{
	struct min_load_tree *b = x->b;
	const uint8_t *port = b->f->chan_port + b->f->chan_off[u];
	uint64_t *load = b->load + b->f->chan_off[u];
	uint8_t *row = tables_row(b->t, u);

	for (uint32_t k = 0; k < x->n; k++) {
		const struct sent *s = &b->sent[k];

		load[s->place[u]] += (uint64_t)x->sign * s->routes[u];
		if (!x->was)
			row[x->d[k].lid] = u == x->d[k].sw ? x->d[k].port : port[s->place[u]];
	}
}

static bool load_tree_apply_part(void *ctx, unsigned worker, uint32_t part)
{
	const struct packed_group *x = ctx;
	struct min_load_tree *b = x->b;
	uint64_t nsw = b->f->nsw;
	uint32_t end = (uint32_t)(nsw * (part + 1) / ROWS_TURNS);

	(void)worker;
	for (uint32_t u = (uint32_t)(nsw * part / ROWS_TURNS); u < end; u++) {
		uint8_t *ahead = tables_row(b->t, u) + (size_t)AHEAD * b->t->stride;

		for (uint32_t i = 0; !x->was && u + AHEAD < nsw && i < x->n; i++)
			__builtin_prefetch(ahead + x->d[i].lid, 1);
		load_tree_apply_at(x, u);
	}
	return false;
}

static void load_tree_tell_group(struct min_load_tree *b, const struct dest *d, uint32_t n)
{
	for (uint32_t k = 0; k < n && b->hops; k++) {
		uint8_t *hops = lft_hops_fill(b->hops, d[k].lid);

		for (uint32_t u = 0; u < b->f->nsw; u++)
			hops[u] = b->f->chan_port[b->f->chan_off[u] + b->sent[k].place[u]];
		hops[d[k].sw] = d[k].port;
	}
}

/* Entries as they are. */
static bool load_tree_read_part(void *ctx, unsigned worker, uint32_t part)
{
	const struct packed_group *x = ctx;
	uint64_t nsw = x->b->f->nsw;
	uint32_t end = (uint32_t)(nsw * (part + 1) / ROWS_TURNS);

	(void)worker;
	for (uint32_t u = (uint32_t)(nsw * part / ROWS_TURNS); u < end; u++) {
		const uint8_t *row = tables_row(x->b->t, u);
		const uint8_t *ahead = row + (size_t)AHEAD * x->b->t->stride;

		for (uint32_t i = 0; u + AHEAD < nsw && i < x->n; i++)
			__builtin_prefetch(ahead + x->d[i].lid);
		for (uint32_t k = 0; k < x->n; k++)
			x->was[k * nsw + u] = row[x->d[k].lid];
	}
	return false;
}

static bool load_tree_follow_packed(void *ctx, unsigned worker, uint32_t i)
{
	const struct packed_group *x = ctx;
	struct min_load_tree *b = x->b;
	struct packed_dag g;

	(void)worker;
	dagset_find(b->set, &g, x->d[i].sw);
	packed_tree_follow(b->packed[i], &g, x->weight, x->was + (size_t)i * b->f->nsw,
			   &b->sent[i]);
	return false;
}

/* Returns the edges looked at, by LID but for passes as many. */
static uint64_t load_tree_group_edges(const struct packed_group *x)
{
	struct packed_dag g;
	uint64_t sum = 0;

	for (uint32_t k = 0; k < x->n; k++) {
		dagset_find(x->b->set, &g, x->d[k].sw);
		sum += g.nedge + g.n;
	}
	return sum;
}

static uint64_t load_tree_route_group(struct min_load_tree *b, const struct dest *d, uint32_t n,
				      const uint32_t *weight)
{
	struct packed_group x = { .b = b, .d = d, .n = n, .weight = weight, .sign = 1 };

	load_tree_prepare_group(b);
	load_tree_do_all(b, n, load_tree_choose_packed, &x);
	load_tree_do_all(b, ROWS_TURNS, load_tree_apply_part, &x);
	load_tree_tell_group(b, d, n);
	return 2 * load_tree_group_edges(&x);
}

static uint64_t load_tree_take_out_group(struct min_load_tree *b, const struct dest *d, uint32_t n,
					 const uint32_t *weight, uint8_t *was)
{
	struct packed_group x = {
		.b = b, .d = d, .n = n, .weight = weight, .sign = -1, .was = was
	};

	load_tree_prepare_group(b);
	load_tree_do_all(b, ROWS_TURNS, load_tree_read_part, &x);
	load_tree_do_all(b, n, load_tree_follow_packed, &x);
	load_tree_do_all(b, ROWS_TURNS, load_tree_apply_part, &x);
	return 2 * load_tree_group_edges(&x);
}

/* --------------------------------------------------------------------------------------------- */

uint32_t min_load_tree_route_some(struct min_load_tree *b, const struct dest *d, uint32_t n,
				  const uint32_t *weight, uint64_t *work)
{
	uint32_t run = load_tree_packed_run(b, d, n);
	struct packed_dag g;

	*work = 0;
	if (b->together && run) {
		*work = load_tree_route_group(b, d, run, weight);
		return run;
	}
	b->coming = d;
	b->ncoming = n;
	for (uint32_t k = 0; k < run; k++) {
		uint8_t *port = load_tree_column(b, d, k);

		dagset_find(b->set, &g, d[k].sw);
		*work += packed_tree_route(b->packed[0], &g, weight, port);
		port[d[k].sw] = d[k].port;
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
		return packed_tree_count(b->packed[0], &packed, weight, b->port, &b->weights, sign);
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
	uint32_t run = b->together ? load_tree_packed_run(b, d, n) : 0;
	uint64_t taken;

	if (run) {
		taken = load_tree_take_out_group(b, d, run, weight, was);
	} else {
		n = run = 1;
		load_tree_settle(b);
		for (uint32_t u = 0; u < b->f->nsw; u++)
			was[u] = tables_row(b->t, u)[d->lid];
		taken = min_load_tree_take_out(b, d, weight);
	}
	run = min_load_tree_route_some(b, d, run, weight, work);
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
		} else if (b->pool && d->end >= f->nterm) {
			k = load_tree_route_switches(b, d, n - i, &work);
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
