/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/geometry/tree.h"

#include "engines/graph/graph.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 254

/* The work of finding one. */
struct finder {
	const struct fabric *f;
	struct arena *arena;
	struct tree *t;
	uint32_t *hops;	     /* to the nearest leaf, by switch */
	uint32_t *comp;	     /* component of the levels at hand, by switch; FAB_NONE: not in them */
	uint32_t *other;     /* the same one level before */
	uint32_t *seen;	     /* by component: who saw it last */
	uint64_t have, want; /* links down to subtrees */
};

uint32_t tree_components(uint32_t *comp, const struct fabric *f, const uint8_t *row, uint32_t lo,
			 uint32_t hi, const uint32_t *order)
{
	uint32_t *queue = xcalloc(f->nsw, sizeof(*queue)), n = 0;

	memset(comp, 0xff, f->nsw * sizeof(*comp));
	for (uint32_t i = 0; i < f->nsw; i++) {
		uint32_t s = order ? order[i] : i, head = 0, tail = 0;

		if (row[s] < lo || row[s] > hi || comp[s] != FAB_NONE)
			continue;
		comp[s] = n;
		queue[tail++] = s;
		while (head < tail) {
			uint32_t u = queue[head++];

			for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
				uint32_t v = f->chan_dst[c];

				if (row[v] < lo || row[v] > hi || comp[v] != FAB_NONE)
					continue;
				comp[v] = n;
				queue[tail++] = v;
			}
		}
		n++;
	}
	free(queue);
	return n;
}

/* Distance from the switches with at least least terminals. */
static void tree_find_hops(struct finder *x, uint32_t least)
{
	const struct fabric *f = x->f;
	uint32_t *queue = arena_array(x->arena, uint32_t, f->nsw), n = 0;

	for (uint32_t u = 0; u < f->nsw; u++)
		if (f->sw_nterm[u] >= least)
			queue[n++] = u;
	fabric_hops(x->hops, queue, f, n);
}

/* Hangs on switches of row 1 only, and has terminals, if few: a leaf to look at. */
static bool tree_is_small_leaf(const struct finder *x, uint32_t u)
{
	const struct fabric *f = x->f;
	bool leaf = x->hops[u] == 2 && f->sw_nterm[u];

	for (uint32_t c = f->chan_off[u]; leaf && c < f->chan_off[u + 1]; c++)
		leaf = x->hops[f->chan_dst[c]] == 1;
	return leaf;
}

static void tree_find_rows(struct finder *x)
{
	const struct fabric *f = x->f;
	struct tree *t = x->t;

	t->nrow = 0;
	t->rows = true;
	for (uint32_t u = 0; u < f->nsw; u++) {
		uint32_t row = tree_is_small_leaf(x, u) ? 0 : x->hops[u];

		t->rows &= row <= ROWS_MAX;
		t->row[u] = (uint8_t)(row <= ROWS_MAX ? row : ROWS_MAX);
		t->nrow = t->row[u] >= t->nrow ? t->row[u] + 1u : t->nrow;
	}
	t->rows &= t->nrow >= 2;
	for (uint32_t c = 0; c < f->nchan && t->rows; c++)
		t->rows = abs(t->row[f->chan_src[c]] - t->row[f->chan_dst[c]]) == 1;
}

/* Those of level lo..hi become comp, and those before the other. */
static uint32_t tree_split(struct finder *x, uint32_t hi)
{
	uint32_t *swap = x->comp;

	x->comp = x->other;
	x->other = swap;
	return tree_components(x->comp, x->f, x->t->level, 0, hi, NULL);
}

/* Subtrees in of that hang on a switch. */
static uint32_t tree_count_children(struct finder *x, const uint32_t *of, uint32_t u)
{
	const struct fabric *f = x->f;
	uint32_t n = 0;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
		uint32_t k = of[f->chan_dst[c]];

		if (k == FAB_NONE || x->seen[k] == u)
			continue;
		x->seen[k] = u;
		n++;
	}
	return n;
}

/* Adds the switches of a level that join subtrees (in comp); returns how many. */
static uint32_t tree_add_level(struct finder *x, uint32_t l)
{
	uint32_t n = 0;

	memset(x->seen, 0xff, x->f->nsw * sizeof(*x->seen));
	for (uint32_t u = 0; u < x->f->nsw; u++)
		if (x->hops[u] == l && tree_count_children(x, x->comp, u) > 1) {
			x->t->level[u] = (uint8_t)l;
			n++;
		}
	return n;
}

/* What a full tree would have: every switch of the level a link to every subtree of its own. */
static void tree_count_ways(struct finder *x, uint32_t l)
{
	uint32_t nsw = x->f->nsw, *below = xcalloc(nsw, sizeof(*below));
	bool *counted = xcalloc(nsw, sizeof(*counted));

	for (uint32_t u = 0; u < nsw; u++) {
		if (x->other[u] == FAB_NONE || counted[x->other[u]])
			continue;
		counted[x->other[u]] = true;
		below[x->comp[u]]++;
	}
	memset(x->seen, 0xff, nsw * sizeof(*x->seen));
	for (uint32_t u = 0; u < nsw; u++)
		if (x->t->level[u] == l) {
			x->want += below[x->comp[u]];
			x->have += tree_count_children(x, x->other, u);
		}
	free(below);
	free(counted);
}

static int tree_check_cables(const struct finder *x, struct err *err)
{
	const struct fabric *f = x->f;
	const uint8_t *level = x->t->level;

	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t u = f->chan_src[c], v = f->chan_dst[c];

		if (level[u] == level[v] && level[u] != TREE_IDLE)
			return err_set(err, -EINVAL,
				       "not a fat tree: a cable joins two switches of one level, "
				       "%u above the leaves (%s - %s)",
				       level[u], f->sw_name[u], f->sw_name[v]);
	}
	if (3 * x->have < 2 * x->want)
		return err_set(err, -EINVAL,
			       "not a fat tree: of %llu links from switches down to the "
			       "subtrees below only %llu are cabled; two thirds must be",
			       (unsigned long long)x->want, (unsigned long long)x->have);
	return 0;
}

/* Levels from the leaves upwards, as long as switches join subtrees. */
static int tree_find_levels(struct finder *x, struct err *err)
{
	struct tree *t = x->t;
	uint32_t l = 0, n;

	for (uint32_t u = 0; u < x->f->nsw; u++)
		t->level[u] = x->hops[u] ? TREE_IDLE : 0;
	x->have = x->want = 0;
	n = tree_split(x, 0);
	while (tree_add_level(x, l + 1)) {
		if (++l == TREE_LEVELS)
			return err_set(err, -EINVAL, "not a fat tree: it has more than %d levels",
				       TREE_LEVELS);
		n = tree_split(x, l);
		tree_count_ways(x, l);
	}
	t->nlevel = l + 1;
	if (n > 1)
		return err_set(err, -EINVAL,
			       "not a fat tree: its leaves are connected neither directly "
			       "nor through switches that join subtrees");
	t->missing = (uint32_t)(x->want - x->have);
	return tree_check_cables(x, err);
}

static void tree_try(struct finder *x, uint32_t least)
{
	struct tree *t = x->t;

	tree_find_hops(x, least);
	tree_find_rows(x);
	t->rc = tree_find_levels(x, &t->why);
}

/* The first leaves of which all is a fat tree; else the first above which there are rows. */
static void tree_find(struct finder *x)
{
	struct tree *t = x->t;
	uint32_t fullest = 0;
	bool rows;

	for (uint32_t u = 0; u < x->f->nsw; u++)
		fullest = x->f->sw_nterm[u] > fullest ? x->f->sw_nterm[u] : fullest;
	if (!fullest) {
		t->rc = err_set(&t->why, -EINVAL,
				"not a fat tree: it has no terminals, and so no leaves");
		return;
	}
	tree_try(x, 1);
	rows = t->rows;
	if (t->rc && fullest > 2)
		tree_try(x, (fullest + 1) / 2);
	if (t->rc && rows) {
		tree_find_hops(x, 1);
		tree_find_rows(x);
	}
}

struct tree *tree_new(const struct fabric *f)
{
	struct tree *t = xcalloc(1, sizeof(*t));
	struct finder x = { .f = f, .t = t, .arena = arena_new() };
	struct err why;
	int rc = graph_check_connected(f, &why);

	t->row = xcalloc(f->nsw, sizeof(*t->row));
	t->level = xcalloc(f->nsw, sizeof(*t->level));
	x.hops = arena_array(x.arena, uint32_t, f->nsw);
	x.comp = arena_array(x.arena, uint32_t, f->nsw);
	x.other = arena_array(x.arena, uint32_t, f->nsw);
	x.seen = arena_array(x.arena, uint32_t, f->nsw);
	tree_find(&x);
	if (rc)
		t->rc = err_set(&t->why, rc, "%s", why.text);
	arena_free(x.arena);
	return t;
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	free(t->row);
	free(t->level);
	free(t);
}
