/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/geometry/grid/hyperx.h"

#include "engines/geometry/union_find.h"
#include "engines/graph/graph.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct finder {
	const struct fabric *f;
	struct arena *arena;
	struct pace pace;
	/* neighbours of each switch, ascending, parallel cables once */
	uint32_t *off, *nbr;
	uint32_t *edge; /* by place in nbr: number of the undirected edge */
	uint32_t nedge;
	uint32_t *end_a, *end_b; /* by edge */
	uint32_t *up;		 /* union-find over edges: the root is the smallest */
	uint32_t *mark;		 /* by switch: edge + 1 that leads there from the one at hand */
	uint32_t *count;	 /* by edge that is a root */
	uint32_t *rep;		 /* places in nbr that stand for their classes */

	uint32_t ndims;
	uint32_t class[GRID_DIMS_MAX]; /* root of each dimension */
	uint32_t size[GRID_DIMS_MAX];
	uint32_t *part; /* dimension * nsw + switch: its coordinate */
};

static int hyperx_by_u32(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a > b) - (a < b);
}

static void hyperx_list_neighbours(struct finder *h)
{
	const struct fabric *f = h->f;
	uint32_t n = 0;

	for (uint32_t u = 0; u < f->nsw; u++) {
		uint32_t first = n;

		h->off[u] = n;
		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
			if (f->chan_dst[c] != u)
				h->nbr[n++] = f->chan_dst[c];
		qsort(h->nbr + first, n - first, sizeof(*h->nbr), hyperx_by_u32);
		for (uint32_t k = first, end = n; k < end; k++)
			if (k == h->off[u] || h->nbr[k] != h->nbr[first - 1])
				h->nbr[first++] = h->nbr[k];
		n = first;
	}
	h->off[f->nsw] = n;
}

static uint32_t hyperx_place_of(const struct finder *h, uint32_t u, uint32_t v)
{
	uint32_t lo = h->off[u], hi = h->off[u + 1];

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (h->nbr[mid] < v)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void hyperx_number_edges(struct finder *h)
{
	for (uint32_t u = 0; u < h->f->nsw; u++) {
		for (uint32_t k = h->off[u]; k < h->off[u + 1]; k++) {
			uint32_t v = h->nbr[k];

			if (v < u) {
				h->edge[k] = h->edge[hyperx_place_of(h, v, u)];
				continue;
			}
			h->end_a[h->nedge] = u;
			h->end_b[h->nedge] = v;
			h->up[h->nedge] = h->nedge;
			h->edge[k] = h->nedge++;
		}
	}
}

static void hyperx_mark_neighbours(struct finder *h, uint32_t u, bool set)
{
	for (uint32_t k = h->off[u]; k < h->off[u + 1]; k++)
		h->mark[h->nbr[k]] = set ? h->edge[k] + 1 : 0;
}

/* The three edges of a triangle lie in one line.  True when cancelled. */
static bool hyperx_join_triangles(struct finder *h)
{
	for (uint32_t u = 0; u < h->f->nsw; u++) {
		uint64_t work = 0;

		hyperx_mark_neighbours(h, u, true);
		for (uint32_t k = h->off[u]; k < h->off[u + 1]; k++) {
			uint32_t v = h->nbr[k];

			work += v > u ? h->off[v + 1] - h->off[v] : 0;
			for (uint32_t i = h->off[v]; v > u && i < h->off[v + 1]; i++) {
				uint32_t w = h->nbr[i];

				if (w < v || !h->mark[w])
					continue;
				union_find_join(h->up, h->edge[k], h->edge[i]);
				union_find_join(h->up, h->edge[k], h->mark[w] - 1);
			}
		}
		hyperx_mark_neighbours(h, u, false);
		if (pace_work(&h->pace, work))
			return true;
	}
	return false;
}

/* Opposite edges of the cycles u-v-x-w, where v and w are next to u at places i and k. */
static void hyperx_join_opposite(struct finder *h, uint32_t u, uint32_t i, uint32_t k)
{
	uint32_t w = h->nbr[k];

	for (uint32_t m = h->off[w]; m < h->off[w + 1]; m++) {
		uint32_t x = h->nbr[m];

		if (x == u || !h->mark[x])
			continue;
		union_find_join(h->up, h->edge[i], h->edge[m]);
		union_find_join(h->up, h->edge[k], h->mark[x] - 1);
	}
}

/* All cycles of four through a switch whose edges there are of two classes; of each class at
 * most limit edges are looked at.  True when cancelled. */
static bool hyperx_join_squares(struct finder *h, uint32_t limit)
{
	for (uint32_t u = 0; u < h->f->nsw; u++) {
		uint32_t n = 0;

		for (uint32_t k = h->off[u]; k < h->off[u + 1]; k++)
			if (h->count[union_find_root(h->up, h->edge[k])]++ < limit)
				h->rep[n++] = k;
		for (uint32_t k = h->off[u]; k < h->off[u + 1]; k++)
			h->count[union_find_root(h->up, h->edge[k])] = 0;
		for (uint32_t i = 0; i + 1 < n; i++) {
			uint32_t e = h->edge[h->rep[i]];

			hyperx_mark_neighbours(h, h->nbr[h->rep[i]], true);
			for (uint32_t k = i + 1; k < n; k++) {
				uint32_t w = h->nbr[h->rep[k]];

				pace_work(&h->pace, 2);
				if (union_find_root(h->up, e) ==
				    union_find_root(h->up, h->edge[h->rep[k]]))
					continue;
				hyperx_join_opposite(h, u, h->rep[i], h->rep[k]);
				pace_work(&h->pace, h->off[w + 1] - h->off[w]);
			}
			hyperx_mark_neighbours(h, h->nbr[h->rep[i]], false);
			if (pace_cancelled(&h->pace))
				return true;
		}
	}
	return false;
}

/* The classes that are large enough to be a dimension.  The others are single cables whose
 * neighbours are missing: they get their dimension from the coordinates. */
static int hyperx_pick_classes(struct finder *h, struct err *err)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < h->nedge; e++)
		h->count[union_find_root(h->up, e)]++;
	for (uint32_t e = 0; e < h->nedge; e++) {
		if (4 * (uint64_t)h->count[e] <= h->f->nsw)
			continue;
		if (n < GRID_DIMS_MAX)
			h->class[n] = e;
		n++;
	}
	memset(h->count, 0, h->nedge * sizeof(*h->count));
	h->ndims = n;
	if (!n)
		return err_set(err, -EINVAL,
			       "not a HyperX: its cables form no triangles and "
			       "squares that would join into dimensions");
	if (n > GRID_DIMS_MAX)
		return err_set(err, -EINVAL,
			       "not a HyperX: its cables would form %u dimensions, "
			       "and %d are the most",
			       n, GRID_DIMS_MAX);
	return 0;
}

/* Switches that are joined without the cables of dimension d share its coordinate. */
static void hyperx_split_parts(struct finder *h, uint32_t d, uint32_t *up)
{
	bool dim[GRID_DIMS_MAX] = { false };

	for (uint32_t u = 0; u < h->f->nsw; u++)
		up[u] = u;
	dim[d] = true;
	for (uint32_t e = 0; e < h->nedge; e++) {
		uint32_t root = union_find_root(h->up, e), k = 0;

		while (k < h->ndims && h->class[k] != root)
			k++;
		if (k < h->ndims && !dim[k])
			union_find_join(up, h->end_a[e], h->end_b[e]);
	}
}

struct part {
	uint32_t root, n;
	uint32_t group; /* the part that it belongs to: itself, or a larger one before it */
};

static int hyperx_by_size(const void *x, const void *y)
{
	const struct part *a = x, *b = y;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return (a->root > b->root) - (a->root < b->root);
}

/* cables[k]: cables of dimension d between part i and the parts of group k. */
static void hyperx_count_cables(const struct finder *h, uint32_t d, const uint32_t *of,
				const struct part *p, uint32_t i, uint32_t *cables)
{
	for (uint32_t e = 0; e < h->nedge; e++) {
		uint32_t a = of[h->end_a[e]], b = of[h->end_b[e]];

		if (union_find_root(h->up, e) != h->class[d] || (a == i) == (b == i))
			continue;
		cables[p[a == i ? b : a].group]++;
	}
}

/* Parts that lost all cables to the rest of their like: the first group that they have no
 * cable of dimension d to, and that has room for them. */
static void hyperx_mend_parts(const struct finder *h, uint32_t d, const uint32_t *of,
			      struct part *p, uint32_t n)
{
	uint32_t *cables = xcalloc(n, sizeof(*cables)), *room = xcalloc(n, sizeof(*room));

	for (uint32_t i = 0; i < n; i++) {
		p[i].group = i;
		room[i] = p[0].n - p[i].n;
	}
	for (uint32_t i = 1; i < n; i++) {
		if (p[i].n == p[0].n)
			continue;
		memset(cables, 0, n * sizeof(*cables));
		hyperx_count_cables(h, d, of, p, i, cables);
		for (uint32_t k = 0; k < i; k++) {
			if (p[k].group != k || cables[k] || room[k] < p[i].n)
				continue;
			p[i].group = k;
			room[k] -= p[i].n;
			break;
		}
	}
	free(cables);
	free(room);
}

/* Coordinates in dimension d, numbered by the first switch that has them. */
static void hyperx_find_coord(struct finder *h, uint32_t d)
{
	uint32_t nsw = h->f->nsw, n = 0, *coord = h->part + (size_t)d * nsw;
	uint32_t *up = xcalloc(nsw, sizeof(*up)), *of = xcalloc(nsw, sizeof(*of));
	struct part *p = xcalloc(nsw, sizeof(*p));

	hyperx_split_parts(h, d, up);
	for (uint32_t u = 0; u < nsw; u++) {
		if (union_find_root(up, u) == u) {
			of[u] = n;
			p[n++].root = u;
		}
		p[of[union_find_root(up, u)]].n++;
	}
	qsort(p, n, sizeof(*p), hyperx_by_size);
	for (uint32_t i = 0; i < n; i++)
		of[p[i].root] = i;
	for (uint32_t u = 0; u < nsw; u++)
		of[u] = of[union_find_root(up, u)];
	hyperx_mend_parts(h, d, of, p, n);
	for (uint32_t i = 0; i < n; i++)
		up[i] = FAB_NONE;
	h->size[d] = 0;
	for (uint32_t u = 0; u < nsw; u++) {
		uint32_t group = p[of[u]].group;

		if (up[group] == FAB_NONE)
			up[group] = h->size[d]++;
		coord[u] = up[group];
	}
	free(p);
	free(of);
	free(up);
}

/* Dimensions by size, the largest first, then by the first cable in them. */
static struct grid *hyperx_make_grid(const struct finder *h)
{
	enum grid_kind kind[GRID_DIMS_MAX];
	uint32_t order[GRID_DIMS_MAX], size[GRID_DIMS_MAX];
	struct grid *g;

	for (uint32_t d = 0; d < h->ndims; d++) {
		uint32_t i = d;

		for (; i && h->size[order[i - 1]] < h->size[d]; i--)
			order[i] = order[i - 1];
		order[i] = d;
		kind[d] = GRID_FULL;
	}
	for (uint32_t d = 0; d < h->ndims; d++)
		size[d] = h->size[order[d]];
	g = grid_new(h->f->nsw, h->ndims, size, kind);
	for (uint32_t u = 0; u < g->nsw; u++)
		for (uint32_t d = 0; d < g->ndims; d++)
			g->coord[(size_t)u * g->ndims + d] =
				(uint16_t)h->part[(size_t)order[d] * g->nsw + u];
	return g;
}

static int hyperx_check_size(const struct finder *h, struct err *err)
{
	uint64_t cells = 1;

	for (uint32_t d = 0; d < h->ndims; d++) {
		cells *= h->size[d];
		if (h->size[d] < 2 || 3 * cells > 4 * (uint64_t)h->f->nsw)
			return err_set(err, -EINVAL,
				       "not a HyperX: its %u switches and their "
				       "cables do not fill a grid",
				       h->f->nsw);
	}
	return 0;
}

/* Every switch at a point of its own, every cable along one dimension. */
static int hyperx_place_switches(struct grid *g, const struct finder *h, struct err *err)
{
	char dims[96];

	grid_dims_text(dims, sizeof(dims), g);
	for (uint32_t u = 0; u < g->nsw; u++) {
		uint32_t *at = &g->at[grid_cell(g, grid_coord(g, u))];

		if (*at != FAB_NONE)
			return err_set(err, -EINVAL,
				       "not a HyperX: two switches would sit at one point of a "
				       "grid of %s (%s, %s)",
				       dims, h->f->sw_name[*at], h->f->sw_name[u]);
		*at = u;
	}
	for (uint32_t e = 0; e < h->nedge; e++)
		if (grid_dim(g, h->end_a[e], h->end_b[e]) == FAB_NONE)
			return err_set(err, -EINVAL,
				       "not a HyperX: a cable lies in no dimension of a grid of "
				       "%s (%s - %s)",
				       dims, h->f->sw_name[h->end_a[e]],
				       h->f->sw_name[h->end_b[e]]);
	return 0;
}

/* Pairs of switches that differ in one dimension. */
static uint64_t hyperx_count_pairs(const struct grid *g)
{
	uint64_t pairs = 0;

	for (uint32_t d = 0; d < g->ndims; d++) {
		uint32_t step = 1;

		for (uint32_t i = 0; i < d; i++)
			step *= g->size[i];
		for (uint32_t cell = 0; cell < g->ncell; cell++) {
			uint32_t n = 0;

			if (cell / step % g->size[d])
				continue;
			for (uint32_t i = 0; i < g->size[d]; i++)
				n += g->at[cell + i * step] != FAB_NONE;
			pairs += (uint64_t)n * (n - (n > 0)) / 2;
		}
	}
	return pairs;
}

static int hyperx_check_full(struct grid *g, const struct finder *h, struct err *err)
{
	uint64_t pairs = hyperx_count_pairs(g);
	char dims[96];

	g->missing = (uint32_t)(pairs - h->nedge);
	if (3 * (uint64_t)h->nedge > 2 * pairs)
		return 0;
	return err_set(err, -EINVAL,
		       "not a HyperX: as one of %s it would have %llu pairs of "
		       "neighbours, and only %u are cabled",
		       grid_dims_text(dims, sizeof(dims), g), (unsigned long long)pairs, h->nedge);
}

static int hyperx_try_grid(struct grid **out, struct finder *h, struct err *err)
{
	struct grid *g;
	int rc = hyperx_pick_classes(h, err);

	for (uint32_t d = 0; d < h->ndims && !rc; d++)
		hyperx_find_coord(h, d);
	if (!rc)
		rc = hyperx_check_size(h, err);
	if (rc)
		return rc;
	g = hyperx_make_grid(h);
	rc = hyperx_place_switches(g, h, err);
	if (!rc)
		rc = hyperx_check_full(g, h, err);
	if (rc)
		grid_free(g);
	else
		*out = g;
	return rc;
}

static void hyperx_finder_init(struct finder *h, const struct fabric *f)
{
	*h = (struct finder){ .f = f, .arena = arena_new() };
	h->off = arena_array(h->arena, uint32_t, f->nsw + 1);
	h->nbr = arena_array(h->arena, uint32_t, f->nchan);
	hyperx_list_neighbours(h);
	h->edge = arena_array(h->arena, uint32_t, f->nchan);
	h->end_a = arena_array(h->arena, uint32_t, f->nchan);
	h->end_b = arena_array(h->arena, uint32_t, f->nchan);
	h->up = arena_array(h->arena, uint32_t, f->nchan);
	h->mark = arena_array(h->arena, uint32_t, f->nsw);
	h->count = arena_array(h->arena, uint32_t, f->nchan);
	h->rep = arena_array(h->arena, uint32_t, f->nsw);
	h->part = arena_array(h->arena, uint32_t, (size_t)f->nsw * GRID_DIMS_MAX);
	hyperx_number_edges(h);
}

/* Few squares are enough where no cables are missing. */
static int hyperx_do_find(struct grid **out, struct finder *h, struct err *err)
{
	int rc;

	if (hyperx_join_triangles(h) || hyperx_join_squares(h, 2))
		return -ECANCELED;
	rc = hyperx_try_grid(out, h, NULL);
	if (!rc)
		return 0;
	pace_work(&h->pace, h->pace.work_max);
	return hyperx_join_squares(h, UINT32_MAX) ? -ECANCELED : hyperx_try_grid(out, h, err);
}

int hyperx_find(struct grid **out, const struct fabric *f, struct progress *progress,
		struct err *err)
{
	struct finder h;
	int rc;

	if (!fabric_connected(f))
		return err_set(err, -ENETUNREACH,
			       "not a HyperX: its switches are not all connected");
	if (f->nsw == 1) {
		*out = grid_new(1, 0, NULL, NULL);
		(*out)->at[0] = 0;
		return 0;
	}
	hyperx_finder_init(&h, f);
	if (pace_begin(&h.pace, progress, "grid", 1))
		rc = -ECANCELED;
	else
		rc = hyperx_do_find(out, &h, err);
	arena_free(h.arena);
	return rc == -ECANCELED ? err_set(err, rc, "cancelled while looking for a grid") : rc;
}
