/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/dfdn_tree.h"

#include "fabric/base/mem.h"
#include "fabric/base/tile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A switch's own LID goes the way of its first terminal (balance.h), so it has no tree of its
 * own where there is one. */
static void list_dests(struct dfdn_tree *x, uint8_t lmc)
{
	const struct fabric *f = x->f;

	x->dests = xcalloc(graph_count_lids(f, lmc) + 128, sizeof(*x->dests));
	for (uint32_t u = 0; u < f->nsw; u++) {
		for (uint32_t k = f->term_off[u]; k < f->term_off[u + 1]; k++)
			x->ndest += graph_end_dests(x->dests + x->ndest, f, lmc, f->term_list[k]);
		if (!f->sw_nterm[u])
			x->ndest += graph_end_dests(x->dests + x->ndest, f, lmc, f->nend + u);
	}
}

void dfdn_tree_init(struct dfdn_tree *x, const struct fabric *f, const struct tables *t,
		    uint8_t lmc)
{
	*x = (struct dfdn_tree){ .f = f, .t = t, .n = f->nsw };
	turns_init(&x->turns, f);
	list_dests(x, lmc);
	x->at = xcalloc(f->nsw, sizeof(*x->at));
	x->source = xcalloc(f->nsw, sizeof(*x->source));
	x->parent = xcalloc(f->nsw, sizeof(*x->parent));
	x->turn = xcalloc(f->nsw, sizeof(*x->turn));
	x->same = xcalloc(f->nsw, sizeof(*x->same));
	x->news = xcalloc(f->nsw, sizeof(*x->news));
	x->pos = xcalloc(f->nsw, sizeof(*x->pos));
	x->depth = xcalloc(f->nsw, sizeof(*x->depth));
	x->count = xcalloc(f->nsw + 1, sizeof(*x->count));
	x->chan = xcalloc(f->nsw, sizeof(*x->chan));
	x->port = xcalloc((size_t)f->nsw * DFDN_TREE_LIDS, sizeof(*x->port));
}

void dfdn_tree_done(struct dfdn_tree *x)
{
	void *arrays[] = { x->at,  x->source, x->parent, x->turn, x->same, x->news,
			   x->pos, x->depth,  x->count,	 x->chan, x->port, x->dests };

	for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
		free(arrays[i]);
	turns_done(&x->turns);
}

/* Output ports of all switches towards n LIDs, as many at once as follow each other. */
static void gather(struct dfdn_tree *x, const struct dest *d, uint32_t n)
{
	for (uint32_t k = 0, run; k < n; k += run) {
		for (run = 1; k + run < n && d[k + run].lid == d[k].lid + run;)
			run++;
		tile_turn(x->port + (size_t)k * x->n, x->n, x->t->lft + d[k].lid, x->t->stride,
			  x->n, run);
	}
}

/* Positions by hops to the switch, then by switch; all its LIDs share them. */
static void order(struct dfdn_tree *x, uint32_t root, const uint8_t *port)
{
	const struct fabric *f = x->f;
	uint32_t *depth = x->depth, *count = x->count, *stack = x->parent, n = x->n;

	memset(count, 0, (n + 1) * sizeof(*count));
	memset(depth, 0xff, n * sizeof(*depth));
	depth[root] = 0;
	for (uint32_t s = 0; s < n; s++) {
		uint32_t u = s, k = 0;

		for (; depth[u] == FAB_NONE; u = f->chan_dst[fabric_chan(f, u, port[u])])
			stack[k++] = u;
		for (uint32_t from = depth[u]; k--;)
			depth[stack[k]] = ++from;
		count[depth[s] + 1]++;
	}
	for (uint32_t i = 1; i <= n; i++)
		count[i] += count[i - 1];
	for (uint32_t u = 0; u < n; u++) {
		uint32_t i = count[depth[u]]++;

		x->pos[u] = i;
		x->at[i] = u;
		x->source[i] = f->term_off[u] < f->term_off[u + 1];
	}
}

static void look_up(struct dfdn_tree *x, uint32_t i, uint8_t port, bool moved)
{
	const struct fabric *f = x->f;

	if (moved) {
		x->chan[i] = fabric_chan(f, x->at[i], port);
		x->parent[i] = x->pos[f->chan_dst[x->chan[i]]];
	}
	x->turn[i] = turns_at(&x->turns, x->chan[i], x->chan[x->parent[i]]);
}

/* Only what differs from the LID before is looked up; anew: there is none. */
static void show(struct dfdn_tree *x, const uint8_t *port, bool anew)
{
	const uint8_t *prev = anew ? port : port - x->n;
	uint32_t n = 0;

	x->parent[0] = 0;
	x->same[0] = !anew;
	for (uint32_t i = 1; i < x->n; i++) {
		uint32_t u = x->at[i];
		bool moved = anew || port[u] != prev[u];

		x->same[i] = !moved && x->same[x->parent[i]];
		if (x->same[i])
			continue;
		look_up(x, i, port[u], moved);
		x->news[n++] = i;
	}
	x->nnews = n;
}

/* How many visits there will be is not known: each takes half of what is left. */
static bool tell(struct dfdn_tree *x, struct pace *p, uint32_t done)
{
	unsigned shift = x->visits < 30 ? x->visits : 30;
	uint64_t left = p->total >> shift, share = left - (left >> 1);
	uint64_t work = 4ull * x->n + x->work;

	x->work = 0;
	return pace_tick(p, p->total - left + share * done / (x->ndest + 1), work);
}

/* The trees of one block of LIDs. */
static int visit_block(struct dfdn_tree *x, const struct dfdn_visit *v, const struct dest *d,
		       uint32_t n, struct pace *p, bool *stop)
{
	gather(x, d, n);
	for (uint32_t k = 0; k < n && !*stop; k++) {
		const uint8_t *port = x->port + (size_t)k * x->n;
		bool anew = !k || d[k].sw != d[k - 1].sw;

		if (anew)
			order(x, d[k].sw, port);
		show(x, port, anew);
		*stop = v->tree(v->ctx, x, k);
		if (tell(x, p, (uint32_t)(d - x->dests) + k))
			return -ECANCELED;
	}
	if (v->lids && !*stop)
		v->lids(v->ctx, d, n);
	return 0;
}

int dfdn_tree_visit(struct dfdn_tree *x, const struct dfdn_visit *v, struct pace *p)
{
	bool stop = false;
	int rc = 0;

	for (uint32_t done = 0; done < x->ndest && !stop && !rc; done += DFDN_TREE_LIDS) {
		uint32_t left = x->ndest - done;

		rc = visit_block(x, v, x->dests + done,
				 left < DFDN_TREE_LIDS ? left : DFDN_TREE_LIDS, p, &stop);
	}
	x->visits++;
	return rc;
}
