/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/geometry/grid/grid_squares.h"

#include "engines/geometry/grid/grid_steps.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIMS GRID_DIMS_MAX

/* The layers next to one, two at most; false: there are more. */
static bool grid_squares_beside(uint32_t side[2], const struct grid_steps *q, uint32_t layer)
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

/* Numbers the layers of a dimension in at (by layer); 0: they are no line and no ring, as bad is
 * beside more than two or out of reach. */
static uint32_t grid_squares_order_dim(uint32_t *at, const struct grid_steps *q, uint32_t dim,
				       uint32_t *bad)
{
	uint32_t from = FAB_NONE, all = 0, n = 0, last = FAB_NONE, side[2];

	for (uint32_t k = 0; k < q->nstep; k++) {
		if (q->layer[k] != k || q->dim[k] != dim)
			continue;
		all++;
		*bad = k;
		if (!grid_squares_beside(side, q, k))
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

		grid_squares_beside(side, q, from);
		next = side[0] == last ? side[1] : side[0];
		if (last == FAB_NONE && side[1] != FAB_NONE)
			next = side[0] < side[1] ? side[0] : side[1];
		at[from] = n++;
		last = from;
		from = next;
	}
	for (uint32_t k = 0; k < q->nstep; k++)
		if (q->layer[k] == k && q->dim[k] == dim && at[k] == FAB_NONE)
			*bad = k;
	return n == all ? n : 0;
}

static bool grid_squares_is_placed(const struct grid_layout *l, const uint16_t *x)
{
	uint32_t d = 0;

	while (d < l->ndim && x[d] != UINT16_MAX)
		d++;
	return d == l->ndim;
}

/* Nobody is at that point, and all neighbours of the switch that are placed are beside it. */
static bool grid_squares_may_be_at(const struct grid_layout *l, const struct fabric *f, uint32_t sw,
				   const uint16_t *to)
{
	for (uint32_t u = 0; u < f->nsw; u++)
		if (!memcmp(&l->coord[(size_t)u * DIMS], to, l->ndim * sizeof(*to)))
			return false;
	for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++) {
		const uint16_t *y = &l->coord[(size_t)f->chan_dst[c] * DIMS];
		int apart = 0;

		for (uint32_t d = 0; d < l->ndim; d++)
			apart += abs(to[d] - y[d]);
		if (grid_squares_is_placed(l, y) && apart != 1)
			return false;
	}
	return true;
}

/* A switch that is on no square goes to the only free point beside its neighbours. */
static bool grid_squares_place_between(struct grid_layout *l, const struct fabric *f, uint32_t sw)
{
	uint16_t to[DIMS], only[DIMS];
	uint32_t c = f->chan_off[sw], n = 0;

	while (c < f->chan_off[sw + 1] &&
	       !grid_squares_is_placed(l, &l->coord[(size_t)f->chan_dst[c] * DIMS]))
		c++;
	for (uint32_t k = 0; c < f->chan_off[sw + 1] && k < 2 * l->ndim; k++) {
		memcpy(to, &l->coord[(size_t)f->chan_dst[c] * DIMS], sizeof(to));
		to[k / 2] = (uint16_t)(to[k / 2] + (k % 2 ? 1 : -1));
		if (to[k / 2] >= l->dim[k / 2] || !grid_squares_may_be_at(l, f, sw, to))
			continue;
		memcpy(only, to, sizeof(only));
		n++;
	}
	if (n == 1)
		memcpy(&l->coord[(size_t)sw * DIMS], only, l->ndim * sizeof(*only));
	return n == 1;
}

/* The same for all; returns how many have no place. */
static uint32_t grid_squares_place_rest(struct grid_layout *l, const struct fabric *f)
{
	uint32_t left, before = UINT32_MAX;

	for (left = UINT32_MAX - 1; left && left < before;) {
		before = left;
		left = 0;
		for (uint32_t sw = 0; sw < f->nsw; sw++)
			left += !grid_squares_is_placed(l, &l->coord[(size_t)sw * DIMS]) &&
				!grid_squares_place_between(l, f, sw);
	}
	return left;
}

/* By the steps that begin at it; what these do not say its neighbours do. */
static int grid_squares_place(struct grid_layout *l, const struct grid_steps *q,
			      const uint32_t *number, const uint32_t *at, struct err *err)
{
	const struct fabric *f = q->f;
	uint32_t left, before = UINT32_MAX;

	memset(l->coord, 0xff, (size_t)f->nsw * DIMS * sizeof(*l->coord));
	for (uint32_t c = 0; c < f->nchan; c++)
		if (q->step[c] != FAB_NONE)
			l->coord[(size_t)f->chan_src[c] * DIMS + number[q->dim[q->step[c]]]] =
				(uint16_t)at[q->layer[q->step[c]]];
	for (left = UINT32_MAX - 1; left && left < before;) {
		before = left;
		left = 0;
		for (uint32_t sw = 0; sw < f->nsw; sw++)
			for (uint32_t d = 0; d < l->ndim; d++) {
				uint16_t *x = &l->coord[(size_t)sw * DIMS + d];

				for (uint32_t c = f->chan_off[sw];
				     *x == UINT16_MAX && c < f->chan_off[sw + 1]; c++)
					if (q->step[c] != FAB_NONE)
						*x = l->coord[(size_t)f->chan_dst[c] * DIMS + d];
				left += *x == UINT16_MAX;
			}
	}
	if (left && q->mend)
		left = grid_squares_place_rest(l, f);
	for (uint32_t sw = 0; sw < f->nsw && left; sw++)
		if (!grid_squares_is_placed(l, &l->coord[(size_t)sw * DIMS]))
			return err_set(err, -EINVAL,
				       "too many cables are missing: a switch could be in several "
				       "places (%s)",
				       f->sw_name[sw]);
	return 0;
}

static int grid_squares_refuse_layer(const struct grid_steps *q, uint32_t layer, struct err *err)
{
	const struct fabric *f = q->f;
	uint32_t c = 0;

	while (q->step[c] == FAB_NONE || q->layer[q->step[c]] != layer)
		c++;
	return err_set(err, -EINVAL,
		       "its cables do not fall into rings or lines; some may be missing (at %s, or "
		       "next to it)",
		       f->sw_name[f->chan_src[c]]);
}

static int grid_squares_place_by_layers(struct grid_layout *l, const struct grid_steps *q,
					struct err *err)
{
	uint32_t *at = xcalloc(q->nstep, sizeof(*at));
	uint32_t *number = xcalloc(q->nstep, sizeof(*number)), bad = 0;
	int rc = 0;

	memset(at, 0xff, q->nstep * sizeof(*at));
	for (uint32_t k = 0; k < q->nstep && !rc; k++) {
		if (q->dim[k] != k)
			continue;
		if (l->ndim == DIMS) {
			rc = err_set(err, -EINVAL, "it would have more than %d dimensions", DIMS);
			break;
		}
		number[k] = l->ndim;
		l->dim[l->ndim++] = grid_squares_order_dim(at, q, k, &bad);
		if (!l->dim[number[k]])
			rc = grid_squares_refuse_layer(q, bad, err);
	}
	if (!rc)
		rc = grid_squares_place(l, q, number, at, err);
	free(number);
	free(at);
	return rc;
}

int grid_squares_read(struct grid_layout *l, const struct fabric *f, bool mend, struct err *err)
{
	struct grid_steps q;
	int rc = grid_steps_find(&q, f, mend, err);

	l->ndim = 0;
	if (!rc)
		rc = grid_squares_place_by_layers(l, &q, err);
	grid_steps_free(&q);
	return rc;
}
