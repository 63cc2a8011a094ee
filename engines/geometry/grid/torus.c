/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/geometry/grid/torus.h"

#include "engines/geometry/union_find.h"
#include "engines/graph/graph.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct dimension {
	uint32_t class; /* channel that stands for its class */
	uint32_t size;
	enum grid_kind kind;
	uint32_t *layer; /* by switch: its coordinate */
};

struct finder {
	const struct fabric *f;
	struct arena *arena;
	uint32_t *join;	 /* by channel: union-find of cables that lie in one dimension */
	uint32_t *first; /* by channel: the first one that is parallel */
	uint32_t *near;	 /* by switch: first channel there from the switch at hand, or FAB_NONE */
	uint32_t *mids;	 /* by switch: how many channels lead there from the neighbours at hand */
	uint32_t *mid;	 /* by switch: two channels u -> v, v -> x each */
	uint32_t *queue;
	struct dimension dim[GRID_DIMS_MAX];
	uint32_t ndim;
};

static int torus_refuse_square(const struct fabric *f, uint32_t u, uint32_t v, struct err *err)
{
	return err_set(err, -EINVAL,
		       "not a torus or mesh: two switches have over two neighbours in common "
		       "(%s, %s)",
		       f->sw_name[u], f->sw_name[v]);
}

/* Ways of two hops from u over v, to those behind it: from there they are the same, back. */
static int torus_look_over(struct finder *x, uint32_t u, uint32_t c, uint32_t *nfar,
			   struct err *err)
{
	const struct fabric *f = x->f;
	uint32_t v = f->chan_dst[c];

	for (uint32_t e = f->chan_off[v]; e < f->chan_off[v + 1]; e++) {
		uint32_t w = f->chan_dst[e];

		if (w <= u || x->first[e] != e)
			continue;
		if (x->near[w] != FAB_NONE) {
			union_find_join(x->join, c, e);
			union_find_join(x->join, c, x->near[w]);
			continue;
		}
		if (x->mids[w] == 2)
			return torus_refuse_square(f, u, w, err);
		if (!x->mids[w])
			x->queue[(*nfar)++] = w;
		x->mid[4 * w + 2 * x->mids[w]] = c;
		x->mid[4 * w + 2 * x->mids[w]++ + 1] = e;
	}
	return 0;
}

/* Joins the cables around u that lie in one dimension. */
static int torus_look_around(struct finder *x, uint32_t u, struct err *err)
{
	const struct fabric *f = x->f;
	uint32_t nfar = 0;
	int rc = 0;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
		x->near[f->chan_dst[c]] = x->first[c];
		union_find_join(x->join, c, f->chan_rev[c]);
		union_find_join(x->join, c, x->first[c]);
	}
	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1] && !rc; c++)
		if (x->first[c] == c)
			rc = torus_look_over(x, u, c, &nfar, err);
	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
		x->near[f->chan_dst[c]] = FAB_NONE;
	for (uint32_t i = 0; i < nfar; i++) {
		uint32_t w = x->queue[i], *m = x->mid + 4 * w;

		/* one way: straight on; two: opposite sides of a square */
		union_find_join(x->join, m[0], m[x->mids[w] == 1 ? 1 : 3]);
		if (x->mids[w] == 2)
			union_find_join(x->join, m[1], m[2]);
		x->mids[w] = 0;
	}
	return rc;
}

static int torus_find_classes(struct finder *x, struct err *err)
{
	const struct fabric *f = x->f;
	int rc = 0;

	for (uint32_t c = 0; c < f->nchan; c++)
		x->join[c] = c;
	for (uint32_t u = 0; u < f->nsw && !rc; u++)
		rc = torus_look_around(x, u, err);
	for (uint32_t c = 0; c < f->nchan && !rc; c++) {
		if (union_find_root(x->join, c) != c)
			continue;
		if (x->ndim == GRID_DIMS_MAX)
			return err_set(err, -EINVAL,
				       "not a torus or mesh: it has more than %d dimensions",
				       GRID_DIMS_MAX);
		x->dim[x->ndim++].class = c;
	}
	return rc;
}

/* Layers of a dimension: what hangs together without its cables, in the order of their first
 * switches. */
static void torus_find_layers(struct finder *x, struct dimension *d)
{
	const struct fabric *f = x->f;

	d->layer = arena_array(x->arena, uint32_t, f->nsw);
	memset(d->layer, 0xff, f->nsw * sizeof(*d->layer));
	for (uint32_t s = 0; s < f->nsw; s++) {
		uint32_t n = 1;

		if (d->layer[s] != FAB_NONE)
			continue;
		d->layer[s] = d->size;
		x->queue[0] = s;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t u = x->queue[i];

			for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
				uint32_t v = f->chan_dst[c];

				if (union_find_root(x->join, c) == d->class ||
				    d->layer[v] != FAB_NONE)
					continue;
				d->layer[v] = d->size;
				x->queue[n++] = v;
			}
		}
		d->size++;
	}
}

static bool torus_add_neighbour(uint32_t *side, uint32_t layer)
{
	for (int k = 0; k < 2; k++) {
		if (side[k] == FAB_NONE)
			side[k] = layer;
		if (side[k] == layer)
			return true;
	}
	return false;
}

/* Walks from layer to layer; new numbers in at.  Returns how many it meets. */
static uint32_t torus_walk_layers(uint32_t *at, const uint32_t *side, uint32_t from, uint32_t size)
{
	uint32_t n = 0, last = FAB_NONE, k = from;

	memset(at, 0xff, size * sizeof(*at));
	while (k != FAB_NONE && at[k] == FAB_NONE) {
		const uint32_t *s = side + 2 * (size_t)k;
		uint32_t next = s[0] == last ? s[1] : s[0];

		/* a ring is walked towards the layer with the smaller number */
		if (last == FAB_NONE && s[1] != FAB_NONE)
			next = s[0] < s[1] ? s[0] : s[1];
		at[k] = n++;
		last = k;
		k = next;
	}
	return n;
}

/* The neighbours of each layer, two at most; false when one has more. */
static bool torus_find_sides(uint32_t *side, struct finder *x, const struct dimension *d)
{
	const struct fabric *f = x->f;
	bool two = true;

	memset(side, 0xff, 2 * d->size * sizeof(*side));
	for (uint32_t c = 0; c < f->nchan; c++)
		if (union_find_root(x->join, c) == d->class)
			two &= torus_add_neighbour(side + 2 * (size_t)d->layer[f->chan_src[c]],
						   d->layer[f->chan_dst[c]]);
	return two;
}

/* Numbers the layers along a ring or a line; those of a full graph stay as they are. */
static int torus_order_layers(struct finder *x, struct dimension *d, struct err *err)
{
	uint32_t *side = xcalloc(2 * (size_t)d->size, sizeof(*side)), from = FAB_NONE;
	uint32_t *at = xcalloc(d->size, sizeof(*at));
	int rc = 0;

	d->kind = GRID_FULL;
	if (d->size < 3 || !torus_find_sides(side, x, d))
		goto out;
	for (uint32_t k = d->size; k-- > 0;)
		from = side[2 * k + 1] == FAB_NONE ? k : from;
	if (from == FAB_NONE && d->size == 3)
		goto out;
	d->kind = from == FAB_NONE ? GRID_RING : GRID_LINE;
	if (torus_walk_layers(at, side, from == FAB_NONE ? 0 : from, d->size) < d->size)
		rc = err_set(err, -EINVAL, "not a torus or mesh: a ring closes too early");
	for (uint32_t u = 0; u < x->f->nsw; u++)
		d->layer[u] = at[d->layer[u]];
out:
	free(side);
	free(at);
	return rc;
}

static bool torus_are_neighbours(const struct dimension *d, uint32_t a, uint32_t b)
{
	uint32_t apart = a < b ? b - a : a - b;

	return d->kind == GRID_FULL || apart == 1 || (d->kind == GRID_RING && apart == d->size - 1);
}

static uint32_t torus_degree(const struct dimension *d, uint32_t at)
{
	if (d->kind == GRID_FULL)
		return d->size - 1;
	return d->kind == GRID_RING || (at && at < d->size - 1) ? 2 : 1;
}

/* Every cable leads to a neighbour on the grid, and every switch has all of them. */
static int torus_check_cables(struct finder *x, const struct grid *g, struct err *err)
{
	const struct fabric *f = x->f;

	for (uint32_t u = 0; u < f->nsw; u++) {
		uint32_t missing = 0;

		for (uint32_t d = 0; d < x->ndim; d++)
			missing += torus_degree(&x->dim[d], x->dim[d].layer[u]);
		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			uint32_t v = f->chan_dst[c], d = grid_dim(g, u, v);

			if (d == FAB_NONE || !torus_are_neighbours(&x->dim[d], grid_coord(g, u)[d],
								   grid_coord(g, v)[d]))
				return err_set(err, -EINVAL,
					       "not a torus or mesh: a cable joins no neighbours "
					       "(%s - %s)",
					       f->sw_name[u], f->sw_name[v]);
			missing -= x->first[c] == c;
		}
		if (missing)
			return err_set(
				err, -EINVAL,
				"not an intact torus or mesh: its cables do not fall into rings, "
				"lines or full groups; all of them must be there (seen from %s)",
				f->sw_name[u]);
	}
	return 0;
}

static int torus_by_size(const void *a, const void *b)
{
	const struct dimension *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->class < y->class ? -1 : x->class > y->class;
}

/* A switch at every point. */
static int torus_fill_grid(struct grid **out, struct finder *x, struct err *err)
{
	enum grid_kind kind[GRID_DIMS_MAX];
	uint32_t size[GRID_DIMS_MAX];
	uint64_t ncell = 1;
	struct grid *g;
	bool full;
	int rc;

	for (uint32_t d = 0; d < x->ndim && ncell <= x->f->nsw; d++) {
		size[d] = x->dim[d].size;
		kind[d] = x->dim[d].kind;
		ncell *= size[d];
	}
	full = ncell == x->f->nsw;
	g = grid_new(x->f->nsw, full ? x->ndim : 0, size, kind);
	for (uint32_t u = 0; u < x->f->nsw && full; u++) {
		uint32_t *at;

		for (uint32_t d = 0; d < x->ndim; d++)
			g->coord[u * x->ndim + d] = (uint16_t)x->dim[d].layer[u];
		at = &g->at[grid_cell(g, grid_coord(g, u))];
		full = *at == FAB_NONE;
		*at = u;
	}
	if (!full) {
		grid_free(g);
		return err_set(err, -EINVAL,
			       "this is not an intact torus or mesh: its %u switches do not fill "
			       "a grid of the dimensions that its cables have",
			       x->f->nsw);
	}
	rc = torus_check_cables(x, g, err);
	if (rc)
		grid_free(g);
	else
		*out = g;
	return rc;
}

static int torus_do_find(struct grid **out, struct finder *x, struct err *err)
{
	int rc;

	grid_first_parallel(x->f, x->near, x->first);
	rc = torus_find_classes(x, err);
	for (uint32_t d = 0; d < x->ndim && !rc; d++) {
		torus_find_layers(x, &x->dim[d]);
		rc = torus_order_layers(x, &x->dim[d], err);
	}
	if (rc)
		return rc;
	qsort(x->dim, x->ndim, sizeof(*x->dim), torus_by_size);
	return torus_fill_grid(out, x, err);
}

int torus_find(struct grid **out, const struct fabric *f, struct err *err)
{
	struct finder x = { .f = f };
	int rc = graph_check_connected(f, err);

	if (rc)
		return rc;
	x.arena = arena_new();
	x.join = arena_array(x.arena, uint32_t, f->nchan);
	x.first = arena_array(x.arena, uint32_t, f->nchan);
	x.near = arena_array(x.arena, uint32_t, f->nsw);
	memset(x.near, 0xff, f->nsw * sizeof(*x.near));
	x.mids = arena_array(x.arena, uint32_t, f->nsw);
	x.mid = arena_array(x.arena, uint32_t, 4 * (size_t)f->nsw);
	x.queue = arena_array(x.arena, uint32_t, f->nsw);
	rc = torus_do_find(out, &x, err);
	arena_free(x.arena);
	return rc;
}
