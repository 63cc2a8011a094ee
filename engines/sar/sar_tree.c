/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/sar_tree_priv.h"

#include "fabric/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define READ_SHARE 8  /* of entries that are copied against edges that are looked at */
#define LINE	   64 /* bytes of the cache */

struct sar_tree *sar_tree_new(const struct fabric *f, struct tables *t, const struct tables *from)
{
	struct sar_tree *g = xcalloc(1, sizeof(*g));

	g->f = f;
	g->t = t;
	g->from = from;
	sar_dags_init(&g->dags, f);
	lft_hops_init(&g->hops, f, t);
	g->limit = HUGE_VAL;
	g->hot = xcalloc(f->nchan, sizeof(*g->hot));
	g->load = xcalloc(f->nchan, sizeof(*g->load));
	g->own = xcalloc(f->nsw, sizeof(*g->own));
	g->tree = xcalloc(f->nsw + 1ull, sizeof(*g->tree));
	g->words = (f->nsw + 63) / 64;
	g->through = xcalloc((f->max_lid + 1ull) * g->words, sizeof(*g->through));
	g->hot_sw = xcalloc(g->words, sizeof(*g->hot_sw));
	g->queue = xcalloc(f->nsw + 1ull, sizeof(*g->queue));
	g->cost = xcalloc(f->nsw, sizeof(*g->cost));
	g->pick = xcalloc(f->nsw, sizeof(*g->pick));
	g->seen = xcalloc(f->nsw, sizeof(*g->seen));
	g->out = xcalloc(f->nsw, sizeof(*g->out));
	g->was = xcalloc(f->nsw, sizeof(*g->was));
	g->meets = xcalloc(f->nsw, sizeof(*g->meets));
	g->moving = xcalloc(f->nsw, sizeof(*g->moving));
	g->batch = xcalloc(f->nsw, sizeof(*g->batch));
	g->undo = xcalloc(f->nsw, sizeof(*g->undo));
	g->differ = xcalloc(f->nsw, tables_blocks(t));
	return g;
}

void sar_tree_free(struct sar_tree *g)
{
	if (!g)
		return;
	sar_dags_done(&g->dags);
	lft_hops_done(&g->hops);
	free(g->hot);
	free(g->load);
	free(g->own);
	free(g->tree);
	free(g->through);
	free(g->hot_sw);
	free(g->queue);
	free(g->cost);
	free(g->pick);
	free(g->seen);
	free(g->out);
	free(g->was);
	free(g->meets);
	free(g->moving);
	free(g->batch);
	free(g->undo);
	free(g->differ);
	free(g);
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
		feel(g, g->f->chan_src[c], c);
}

void sar_tree_look_ahead(const struct sar_tree *g, uint32_t lid)
{
	const uint64_t *bits = g->through + (size_t)lid * g->words;

	for (uint32_t w = 0; w < g->words; w += LINE / sizeof(*bits))
		__builtin_prefetch(bits + w);
}

bool sar_tree_is_hot(struct sar_tree *g, const struct dest *d)
{
	const uint64_t *bits = through(g, d);

	g->work += g->words / 8;
	for (uint32_t w = 0; w < g->words; w++)
		for (uint64_t m = bits[w] & g->hot_sw[w]; m; m &= m - 1) {
			uint32_t u = 64 * w + (uint32_t)__builtin_ctzll(m);

			if (g->hot[next_chan(g, u, hopmap_at(&g->hops, d->lid))])
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
	const uint8_t *ports = hopmap_at(&g->hops, d->lid);

	for (uint32_t i = 0; i < n; i++)
		put_one(g, d, ports, &s[i]);
}

/* The tree in hand is complete: adds it to the loads of all.  Returns what it costs there. */
static double sar_tree_settle(struct sar_tree *g, const struct dest *d, struct tariff t)
{
	const uint8_t *ports = hopmap_at(&g->hops, d->lid);
	uint64_t *bits = through(g, d);
	double sum = 0;

	while (g->ntree > 0) {
		uint32_t u = g->tree[--g->ntree], c = next_chan(g, u, ports);

		sum += g->own[u] * price(&g->load[c], g->own[u], t);
		add_routes(g, u, c);
		feel(g, u, c);
		bits[u / 64] |= 1ull << u % 64;
		g->own[u] = 0;
	}
	return sum;
}

void sar_tree_count(struct sar_tree *g, const struct dest *d, const struct sar_source *s,
		    uint32_t n)
{
	const uint8_t *ports = hopmap_at(&g->hops, d->lid);
	uint64_t *bits = through(g, d);

	sar_tree_take_in_hand(g, s, n);
	sar_tree_put_in(g, d, s, n);
	while (g->ntree > 0) {
		uint32_t u = g->tree[--g->ntree];

		add_routes(g, u, next_chan(g, u, ports));
		bits[u / 64] |= 1ull << u % 64;
		g->own[u] = 0;
	}
}

/* Takes the tree out of the loads; returns what it cost to have it there. */
static double sar_tree_take_out(struct sar_tree *g, const struct dest *d,
				const struct sar_source *s, uint32_t n, struct tariff t)
{
	const uint8_t *ports = hopmap_at(&g->hops, d->lid);
	double sum = 0;

	memset(through(g, d), 0, g->words * sizeof(*g->through));
	sar_tree_put_in(g, d, s, n);
	while (g->ntree > 0) {
		uint32_t u = g->tree[--g->ntree], c = next_chan(g, u, ports);

		remove_routes(g, u, c);
		sum += g->own[u] * price(&g->load[c], g->own[u], t);
		g->own[u] = 0;
	}
	return sum;
}

double sar_tree_price(struct sar_tree *g, const struct dest *d, const struct sar_source *s,
		      uint32_t n, const struct sar_tree_rule *rule)
{
	const uint8_t *ports = hopmap_at(&g->hops, d->lid);
	struct tariff t;
	double sum = 0;

	sar_tree_take_in_hand(g, s, n);
	t = tariff(g, rule);
	sar_tree_put_in(g, d, s, n);
	while (g->ntree > 0) {
		uint32_t u = g->tree[--g->ntree], own = g->own[u];
		struct sar_tree_load without = g->load[next_chan(g, u, ports)];

		without.all -= own;
		without.flow -= own * g->share;
		sum += own * price(&without, own, t);
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
	return sar_tree_settle(g, dest, tariff(g, r));
}

void sar_tree_tree(struct sar_tree *g, const struct dest *d, const struct sar_source *s, uint32_t n,
		   const struct sar_tree_rule *rule)
{
	sar_tree_take_in_hand(g, s, n);
	sar_tree_grow_all(g, d, s, n, rule);
}

bool sar_tree_is_worth_it(const struct sar_tree *g, double before, double after, uint64_t blocks,
			  const struct sar_tree_rule *rule)
{
	if (g->nblocks > blocks)
		after += rule->block * (double)(g->nblocks - blocks);
	return g->nundo && after < before * rule->gain && g->nblocks <= rule->limit;
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
	t = tariff(g, rule);
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
