/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/paper/sar_tree.h"

#include "engines/sar/paper/sar_dags.h"
#include "fabric/base/memory/mem.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLOW	   30.0 /* of the flows that meet against a channel as full as is aimed at */
#define READ_SHARE 8	/* of entries that are copied against edges that are looked at */
#define LINE	   64	/* bytes of the cache */

struct change {
	uint32_t sw;
	uint8_t port;
};

/* Routes of the tree in hand that came through a switch before. */
struct before {
	uint32_t sw;
	uint32_t own;
};

struct sar_tree {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	struct tables *t;
	struct lft_hops hops; /* of t */
	struct sar_tree_load *load;
	uint64_t same;	/* squares of what each tree adds to each flow, of which SAR_TREE_FLOW are 1
			 */
	double limit;	/* of a hot channel ... */
	bool *hot;	/* ... by channel */
	uint64_t share; /* flows by route of the tree in hand ... */
	uint32_t *own;	/* ... and by switch its routes that come through */
	uint32_t *tree; /* switches with some, but for the LID's own */
	uint32_t ntree;
	uint64_t *through; /* by LID: bits of the switches that routes in the loads come through */
	uint64_t *hot_sw;  /* the same of those that may have a hot channel */
	uint32_t words;	   /* of such bits */
	struct sar_dags dags;
	uint32_t *queue;
	double *cost;	/* by switch: from there to the destination */
	uint32_t *pick; /* by switch: channel */
	uint32_t *seen; /* by switch: stamp of the search */
	uint32_t stamp;
	const struct sar_source **batch;
	/* where only a part of the tree in hand is out of the loads: */
	bool partly;
	uint32_t *out; /* by switch: stamp where the tree is out of them ... */
	uint32_t out_stamp;
	struct before *was; /* ... which are these */
	uint32_t nwas;
	double cost_before; /* of what was taken out */
	bool *over_hot;	    /* by switch: of the tree's, leads over a hot channel */
	const struct sar_source **moving;
	struct change *undo;
	uint32_t nundo;
	const struct tables *from;
	uint8_t *differ; /* by row and block: entries that do, so that more changes are free */
	uint64_t nblocks;
	uint64_t work;
};

/* Next channel from there, and next switch; ports: those of the LID. */
static inline uint32_t sar_tree_next_chan(const struct sar_tree *g, uint32_t sw,
					  const uint8_t *ports)
{
	return g->f->chan_off[sw] + lft_hops_place(&g->hops, sw, ports[sw]);
}

static inline uint32_t sar_tree_next_switch(const struct sar_tree *g, uint32_t sw,
					    const uint8_t *ports)
{
	return lft_hops_next(&g->hops, sw, ports[sw]);
}

/* Makes a channel of a switch hot, or not. */
static inline void sar_tree_mark_hot(struct sar_tree *g, uint32_t u, uint32_t c)
{
	g->hot[c] = g->load[c].all >= g->limit;
	g->hot_sw[u / 64] |= (uint64_t)g->hot[c] << u % 64;
}

static inline uint64_t *sar_tree_through(const struct sar_tree *g, const struct dest *d)
{
	return g->through + (size_t)d->lid * g->words;
}

/* The rule for the tree in hand. */
struct tariff {
	double load, flow;
};

static inline struct tariff sar_tree_tariff(const struct sar_tree *g, const struct sar_tree_rule *r)
{
	double share = (double)g->share / (double)SAR_TREE_FLOW;
	double one = r->planes * (double)SAR_TREE_FLOW;

	return (struct tariff){ .load = 1 / (r->aim * r->planes),
				.flow = FLOW * share / (one * one) };
}

/* Of each of the routes of the tree in hand, which are so many there. */
static inline double sar_tree_cost_of(const struct sar_tree_load *l, uint32_t routes,
				      struct tariff t)
{
	double x = (l->all + routes) * t.load, flow = (double)(int64_t)l->flow;

	x *= x;
	x *= x;
	x *= x;
	return x * x + t.flow * flow * flow;
}

/* Adds the routes of a source to those of the tree in hand. */
static inline void sar_tree_put_source(struct sar_tree *g, const struct dest *d,
				       const uint8_t *ports, const struct sar_source *s)
{
	uint32_t *own = g->own, *tree = g->tree, ntree = g->ntree, met = 0;

	for (uint32_t u = s->sw; u != d->sw; u = sar_tree_next_switch(g, u, ports)) {
		tree[ntree] = u;
		ntree += !own[u];
		own[u] += s->n;
		met++;
	}
	g->ntree = ntree;
	g->work += met;
}

/* The routes of the tree in hand that come through u join the loads of a channel there ... */
static inline void sar_tree_add_routes(struct sar_tree *g, uint32_t u, uint32_t c)
{
	uint64_t flow = g->own[u] * g->share, root = flow >> SAR_TREE_BITS / 2;

	g->load[c].all += g->own[u];
	g->load[c].flow += flow;
	g->same += root * root;
}

/* ... or leave them. */
static inline void sar_tree_remove_routes(struct sar_tree *g, uint32_t u, uint32_t c)
{
	uint64_t flow = g->own[u] * g->share, root = flow >> SAR_TREE_BITS / 2;

	g->load[c].all -= g->own[u];
	g->load[c].flow -= flow;
	g->same -= root * root;
	sar_tree_mark_hot(g, u, c);
}

/* Takes the routes that come through u out of the loads, when only a part of the tree is out. */
static inline void sar_tree_touch(struct sar_tree *g, uint32_t u, const uint8_t *ports,
				  struct tariff t)
{
	uint32_t c = sar_tree_next_chan(g, u, ports);

	if (!g->partly || g->out[u] == g->out_stamp)
		return;
	g->out[u] = g->out_stamp;
	g->was[g->nwas++] = (struct before){ .sw = u, .own = g->own[u] };
	if (!g->own[u])
		return;
	sar_tree_remove_routes(g, u, c);
	g->cost_before += g->own[u] * sar_tree_cost_of(&g->load[c], g->own[u], t);
}

static inline uint32_t sar_tree_enqueue(uint32_t *restrict queue, uint32_t *restrict seen,
					uint32_t stamp, uint32_t u, uint32_t tail)
{
	uint32_t fresh = seen[u] != stamp;

	seen[u] = stamp;
	queue[tail] = u; /* one slot more than switches */
	return tail + fresh;
}

/* --- the cheapest shortest paths from some sources to the tree ------------------------------- */

/* Switches that paths from the sources (in descending hops, then as given) can come through, in
 * descending hops to the destination; returns how many. */
static uint32_t sar_tree_find_region(struct sar_tree *g, const struct sar_dag *d,
				     const uint8_t *ports, const struct sar_source *const *s,
				     uint32_t n)
{
	uint32_t *queue = g->queue, *seen = g->seen, stamp = ++g->stamp;
	uint32_t head = 0, tail = 0, i = 0;

	for (;;) {
		const uint32_t *to;
		uint32_t u;

		/* sources as far away as the next one join its level */
		while (i < n && (head == tail || d->dist[s[i]->sw] >= d->dist[queue[head]]))
			tail = sar_tree_enqueue(queue, seen, stamp, s[i++]->sw, tail);
		if (head == tail)
			return tail;
		u = queue[head++];
		if (u == d->root)
			continue;
		g->work += d->degree[u];
		if (g->own[u]) {
			tail = sar_tree_enqueue(queue, seen, stamp,
						sar_tree_next_switch(g, u, ports), tail);
			continue;
		}
		to = g->f->chan_dst + g->f->chan_off[u];
		for (uint32_t k = d->off[u], end = d->off[u] + d->degree[u]; k < end; k++)
			tail = sar_tree_enqueue(queue, seen, stamp, to[d->edge[k]], tail);
	}
}

struct next_hop {
	uint8_t place;
	double cost;
};

/* Cheapest next hop of u; present gets the one at its place, if there is one. */
static inline struct next_hop sar_tree_find_cheapest(const struct sar_tree *g,
						     const struct sar_dag *d, uint32_t u,
						     uint32_t n, struct tariff t,
						     struct next_hop *present)
{
	uint32_t first = g->f->chan_off[u];
	struct next_hop best = { .place = PLACE_NONE, .cost = HUGE_VAL };

	for (uint32_t k = d->off[u], end = d->off[u] + d->degree[u]; k < end; k++) {
		uint32_t c = first + d->edge[k];
		double v = sar_tree_cost_of(&g->load[c], n, t) + g->cost[g->f->chan_dst[c]];

		if (v < best.cost)
			best = (struct next_hop){ .place = d->edge[k], .cost = v };
		if (d->edge[k] == present->place)
			present->cost = v;
	}
	return best;
}

/* Cheapest next hop of u, or the present one when that is not much dearer; where the block differs
 * already, and so costs nothing more, when it is not dearer. */
static void sar_tree_choose(struct sar_tree *g, const struct sar_dag *d, uint32_t u, uint32_t lid,
			    uint32_t n, struct tariff t, const struct sar_tree_rule *r)
{
	uint8_t port = lft_hops_at(&g->hops, lid)[u];
	struct next_hop present = { .place = lft_hops_place(&g->hops, u, port), .cost = HUGE_VAL };
	struct next_hop best = sar_tree_find_cheapest(g, d, u, n, t, &present);
	double most = g->nblocks >= r->limit ? DBL_MAX : best.cost * r->keep;

	if (present.cost <= best.cost ||
	    (present.cost <= most && !g->differ[(size_t)u * tables_blocks(g->t) + lid / LFT_BLOCK]))
		best = present;
	g->pick[u] = g->f->chan_off[u] + best.place;
	g->cost[u] = best.cost;
}

static void sar_tree_search(struct sar_tree *g, const struct sar_dag *d, uint32_t lid,
			    const struct sar_source *const *s, uint32_t n,
			    const struct sar_tree_rule *r)
{
	const uint8_t *ports = lft_hops_at(&g->hops, lid);
	struct tariff t = sar_tree_tariff(g, r);
	uint32_t weight = s[0]->n;

	for (uint32_t i = sar_tree_find_region(g, d, ports, s, n); i-- > 0;) {
		uint32_t u = g->queue[i];

		if (u == d->root) {
			g->cost[u] = 0;
		} else if (g->own[u]) {
			uint32_t c = sar_tree_next_chan(g, u, ports);

			sar_tree_touch(g, u, ports, t);
			g->cost[u] = sar_tree_cost_of(&g->load[c], g->own[u] + weight, t) +
				     g->cost[g->f->chan_dst[c]];
		} else {
			sar_tree_choose(g, d, u, lid, weight, t, r);
		}
	}
}

static void sar_tree_write_entry(struct sar_tree *g, uint32_t u, uint32_t lid, uint8_t port)
{
	uint8_t *differ = g->differ + (size_t)u * tables_blocks(g->t) + lid / LFT_BLOCK;
	uint8_t was = tables_row(g->t, u)[lid], old = g->from ? tables_row(g->from, u)[lid] : was;

	lft_hops_set(&g->hops, g->t, u, lid, port);
	if (!g->from)
		return;
	g->nblocks -= *differ > 0;
	*differ = (uint8_t)(*differ + (port != old) - (was != old));
	g->nblocks += *differ > 0;
}

/* Makes the path that was found from u part of the tree. */
static void sar_tree_fix_path(struct sar_tree *g, uint32_t u, const struct dest *d)
{
	const uint8_t *ports = lft_hops_at(&g->hops, d->lid);

	while (u != d->sw && !g->own[u]) {
		if (sar_tree_next_chan(g, u, ports) != g->pick[u]) {
			uint8_t present = tables_row(g->t, u)[d->lid];

			g->undo[g->nundo++] = (struct change){ .sw = u, .port = present };
			sar_tree_write_entry(g, u, d->lid, g->f->chan_port[g->pick[u]]);
		}
		u = g->f->chan_dst[g->pick[u]];
	}
}

/* Takes the routes of a path out of the loads, as sar_tree_touch(). */
static void sar_tree_touch_path(struct sar_tree *g, uint32_t u, const struct dest *d,
				struct tariff t)
{
	const uint8_t *ports = lft_hops_at(&g->hops, d->lid);

	for (; u != d->sw; u = sar_tree_next_switch(g, u, ports))
		sar_tree_touch(g, u, ports, t);
}

/* Adds n routes from a switch to the part of the tree that is out of the loads, or takes them out
 * of it. */
static void sar_tree_move_routes(struct sar_tree *g, uint32_t u, const struct dest *d, uint32_t n)
{
	const uint8_t *ports = lft_hops_at(&g->hops, d->lid);

	for (; u != d->sw; u = sar_tree_next_switch(g, u, ports)) {
		g->own[u] += n;
		g->work++;
	}
}

static int sar_tree_farthest_first(const void *a, const void *b, void *dist)
{
	const struct sar_source *x = *(const struct sar_source *const *)a;
	const struct sar_source *y = *(const struct sar_source *const *)b;
	const uint16_t *hops = dist;

	if (hops[x->sw] != hops[y->sw])
		return hops[x->sw] > hops[y->sw] ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Places sources at once: farthest ones first. */
static void sar_tree_place_batch(struct sar_tree *g, const struct dest *dest,
				 const struct sar_dag *d, const struct sar_source **batch,
				 uint32_t n, const struct sar_tree_rule *r)
{
	const uint8_t *ports = lft_hops_at(&g->hops, dest->lid);
	struct tariff t = sar_tree_tariff(g, r);

	if (n > 1)
		qsort_r(batch, n, sizeof(*batch), sar_tree_farthest_first, d->dist);
	if (n > 1 || !g->own[batch[0]->sw])
		sar_tree_search(g, d, dest->lid, batch, n, r);
	for (uint32_t b = 0; b < n; b++) {
		sar_tree_fix_path(g, batch[b]->sw, dest);
		if (g->partly) {
			sar_tree_touch_path(g, batch[b]->sw, dest, t);
			sar_tree_move_routes(g, batch[b]->sw, dest, batch[b]->n);
		} else {
			sar_tree_put_source(g, dest, ports, batch[b]);
		}
	}
}

/* What has changed goes back. */
static void sar_tree_undo(struct sar_tree *g, uint32_t lid)
{
	while (g->nundo > 0) {
		const struct change *c = &g->undo[--g->nundo];

		sar_tree_write_entry(g, c->sw, lid, c->port);
	}
}

/* --- the tree --------------------------------------------------------------------------------- */

struct sar_tree *sar_tree_new(const struct fabric *f, struct tables *t, const struct tables *from)
{
	struct arena *mem = arena_new();
	struct sar_tree *g = arena_alloc(mem, 1, sizeof(*g));

	g->mem = mem;
	g->f = f;
	g->t = t;
	g->from = from;
	sar_dags_init(&g->dags, f, mem);
	lft_hops_init(&g->hops, f, t);
	g->limit = HUGE_VAL;
	g->hot = arena_alloc(mem, f->nchan, sizeof(*g->hot));
	g->load = arena_alloc(mem, f->nchan, sizeof(*g->load));
	g->own = arena_alloc(mem, f->nsw, sizeof(*g->own));
	g->tree = arena_alloc(mem, f->nsw + 1ull, sizeof(*g->tree));
	g->words = (f->nsw + 63) / 64;
	g->through = arena_alloc(mem, (f->max_lid + 1ull) * g->words, sizeof(*g->through));
	g->hot_sw = arena_alloc(mem, g->words, sizeof(*g->hot_sw));
	g->queue = arena_alloc(mem, f->nsw + 1ull, sizeof(*g->queue));
	g->cost = arena_alloc(mem, f->nsw, sizeof(*g->cost));
	g->pick = arena_alloc(mem, f->nsw, sizeof(*g->pick));
	g->seen = arena_alloc(mem, f->nsw, sizeof(*g->seen));
	g->out = arena_alloc(mem, f->nsw, sizeof(*g->out));
	g->was = arena_alloc(mem, f->nsw, sizeof(*g->was));
	g->over_hot = arena_alloc(mem, f->nsw, sizeof(*g->over_hot));
	g->moving = arena_alloc(mem, f->nsw, sizeof(*g->moving));
	g->batch = arena_alloc(mem, f->nsw, sizeof(*g->batch));
	g->undo = arena_alloc(mem, f->nsw, sizeof(*g->undo));
	g->differ = arena_alloc(mem, f->nsw, tables_blocks(t));
	return g;
}
void sar_tree_free(struct sar_tree *g)
{
	if (!g)
		return;
	sar_dags_done(&g->dags);
	lft_hops_done(&g->hops);
	arena_free(g->mem);
}

void sar_tree_use(struct sar_tree *g, const struct dagset *set)
{
	g->dags.set = set;
}

struct lft_hops *sar_tree_hops(struct sar_tree *g)
{
	return &g->hops;
}

const struct sar_tree_load *sar_tree_loads(const struct sar_tree *g)
{
	return g->load;
}

double sar_tree_collisions(const struct sar_tree *g)
{
	double sum = 0;

	for (uint32_t c = 0; c < g->f->nchan; c++) {
		double flow = (double)g->load[c].flow / (double)SAR_TREE_FLOW;

		sum += flow * flow;
	}
	return sum - (double)g->same / (double)SAR_TREE_FLOW;
}

uint64_t sar_tree_work(const struct sar_tree *g)
{
	return g->work + g->dags.work + g->hops.reads / READ_SHARE;
}

uint64_t sar_tree_blocks(const struct sar_tree *g)
{
	return g->nblocks;
}

void sar_tree_watch(struct sar_tree *g, double limit)
{
	g->limit = limit;
	memset(g->hot_sw, 0, g->words * sizeof(*g->hot_sw));
	for (uint32_t c = 0; c < g->f->nchan; c++)
		sar_tree_mark_hot(g, g->f->chan_src[c], c);
}

void sar_tree_look_ahead(const struct sar_tree *g, uint32_t lid)
{
	const uint64_t *bits = g->through + (size_t)lid * g->words;

	for (uint32_t w = 0; w < g->words; w += LINE / sizeof(*bits))
		__builtin_prefetch(bits + w);
}

bool sar_tree_is_hot(struct sar_tree *g, const struct dest *d)
{
	const uint64_t *bits = sar_tree_through(g, d);

	g->work += g->words / 8;
	for (uint32_t w = 0; w < g->words; w++)
		for (uint64_t m = bits[w] & g->hot_sw[w]; m; m &= m - 1) {
			uint32_t u = 64 * w + (uint32_t)__builtin_ctzll(m);

			if (g->hot[sar_tree_next_chan(g, u, lft_hops_at(&g->hops, d->lid))])
				return true;
		}
	return false;
}

/* A terminal counts as one of its own sources. */
static void sar_tree_take_in_hand(struct sar_tree *g, const struct sar_source *s, uint32_t n)
{
	uint64_t terms = 0;

	for (uint32_t i = 0; i < n; i++)
		terms += s[i].n;
	g->share = terms > 1 ? SAR_TREE_FLOW / (terms - 1) : SAR_TREE_FLOW;
}

static void sar_tree_put_in(struct sar_tree *g, const struct dest *d, const struct sar_source *s,
			    uint32_t n)
{
	const uint8_t *ports = lft_hops_at(&g->hops, d->lid);

	for (uint32_t i = 0; i < n; i++)
		sar_tree_put_source(g, d, ports, &s[i]);
}

/* The tree in hand is complete: adds it to the loads of all.  Returns what it costs there. */
static double sar_tree_settle(struct sar_tree *g, const struct dest *d, struct tariff t)
{
	const uint8_t *ports = lft_hops_at(&g->hops, d->lid);
	uint64_t *bits = sar_tree_through(g, d);
	double sum = 0;

	while (g->ntree > 0) {
		uint32_t u = g->tree[--g->ntree], c = sar_tree_next_chan(g, u, ports);

		sum += g->own[u] * sar_tree_cost_of(&g->load[c], g->own[u], t);
		sar_tree_add_routes(g, u, c);
		sar_tree_mark_hot(g, u, c);
		bits[u / 64] |= 1ull << u % 64;
		g->own[u] = 0;
	}
	return sum;
}

void sar_tree_count(struct sar_tree *g, const struct dest *d, const struct sar_source *s,
		    uint32_t n)
{
	const uint8_t *ports = lft_hops_at(&g->hops, d->lid);
	uint64_t *bits = sar_tree_through(g, d);

	sar_tree_take_in_hand(g, s, n);
	sar_tree_put_in(g, d, s, n);
	while (g->ntree > 0) {
		uint32_t u = g->tree[--g->ntree];

		sar_tree_add_routes(g, u, sar_tree_next_chan(g, u, ports));
		bits[u / 64] |= 1ull << u % 64;
		g->own[u] = 0;
	}
}

/* Takes the tree out of the loads; returns what it cost to have it there. */
static double sar_tree_take_out(struct sar_tree *g, const struct dest *d,
				const struct sar_source *s, uint32_t n, struct tariff t)
{
	const uint8_t *ports = lft_hops_at(&g->hops, d->lid);
	double sum = 0;

	memset(sar_tree_through(g, d), 0, g->words * sizeof(*g->through));
	sar_tree_put_in(g, d, s, n);
	while (g->ntree > 0) {
		uint32_t u = g->tree[--g->ntree], c = sar_tree_next_chan(g, u, ports);

		sar_tree_remove_routes(g, u, c);
		sum += g->own[u] * sar_tree_cost_of(&g->load[c], g->own[u], t);
		g->own[u] = 0;
	}
	return sum;
}

double sar_tree_price(struct sar_tree *g, const struct dest *d, const struct sar_source *s,
		      uint32_t n, const struct sar_tree_rule *rule)
{
	const uint8_t *ports = lft_hops_at(&g->hops, d->lid);
	struct tariff t;
	double sum = 0;

	sar_tree_take_in_hand(g, s, n);
	t = sar_tree_tariff(g, rule);
	sar_tree_put_in(g, d, s, n);
	while (g->ntree > 0) {
		uint32_t u = g->tree[--g->ntree], own = g->own[u];
		struct sar_tree_load without = g->load[sar_tree_next_chan(g, u, ports)];

		without.all -= own;
		without.flow -= own * g->share;
		sum += own * sar_tree_cost_of(&without, own, t);
		g->own[u] = 0;
	}
	return sum * (double)g->share / (double)SAR_TREE_FLOW;
}

/* Asks for a DAG that many sources will need, all of it at once and in order. */
static void sar_tree_ask_for(const struct sar_tree *g, const struct sar_dag *d)
{
	uint32_t nsw = g->f->nsw;

	for (uint32_t u = 0; u < nsw; u += LINE / sizeof(*d->off))
		__builtin_prefetch(d->off + u);
	for (uint32_t k = 0; k < d->nedge; k += LINE)
		__builtin_prefetch(d->edge + k);
}

/* Sources from *i on that are to be placed at once, into g->batch; returns how many. */
static uint32_t sar_tree_next_batch(struct sar_tree *g, const struct dest *d,
				    const struct sar_source *s, uint32_t n,
				    const struct sar_tree_rule *r, uint32_t *i)
{
	uint32_t k = 0;

	for (; *i < n && k < r->batch; ++*i)
		if (s[*i].sw != d->sw)
			g->batch[k++] = &s[*i];
	return k;
}

/* Returns the cost of having the tree in the loads. */
static double sar_tree_grow_all(struct sar_tree *g, const struct dest *dest,
				const struct sar_source *s, uint32_t n,
				const struct sar_tree_rule *r)
{
	const struct sar_dag *d = sar_dags_find(&g->dags, dest->sw);
	uint32_t i = 0, k;

	g->nundo = 0;
	if (n > g->f->nsw / LINE)
		sar_tree_ask_for(g, d);
	while ((k = sar_tree_next_batch(g, dest, s, n, r, &i)) > 0)
		sar_tree_place_batch(g, dest, d, g->batch, k, r);
	return sar_tree_settle(g, dest, sar_tree_tariff(g, r));
}

void sar_tree_grow(struct sar_tree *g, const struct dest *d, const struct sar_source *s, uint32_t n,
		   const struct sar_tree_rule *rule)
{
	sar_tree_take_in_hand(g, s, n);
	sar_tree_grow_all(g, d, s, n, rule);
}

/* May the tree that has grown stay, which changed blocks since? */
static bool sar_tree_is_worth_it(const struct sar_tree *g, double before, double after,
				 uint64_t blocks, const struct sar_tree_rule *rule)
{
	if (g->nblocks > blocks)
		after += rule->block * (double)(g->nblocks - blocks);
	return g->nundo && after < before * rule->gain && g->nblocks <= rule->limit;
}

/* --- paths over hot channels move, all others stay -------------------------------------------- */

/* Counts the tree that is in the loads, without taking it out; returns how many of the sources,
 * into g->moving, send over a hot channel. */
static uint32_t sar_tree_find_moving(struct sar_tree *g, const struct dest *d,
				     const struct sar_source *s, uint32_t n)
{
	const uint8_t *ports = lft_hops_at(&g->hops, d->lid);
	const uint64_t *bits = sar_tree_through(g, d);
	uint32_t *at = g->queue, nhot = 0, k = 0;

	for (uint32_t w = 0; w < g->words; w++)
		for (uint64_t m = bits[w] & g->hot_sw[w]; m; m &= m - 1) {
			uint32_t u = 64 * w + (uint32_t)__builtin_ctzll(m);

			at[nhot] = u;
			nhot += g->over_hot[u] = g->hot[sar_tree_next_chan(g, u, ports)];
		}
	for (uint32_t i = 0; i < n; i++) {
		bool over_hot = false;

		for (uint32_t u = s[i].sw; u != d->sw;) {
			over_hot |= g->over_hot[u];
			g->tree[g->ntree] = u;
			g->ntree += !g->own[u];
			g->own[u] += s[i].n;
			u = sar_tree_next_switch(g, u, ports);
		}
		g->moving[k] = &s[i];
		k += over_hot;
	}
	g->work += g->words / 8 + n + g->ntree;
	while (nhot > 0)
		g->over_hot[at[--nhot]] = false;
	return k;
}

/* Is there a shortest path from u without that channel? */
static bool sar_tree_has_way_without(struct sar_tree *g, const struct sar_dag *d, uint32_t u,
				     uint32_t chan)
{
	uint32_t *queue = g->queue, *seen = g->seen, stamp = ++g->stamp, head = 0, tail = 0;

	tail = sar_tree_enqueue(queue, seen, stamp, u, tail);
	while (head < tail) {
		uint32_t first = g->f->chan_off[u = queue[head++]];

		g->work += d->degree[u];
		for (uint32_t k = d->off[u]; k < d->off[u] + d->degree[u]; k++) {
			uint32_t c = first + d->edge[k];

			if (c == chan)
				continue;
			if (g->f->chan_dst[c] == d->root)
				return true;
			tail = sar_tree_enqueue(queue, seen, stamp, g->f->chan_dst[c], tail);
		}
	}
	return false;
}

void sar_tree_add_forced(struct sar_tree *g, const struct dest *d, const struct sar_source *s,
			 uint32_t n, uint32_t *forced)
{
	const uint8_t *ports = lft_hops_at(&g->hops, d->lid);
	uint32_t k = sar_tree_find_moving(g, d, s, n);
	const struct sar_dag *dag = k ? sar_dags_find(&g->dags, d->sw) : NULL;

	while (g->ntree > 0)
		g->own[g->tree[--g->ntree]] = 0;
	for (uint32_t i = 0; i < k; i++) {
		const struct sar_source *from = g->moving[i];

		for (uint32_t u = from->sw; u != d->sw; u = sar_tree_next_switch(g, u, ports)) {
			uint32_t c = sar_tree_next_chan(g, u, ports);

			if (g->hot[c] && !sar_tree_has_way_without(g, dag, from->sw, c))
				forced[c] += from->n;
		}
	}
}

/* The paths of the first k in g->moving leave the tree. */
static void sar_tree_lift(struct sar_tree *g, const struct dest *d, uint32_t k, struct tariff t)
{
	g->out_stamp++;
	g->nwas = 0;
	g->cost_before = 0;
	for (uint32_t i = 0; i < k; i++) {
		sar_tree_touch_path(g, g->moving[i]->sw, d, t);
		sar_tree_move_routes(g, g->moving[i]->sw, d, -g->moving[i]->n);
	}
}

/* What is out of the loads joins them again; nothing is in hand then. */
static void sar_tree_lay_down(struct sar_tree *g, const struct dest *d)
{
	const uint8_t *ports = lft_hops_at(&g->hops, d->lid);
	uint64_t *bits = sar_tree_through(g, d);

	for (uint32_t i = 0; i < g->nwas; i++) {
		uint32_t u = g->was[i].sw, c = sar_tree_next_chan(g, u, ports);

		bits[u / 64] &= ~(1ull << u % 64);
		if (!g->own[u])
			continue;
		bits[u / 64] |= 1ull << u % 64;
		sar_tree_add_routes(g, u, c);
		sar_tree_mark_hot(g, u, c);
		g->own[u] = 0;
	}
	while (g->ntree > 0)
		g->own[g->tree[--g->ntree]] = 0;
	g->partly = false;
}

/* Of what is out of the loads. */
static double sar_tree_price_parts(const struct sar_tree *g, const uint8_t *ports, struct tariff t)
{
	double sum = 0;

	for (uint32_t i = 0; i < g->nwas; i++) {
		uint32_t u = g->was[i].sw;

		if (g->own[u])
			sum += g->own[u] *
			       sar_tree_cost_of(&g->load[sar_tree_next_chan(g, u, ports)],
						g->own[u], t);
	}
	return sum;
}

/* sar_tree_restart() for the paths over hot channels alone: all else stays where it is, and in the
 * loads.  Costs are those of the channels that lose or may get routes. */
static bool sar_tree_offload_hot_links(struct sar_tree *g, const struct dest *d,
				       const struct sar_source *s, uint32_t n,
				       const struct sar_tree_rule *r)
{
	struct tariff t = sar_tree_tariff(g, r);
	uint64_t blocks = g->nblocks;
	uint32_t k = sar_tree_find_moving(g, d, s, n);
	const struct sar_dag *dag = k ? sar_dags_find(&g->dags, d->sw) : NULL;
	bool better;

	g->partly = true;
	g->nundo = 0;
	sar_tree_lift(g, d, k, t);
	for (uint32_t i = 0; i < k; i += r->batch)
		sar_tree_place_batch(g, d, dag, g->moving + i, k - i < r->batch ? k - i : r->batch,
				     r);
	better = sar_tree_is_worth_it(g, g->cost_before,
				      sar_tree_price_parts(g, lft_hops_at(&g->hops, d->lid), t),
				      blocks, r);
	if (!better) {
		sar_tree_undo(g, d->lid);
		for (uint32_t i = 0; i < g->nwas; i++)
			g->own[g->was[i].sw] = g->was[i].own;
	}
	sar_tree_lay_down(g, d);
	return better;
}

bool sar_tree_restart(struct sar_tree *g, const struct dest *d, const struct sar_source *s,
		      uint32_t n, const struct sar_tree_rule *rule)
{
	uint64_t blocks = g->nblocks;
	struct tariff t;
	double before, after;

	sar_tree_take_in_hand(g, s, n);
	if (rule->hot_only)
		return sar_tree_offload_hot_links(g, d, s, n, rule);
	t = sar_tree_tariff(g, rule);
	before = sar_tree_take_out(g, d, s, n, t);
	after = sar_tree_grow_all(g, d, s, n, rule);
	if (sar_tree_is_worth_it(g, before, after, blocks, rule))
		return true;
	if (!g->nundo)
		return false;
	sar_tree_take_out(g, d, s, n, t);
	sar_tree_undo(g, d->lid);
	sar_tree_put_in(g, d, s, n);
	sar_tree_settle(g, d, t);
	return false;
}
