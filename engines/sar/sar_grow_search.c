/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/sar_tree_priv.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

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
			tail = meet(queue, seen, stamp, s[i++]->sw, tail);
		if (head == tail)
			return tail;
		u = queue[head++];
		if (u == d->root)
			continue;
		g->work += d->degree[u];
		if (g->own[u]) {
			tail = meet(queue, seen, stamp, next_switch(g, u, ports), tail);
			continue;
		}
		to = g->f->chan_dst + g->f->chan_off[u];
		for (uint32_t k = d->off[u], end = d->off[u] + d->degree[u]; k < end; k++)
			tail = meet(queue, seen, stamp, to[d->edge[k]], tail);
	}
}

struct way {
	uint8_t place;
	double cost;
};

/* Cheapest way on from u; present gets that by its place, if that is one. */
static inline struct way sar_tree_find_cheapest(const struct sar_tree *g, const struct sar_dag *d,
						uint32_t u, uint32_t n, struct tariff t,
						struct way *present)
{
	uint32_t first = g->f->chan_off[u];
	struct way best = { .place = PLACE_NONE, .cost = HUGE_VAL };

	for (uint32_t k = d->off[u], end = d->off[u] + d->degree[u]; k < end; k++) {
		uint32_t c = first + d->edge[k];
		double v = price(&g->load[c], n, t) + g->cost[g->f->chan_dst[c]];

		if (v < best.cost)
			best = (struct way){ .place = d->edge[k], .cost = v };
		if (d->edge[k] == present->place)
			present->cost = v;
	}
	return best;
}

/* Cheapest way on from u, or the present one when that is not much dearer; where the block differs
 * already, and so costs nothing more, when it is not dearer. */
static void sar_tree_choose(struct sar_tree *g, const struct sar_dag *d, uint32_t u, uint32_t lid,
			    uint32_t n, struct tariff t, const struct sar_tree_rule *r)
{
	uint8_t port = hopmap_at(&g->hops, lid)[u];
	struct way present = { .place = hopmap_place(&g->hops, u, port), .cost = HUGE_VAL };
	struct way best = sar_tree_find_cheapest(g, d, u, n, t, &present);
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
	const uint8_t *ports = hopmap_at(&g->hops, lid);
	struct tariff t = tariff(g, r);
	uint32_t weight = s[0]->n;

	for (uint32_t i = sar_tree_find_region(g, d, ports, s, n); i-- > 0;) {
		uint32_t u = g->queue[i];

		if (u == d->root) {
			g->cost[u] = 0;
		} else if (g->own[u]) {
			uint32_t c = next_chan(g, u, ports);

			touch(g, u, ports, t);
			g->cost[u] = price(&g->load[c], g->own[u] + weight, t) +
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

	hopmap_set(&g->hops, g->t, u, lid, port);
	if (!g->from)
		return;
	g->nblocks -= *differ > 0;
	*differ = (uint8_t)(*differ + (port != old) - (was != old));
	g->nblocks += *differ > 0;
}

/* Makes the path that was found from u part of the tree. */
static void sar_tree_fix_path(struct sar_tree *g, uint32_t u, const struct dest *d)
{
	const uint8_t *ports = hopmap_at(&g->hops, d->lid);

	while (u != d->sw && !g->own[u]) {
		if (next_chan(g, u, ports) != g->pick[u]) {
			uint8_t present = tables_row(g->t, u)[d->lid];

			g->undo[g->nundo++] = (struct change){ .sw = u, .port = present };
			sar_tree_write_entry(g, u, d->lid, g->f->chan_port[g->pick[u]]);
		}
		u = g->f->chan_dst[g->pick[u]];
	}
}

void sar_tree_touch_path(struct sar_tree *g, uint32_t u, const struct dest *d, struct tariff t)
{
	const uint8_t *ports = hopmap_at(&g->hops, d->lid);

	for (; u != d->sw; u = next_switch(g, u, ports))
		touch(g, u, ports, t);
}

void sar_tree_move_routes(struct sar_tree *g, uint32_t u, const struct dest *d, uint32_t n)
{
	const uint8_t *ports = hopmap_at(&g->hops, d->lid);

	for (; u != d->sw; u = next_switch(g, u, ports)) {
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

void sar_tree_place_batch(struct sar_tree *g, const struct dest *dest, const struct sar_dag *d,
			  const struct sar_source **batch, uint32_t n,
			  const struct sar_tree_rule *r)
{
	const uint8_t *ports = hopmap_at(&g->hops, dest->lid);
	struct tariff t = tariff(g, r);

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
			put_one(g, dest, ports, batch[b]);
		}
	}
}

void sar_tree_undo(struct sar_tree *g, uint32_t lid)
{
	while (g->nundo > 0) {
		const struct change *c = &g->undo[--g->nundo];

		sar_tree_write_entry(g, c->sw, lid, c->port);
	}
}
