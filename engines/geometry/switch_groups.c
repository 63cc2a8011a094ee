/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/geometry/switch_groups.h"

#include "engines/geometry/topology_kind.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#include <stdlib.h>
#include <string.h>

struct grouper {
	const struct fabric *f;
	const uint32_t *hosts;
	uint32_t *order; /* switches by name */
	uint32_t *now;	 /* by switch: the highest group with it up to here; FAB_NONE */
	struct switch_groups *g;
	VEC(struct switch_group) list;
};

/* By component: its first part, and whether there is another.  A part is a group, or a switch that
 * is in none. */
static void switch_groups_count_parts(const struct grouper *x, const uint32_t *comp, uint32_t *part,
				      bool *more)
{
	for (uint32_t i = 0; i < x->f->nsw; i++) {
		uint32_t sw = x->order[i], c = comp[sw], p;

		if (!x->hosts[sw] || c == FAB_NONE)
			continue;
		p = x->now[sw] == FAB_NONE ? sw : x->f->nsw + x->now[sw];
		if (part[c] == FAB_NONE)
			part[c] = p;
		else
			more[c] |= part[c] != p;
	}
}

static void switch_groups_add_top(struct grouper *x, const uint32_t *comp, const uint32_t *made,
				  const uint8_t *row, uint32_t level)
{
	const struct fabric *f = x->f;

	for (uint32_t i = 0; i < f->nsw && row; i++) {
		uint32_t sw = x->order[i], id;

		if (comp[sw] == FAB_NONE || row[sw] != level)
			continue;
		id = made[comp[sw]];
		if (id == FAB_NONE)
			continue;
		if (!x->list.v[id].top)
			x->list.v[id].top = arena_array(x->g->arena, uint32_t, f->nsw);
		x->list.v[id].top[x->list.v[id].ntop++] = sw;
	}
}

/* A group for each component of more than one part.  row: of a tree, of whose level the
 * components are; else NULL. */
static void switch_groups_add_level(struct grouper *x, const uint32_t *comp, uint32_t ncomp,
				    uint32_t level, const uint8_t *row)
{
	uint32_t *part = xcalloc(ncomp, sizeof(*part)), *made = xcalloc(ncomp, sizeof(*made));
	bool *more = xcalloc(ncomp, sizeof(*more));

	memset(part, 0xff, ncomp * sizeof(*part));
	memset(made, 0xff, ncomp * sizeof(*made));
	switch_groups_count_parts(x, comp, part, more);
	for (uint32_t i = 0; i < x->f->nsw; i++) {
		uint32_t sw = x->order[i], c = comp[sw];

		if (!x->hosts[sw] || c == FAB_NONE || !more[c])
			continue;
		if (made[c] == FAB_NONE) {
			made[c] = (uint32_t)x->list.n;
			vec_push(&x->list,
				 (struct switch_group){ .parent = FAB_NONE, .level = level });
		}
		if (x->now[sw] == FAB_NONE)
			x->g->of[sw] = made[c];
		else
			x->list.v[x->now[sw]].parent = made[c];
		x->now[sw] = made[c];
	}
	switch_groups_add_top(x, comp, made, row, level);
	free(part);
	free(made);
	free(more);
}

static void switch_groups_add_rows(struct grouper *x, const struct tree *t)
{
	uint32_t *comp = xcalloc(x->f->nsw, sizeof(*comp));

	for (uint32_t r = 1; r < t->nrow; r++) {
		uint32_t n = tree_components(comp, x->f, t->row, 0, r, x->order);

		switch_groups_add_level(x, comp, n, r, t->row);
	}
	free(comp);
}

/* Lines of the first dimension, all of whose switches are neighbours. */
static void switch_groups_add_lines(struct grouper *x, const struct grid *g)
{
	uint32_t *comp;

	if (g->ndims < 2)
		return;
	comp = xcalloc(x->f->nsw, sizeof(*comp));
	for (uint32_t sw = 0; sw < x->f->nsw; sw++)
		comp[sw] = grid_cell(g, grid_coord(g, sw)) / g->size[0];
	switch_groups_add_level(x, comp, g->ncell / g->size[0], 1, NULL);
	free(comp);
}

static void switch_groups_add_kind(struct grouper *x, const struct topology_kind *k)
{
	if (k->kind == TOPOLOGY_TREE)
		switch_groups_add_rows(x, k->tree);
	else if (k->kind == TOPOLOGY_HYPERX)
		switch_groups_add_lines(x, k->grid);
	else if (k->kind == TOPOLOGY_GROUPS)
		switch_groups_add_level(x, k->group, k->ngroup, 1, NULL);
}

/* All that is connected. */
static void switch_groups_add_parts(struct grouper *x)
{
	uint8_t *row = xcalloc(x->f->nsw, sizeof(*row));
	uint32_t *part = xcalloc(x->f->nsw, sizeof(*part));
	uint32_t n = tree_components(part, x->f, row, 0, 0, x->order), level = 1;

	for (size_t i = 0; i < x->list.n; i++)
		level = x->list.v[i].level >= level ? x->list.v[i].level + 1 : level;
	switch_groups_add_level(x, part, n, level, NULL);
	free(part);
	free(row);
}

struct switch_groups *switch_groups_new(const struct fabric *f, const uint32_t *hosts)
{
	struct topology_kind *k = topology_kind_new(f);
	struct switch_groups *g = xcalloc(1, sizeof(*g));
	struct grouper x = { .f = f, .hosts = hosts, .g = g };

	g->arena = arena_new();
	g->of = arena_array(g->arena, uint32_t, f->nsw);
	x.order = topology_kind_order_by_name(f);
	x.now = xcalloc(f->nsw, sizeof(*x.now));
	memset(g->of, 0xff, f->nsw * sizeof(*g->of));
	memset(x.now, 0xff, f->nsw * sizeof(*x.now));
	switch_groups_add_kind(&x, k);
	switch_groups_add_parts(&x);
	g->n = (uint32_t)x.list.n;
	g->group = arena_array(g->arena, struct switch_group, g->n);
	if (g->n)
		memcpy(g->group, x.list.v, g->n * sizeof(*g->group));
	vec_free(&x.list);
	free(x.order);
	free(x.now);
	topology_kind_free(k);
	return g;
}

void switch_groups_free(struct switch_groups *g)
{
	if (!g)
		return;
	arena_free(g->arena);
	free(g);
}
