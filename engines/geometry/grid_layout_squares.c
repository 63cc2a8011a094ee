/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps: channels that are opposite sides of squares go the same way in the same place of a
 * dimension, "from 3 to 4 in x".  Ends of two steps are the same layer when they meet at switches
 * and never span a square; the steps of a dimension then order its layers, and the channels of a
 * switch tell its coordinates.
 */
#include "engines/geometry/grid_layout_priv.h"

#include "fabric/base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 1024

struct squares {
	const struct fabric *f;
	uint32_t *first; /* by channel: the first one that is parallel */
	uint32_t *step;	 /* by channel: union-find, then the number of its step or FAB_NONE */
	uint32_t *near;	 /* by switch: channel there from the switch at hand */
	uint32_t *mids;	 /* by switch: ways of two hops there */
	uint32_t *mid;	 /* by switch: two channels each of two ways */
	uint32_t *far;
	uint32_t nfar;
	uint32_t nstep;
	uint32_t *size, *back; /* of a step: channels; the same the other way */
	uint32_t *meet, *span; /* nstep * nstep: at switches; with a square */
	uint32_t *layer;       /* by step: where it begins */
	uint32_t *dim;	       /* by step */
};

static uint32_t grid_layout_squares_root(uint32_t *of, uint32_t i)
{
	while (of[i] != i)
		i = of[i] = of[of[i]];
	return i;
}

static void grid_layout_unite(uint32_t *of, uint32_t a, uint32_t b)
{
	a = grid_layout_squares_root(of, a);
	b = grid_layout_squares_root(of, b);
	of[a > b ? a : b] = a < b ? a : b;
}

static void grid_layout_find_first(struct squares *q)
{
	const struct fabric *f = q->f;

	for (uint32_t u = 0; u < f->nsw; u++) {
		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			uint32_t *near = &q->near[f->chan_dst[c]];

			*near = *near == FAB_NONE ? c : *near;
			q->first[c] = *near;
		}
		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
			q->near[f->chan_dst[c]] = FAB_NONE;
	}
}

/* The switches two hops from u, with the one or two ways there; the next call or
 * grid_layout_leave() takes them back. */
static int grid_layout_look(struct squares *q, uint32_t u, struct err *err)
{
	const struct fabric *f = q->f;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
		q->near[f->chan_dst[c]] = c;
	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
		uint32_t v = f->chan_dst[c];

		for (uint32_t e = f->chan_off[v]; q->first[c] == c && e < f->chan_off[v + 1]; e++) {
			uint32_t w = f->chan_dst[e];

			if (w == u || q->first[e] != e || q->near[w] != FAB_NONE)
				continue;
			if (q->mids[w] == 2)
				return err_set(err, -EINVAL,
					       "%s and %s have over two common neighbours",
					       f->sw_name[u], f->sw_name[w]);
			if (!q->mids[w])
				q->far[q->nfar++] = w;
			q->mid[4 * w + 2 * q->mids[w]] = c;
			q->mid[4 * w + 2 * q->mids[w]++ + 1] = e;
		}
	}
	return 0;
}

static void grid_layout_leave(struct squares *q, uint32_t u)
{
	const struct fabric *f = q->f;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
		q->near[f->chan_dst[c]] = FAB_NONE;
	while (q->nfar)
		q->mids[q->far[--q->nfar]] = 0;
}

static int grid_layout_join_sides(struct squares *q, struct err *err)
{
	const struct fabric *f = q->f;
	int rc = 0;

	for (uint32_t c = 0; c < f->nchan; c++)
		q->step[c] = c;
	for (uint32_t u = 0; u < f->nsw && !rc; u++) {
		rc = grid_layout_look(q, u, err);
		for (uint32_t i = 0; i < q->nfar && !rc; i++) {
			uint32_t *m = q->mid + 4 * (size_t)q->far[i];

			if (q->mids[q->far[i]] != 2)
				continue;
			grid_layout_unite(q->step, m[0], m[3]);
			grid_layout_unite(q->step, m[2], m[1]);
		}
		grid_layout_leave(q, u);
	}
	return rc;
}

/* Numbers the steps; a channel on no square is in none. */
static int grid_layout_number_steps(struct squares *q, struct err *err)
{
	const struct fabric *f = q->f;
	uint32_t *count = xcalloc(f->nchan + 1u, sizeof(*count));
	uint32_t *number = xcalloc(f->nchan + 1u, sizeof(*number));

	for (uint32_t c = 0; c < f->nchan; c++)
		count[grid_layout_squares_root(q->step, c)] += q->first[c] == c;
	for (uint32_t c = 0; c < f->nchan; c++)
		number[c] = q->step[c] == c && count[c] > 1 ? q->nstep++ : FAB_NONE;
	q->size = xcalloc(q->nstep + 1u, sizeof(*q->size));
	q->back = xcalloc(q->nstep + 1u, sizeof(*q->back));
	for (uint32_t c = 0; c < f->nchan; c++)
		if (number[c] != FAB_NONE)
			q->size[number[c]] = count[c];
	for (uint32_t c = 0; c < f->nchan; c++)
		count[c] = number[grid_layout_squares_root(q->step, q->first[c])];
	memcpy(q->step, count, f->nchan * sizeof(*count));
	for (uint32_t c = 0; c < f->nchan; c++)
		if (q->step[c] != FAB_NONE)
			q->back[q->step[c]] = q->step[f->chan_rev[c]];
	free(number);
	free(count);
	if (!q->nstep || q->nstep > STEPS_MAX)
		return err_set(err, -EINVAL, "its cables form no squares that go on and on");
	return 0;
}

static void grid_layout_count_meetings(struct squares *q)
{
	const struct fabric *f = q->f;

	q->meet = xcalloc((size_t)q->nstep * q->nstep, sizeof(*q->meet));
	q->span = xcalloc((size_t)q->nstep * q->nstep, sizeof(*q->span));
	for (uint32_t u = 0; u < f->nsw; u++) {
		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
			for (uint32_t e = f->chan_off[u]; e < f->chan_off[u + 1]; e++)
				if (q->first[c] == c && q->first[e] == e && c != e &&
				    q->step[c] != FAB_NONE && q->step[e] != FAB_NONE)
					q->meet[q->step[c] * q->nstep + q->step[e]]++;
		grid_layout_look(q, u, NULL);
		for (uint32_t i = 0; i < q->nfar; i++) {
			uint32_t *m = q->mid + 4 * (size_t)q->far[i], a, b;

			if (q->mids[q->far[i]] != 2)
				continue;
			a = q->step[m[0]];
			b = q->step[m[2]];
			q->span[a * q->nstep + b]++;
			q->span[b * q->nstep + a]++;
		}
		grid_layout_leave(q, u);
	}
}

/* Steps that begin in the same layer of the same dimension. */
static bool grid_layout_same_layer(const struct squares *q, uint32_t a, uint32_t b)
{
	size_t at = (size_t)a * q->nstep + b;
	uint32_t least = q->size[a] < q->size[b] ? q->size[a] : q->size[b];

	return !q->span[at] && q->meet[at] * 2 > least;
}

static void grid_layout_squares_find_layers(struct squares *q)
{
	q->layer = xcalloc(q->nstep, sizeof(*q->layer));
	q->dim = xcalloc(q->nstep, sizeof(*q->dim));
	for (uint32_t a = 0; a < q->nstep; a++)
		q->layer[a] = q->dim[a] = a;
	for (uint32_t a = 0; a < q->nstep; a++) {
		grid_layout_unite(q->dim, a, q->back[a]);
		for (uint32_t b = 0; b < a; b++)
			if (grid_layout_same_layer(q, a, b)) {
				grid_layout_unite(q->layer, a, b);
				grid_layout_unite(q->dim, a, b);
			}
	}
	for (uint32_t a = 0; a < q->nstep; a++) {
		q->layer[a] = grid_layout_squares_root(q->layer, a);
		q->dim[a] = grid_layout_squares_root(q->dim, a);
	}
}

/* The layers next to one, two at most; false: there are more. */
static bool grid_layout_beside(uint32_t side[2], const struct squares *q, uint32_t layer)
{
	side[0] = side[1] = FAB_NONE;
	for (uint32_t a = 0; a < q->nstep; a++) {
		uint32_t to = q->layer[q->back[a]];

		if (q->layer[a] != layer || to == side[0] || to == side[1])
			continue;
		if (to == layer || side[1] != FAB_NONE)
			return false;
		side[side[0] == FAB_NONE ? 0 : 1] = to;
	}
	return true;
}

/* Numbers the layers of a dimension in at (by layer); 0: they are no line and no ring. */
static uint32_t grid_layout_order_dim(uint32_t *at, const struct squares *q, uint32_t dim)
{
	uint32_t from = FAB_NONE, all = 0, n = 0, last = FAB_NONE, side[2];

	for (uint32_t k = 0; k < q->nstep; k++) {
		if (q->layer[k] != k || q->dim[k] != dim)
			continue;
		all++;
		if (!grid_layout_beside(side, q, k))
			return 0;
		if (from == FAB_NONE)
			from = k;
		/* a line begins at the first of its ends */
		if (side[1] == FAB_NONE && last == FAB_NONE)
			last = from = k;
	}
	last = FAB_NONE;
	while (from != FAB_NONE && at[from] == FAB_NONE) {
		uint32_t next;

		grid_layout_beside(side, q, from);
		next = side[0] == last ? side[1] : side[0];
		if (last == FAB_NONE && side[1] != FAB_NONE)
			next = side[0] < side[1] ? side[0] : side[1];
		at[from] = n++;
		last = from;
		from = next;
	}
	return n == all ? n : 0;
}

/* By the steps that begin at it; what these do not say its neighbours do. */
static int grid_layout_place(struct grid_layout *l, const struct squares *q, const uint32_t *number,
			     const uint32_t *at, struct err *err)
{
	const struct fabric *f = q->f;
	uint32_t left, before = UINT32_MAX;

	memset(l->coord, 0xff, (size_t)f->nsw * GRID_LAYOUT_DIMS * sizeof(*l->coord));
	for (uint32_t c = 0; c < f->nchan; c++)
		if (q->step[c] != FAB_NONE)
			l->coord[(size_t)f->chan_src[c] * GRID_LAYOUT_DIMS +
				 number[q->dim[q->step[c]]]] = (uint16_t)at[q->layer[q->step[c]]];
	for (left = UINT32_MAX - 1; left && left < before;) {
		before = left;
		left = 0;
		for (uint32_t sw = 0; sw < f->nsw; sw++)
			for (uint32_t d = 0; d < l->ndim; d++) {
				uint16_t *x = &l->coord[(size_t)sw * GRID_LAYOUT_DIMS + d];

				for (uint32_t c = f->chan_off[sw];
				     *x == UINT16_MAX && c < f->chan_off[sw + 1]; c++)
					if (q->step[c] != FAB_NONE)
						*x = l->coord[(size_t)f->chan_dst[c] *
								      GRID_LAYOUT_DIMS +
							      d];
				left += *x == UINT16_MAX;
			}
	}
	return left ? err_set(err, -EINVAL, "too many cables are missing to place all switches")
		    : 0;
}

static int grid_layout_place_by_layers(struct grid_layout *l, const struct squares *q,
				       struct err *err)
{
	uint32_t *at = xcalloc(q->nstep, sizeof(*at));
	uint32_t *number = xcalloc(q->nstep, sizeof(*number));
	int rc = 0;

	memset(at, 0xff, q->nstep * sizeof(*at));
	for (uint32_t k = 0; k < q->nstep && !rc; k++) {
		if (q->dim[k] != k)
			continue;
		if (l->ndim == GRID_LAYOUT_DIMS) {
			rc = err_set(err, -EINVAL, "it would have more than %d dimensions",
				     GRID_LAYOUT_DIMS);
			break;
		}
		number[k] = l->ndim;
		l->dim[l->ndim++] = grid_layout_order_dim(at, q, k);
		if (!l->dim[number[k]])
			rc = err_set(err, -EINVAL, "its cables do not fall into rings or lines");
	}
	if (!rc)
		rc = grid_layout_place(l, q, number, at, err);
	free(number);
	free(at);
	return rc;
}

int grid_layout_from_squares(struct grid_layout *l, const struct fabric *f, struct err *err)
{
	struct squares q = { .f = f };
	int rc;

	q.first = xcalloc(f->nchan + 1u, sizeof(*q.first));
	q.step = xcalloc(f->nchan + 1u, sizeof(*q.step));
	q.near = xcalloc(f->nsw, sizeof(*q.near));
	memset(q.near, 0xff, f->nsw * sizeof(*q.near));
	q.mids = xcalloc(f->nsw, sizeof(*q.mids));
	q.mid = xcalloc(4 * (size_t)f->nsw, sizeof(*q.mid));
	q.far = xcalloc(f->nsw, sizeof(*q.far));
	l->ndim = 0;
	grid_layout_find_first(&q);
	rc = grid_layout_join_sides(&q, err);
	if (!rc)
		rc = grid_layout_number_steps(&q, err);
	if (!rc) {
		grid_layout_count_meetings(&q);
		grid_layout_squares_find_layers(&q);
		rc = grid_layout_place_by_layers(l, &q, err);
	}
	free(q.first);
	free(q.step);
	free(q.near);
	free(q.mids);
	free(q.mid);
	free(q.far);
	free(q.size);
	free(q.back);
	free(q.meet);
	free(q.span);
	free(q.layer);
	free(q.dim);
	return rc;
}
