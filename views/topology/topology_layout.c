/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/topology/topology_layout.h"

#include "fabric/base/memory/mem.h"
#include "views/topology/topology_placement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct joint {
	uint32_t a, b, chan;
};

static int topology_layout_joint_cmp(const void *pa, const void *pb)
{
	const struct joint *x = pa, *y = pb;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	return x->chan < y->chan ? -1 : x->chan > y->chan;
}

static void topology_layout_fill_nodes(struct topology_layout *p, const uint32_t *node_of)
{
	const struct fabric *f = p->fabric;
	uint32_t n = 0;

	p->node_of = arena_array(p->arena, uint32_t, f->nsw);
	p->sw = arena_array(p->arena, uint32_t, f->nsw);
	memcpy(p->node_of, node_of, f->nsw * sizeof(*node_of));
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		p->node[node_of[sw]].count++;
	for (uint32_t i = 0; i < p->nnode; i++) {
		p->node[i].first = n;
		n += p->node[i].count;
		p->node[i].count = 0;
	}
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		struct topology_layout_node *node = &p->node[node_of[sw]];

		p->sw[node->first + node->count++] = sw;
	}
}

static void topology_layout_fill_edges(struct topology_layout *p)
{
	const struct fabric *f = p->fabric;
	struct joint *all = xcalloc(f->nchan + 1u, sizeof(*all));
	uint32_t n = 0;

	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t a = p->node_of[f->chan_src[c]], b = p->node_of[f->chan_dst[c]];

		if (a != b)
			all[n++] = (struct joint){ a < b ? a : b, a < b ? b : a, c };
	}
	qsort(all, n, sizeof(*all), topology_layout_joint_cmp);
	p->chan = arena_array(p->arena, uint32_t, n + 1u);
	p->edge = arena_array(p->arena, struct topology_layout_edge, n + 1u);
	for (uint32_t i = 0; i < n; i++) {
		p->chan[i] = all[i].chan;
		if (!i || all[i].a != all[i - 1].a || all[i].b != all[i - 1].b)
			p->edge[p->nedge++] = (struct topology_layout_edge){ .a = all[i].a,
									     .b = all[i].b,
									     .first = i };
		p->edge[p->nedge - 1].count++;
	}
	free(all);
}

/* In rows of their own each node has its share of the width; elsewhere all have the same. */
static void topology_layout_give_room(struct topology_layout *p)
{
	for (uint32_t i = 0; i < p->nnode; i++)
		p->node[i].room = 1;
	for (int y = 0; p->levels && y < (int)p->h; y++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < p->nnode; i++)
			n += (int)p->node[i].y == y;
		for (uint32_t i = 0; i < p->nnode; i++)
			if ((int)p->node[i].y == y)
				p->node[i].room = p->w / (float)n;
	}
}

static struct topology_layout *topology_layout_picture_of(const struct fabric *f,
							  const struct topology_placement *l,
							  const struct topology_placement_set *set)
{
	struct topology_layout *p = xcalloc(1, sizeof(*p));

	p->fabric = fabric_get(f);
	p->arena = arena_new();
	p->levels = l->levels;
	snprintf(p->what, sizeof(p->what), "%s", l->what);
	snprintf(p->block, sizeof(p->block), "%s", l->block);
	p->w = set->w;
	p->h = set->h;
	p->nnode = set->n;
	p->node = arena_array(p->arena, struct topology_layout_node, set->n + 1u);
	for (uint32_t i = 0; i < set->n; i++)
		p->node[i] = (struct topology_layout_node){ .x = set->x[i], .y = set->y[i] };
	topology_layout_give_room(p);
	topology_layout_fill_nodes(p, set->of);
	topology_layout_fill_edges(p);
	return p;
}

void topology_layout_new(struct topology_layout **fine, struct topology_layout **blocks,
			 const struct fabric *f, const struct topology_kind *s)
{
	struct topology_placement l;

	topology_placement_find(&l, f, s);
	*fine = topology_layout_picture_of(f, &l, &l.sw);
	(*fine)->nrow = l.nrow;
	memcpy((*fine)->row_name, l.row_name, sizeof(l.row_name));
	for (uint32_t i = 0; i < (*fine)->nedge; i++) {
		topology_placement_mark(&l, &(*fine)->edge[i]);
		(*fine)->arcs = (*fine)->arcs || (*fine)->edge[i].arc > 0;
	}
	*blocks = l.block_set.n > 1 && l.block_set.n * 2 <= f->nsw
			  ? topology_layout_picture_of(f, &l, &l.block_set)
			  : NULL;
	topology_placement_done(&l);
}

void topology_layout_free(struct topology_layout *p)
{
	if (!p)
		return;
	fabric_put(p->fabric);
	arena_free(p->arena);
	free(p);
}

uint32_t topology_layout_next(const struct topology_layout *p, uint32_t node, int dx, int dy)
{
	const struct topology_layout_node *at = &p->node[node];
	uint32_t best = node;
	float least = INFINITY;

	for (uint32_t i = 0; i < p->nnode; i++) {
		float x = p->node[i].x - at->x, y = p->node[i].y - at->y;
		float along = dx ? x * (float)dx : y * (float)dy;
		float aside = fabsf(dx ? y : x), cost;

		if (along < 0.01f)
			continue;
		/* sideways stay in the row if it goes on; up and down take the nearest row */
		cost = dx ? along + aside * 1000 : along * 1000 + aside;
		if (cost < least) {
			least = cost;
			best = i;
		}
	}
	return best;
}
