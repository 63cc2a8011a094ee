/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/sar_tree_priv.h"

/* Counts the tree that is in the loads, without taking it out; returns how many of the sources,
 * into g->moving, send over a hot channel. */
static uint32_t sar_tree_find_moving(struct sar_tree *g, const struct dest *d,
				     const struct sar_source *s, uint32_t n)
{
	const uint8_t *ports = hopmap_at(&g->hops, d->lid);
	const uint64_t *bits = through(g, d);
	uint32_t *at = g->queue, nhot = 0, k = 0;

	for (uint32_t w = 0; w < g->words; w++)
		for (uint64_t m = bits[w] & g->hot_sw[w]; m; m &= m - 1) {
			uint32_t u = 64 * w + (uint32_t)__builtin_ctzll(m);

			at[nhot] = u;
			nhot += g->meets[u] = g->hot[next_chan(g, u, ports)];
		}
	for (uint32_t i = 0; i < n; i++) {
		bool meets = false;

		for (uint32_t u = s[i].sw; u != d->sw;) {
			meets |= g->meets[u];
			g->tree[g->ntree] = u;
			g->ntree += !g->own[u];
			g->own[u] += s[i].n;
			u = next_switch(g, u, ports);
		}
		g->moving[k] = &s[i];
		k += meets;
	}
	g->work += g->words / 8 + n + g->ntree;
	while (nhot > 0)
		g->meets[at[--nhot]] = false;
	return k;
}

/* Is there a shortest path from u without that channel? */
static bool sar_tree_has_way_without(struct sar_tree *g, const struct sar_dag *d, uint32_t u,
				     uint32_t chan)
{
	uint32_t *queue = g->queue, *seen = g->seen, stamp = ++g->stamp, head = 0, tail = 0;

	tail = meet(queue, seen, stamp, u, tail);
	while (head < tail) {
		uint32_t first = g->f->chan_off[u = queue[head++]];

		g->work += d->degree[u];
		for (uint32_t k = d->off[u]; k < d->off[u] + d->degree[u]; k++) {
			uint32_t c = first + d->edge[k];

			if (c == chan)
				continue;
			if (g->f->chan_dst[c] == d->root)
				return true;
			tail = meet(queue, seen, stamp, g->f->chan_dst[c], tail);
		}
	}
	return false;
}

void sar_tree_add_forced(struct sar_tree *g, const struct dest *d, const struct sar_source *s,
			 uint32_t n, uint32_t *forced)
{
	const uint8_t *ports = hopmap_at(&g->hops, d->lid);
	uint32_t k = sar_tree_find_moving(g, d, s, n);
	const struct sar_dag *dag = k ? sar_dags_find(&g->dags, d->sw) : NULL;

	while (g->ntree > 0)
		g->own[g->tree[--g->ntree]] = 0;
	for (uint32_t i = 0; i < k; i++) {
		const struct sar_source *from = g->moving[i];

		for (uint32_t u = from->sw; u != d->sw; u = next_switch(g, u, ports)) {
			uint32_t c = next_chan(g, u, ports);

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
	const uint8_t *ports = hopmap_at(&g->hops, d->lid);
	uint64_t *bits = through(g, d);

	for (uint32_t i = 0; i < g->nwas; i++) {
		uint32_t u = g->was[i].sw, c = next_chan(g, u, ports);

		bits[u / 64] &= ~(1ull << u % 64);
		if (!g->own[u])
			continue;
		bits[u / 64] |= 1ull << u % 64;
		add_routes(g, u, c);
		feel(g, u, c);
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
			sum += g->own[u] * price(&g->load[next_chan(g, u, ports)], g->own[u], t);
	}
	return sum;
}

bool sar_tree_offload_hot_links(struct sar_tree *g, const struct dest *d,
				const struct sar_source *s, uint32_t n,
				const struct sar_tree_rule *r)
{
	struct tariff t = tariff(g, r);
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
				      sar_tree_price_parts(g, hopmap_at(&g->hops, d->lid), t),
				      blocks, r);
	if (!better) {
		sar_tree_undo(g, d->lid);
		for (uint32_t i = 0; i < g->nwas; i++)
			g->own[g->was[i].sw] = g->was[i].own;
	}
	sar_tree_lay_down(g, d);
	return better;
}
