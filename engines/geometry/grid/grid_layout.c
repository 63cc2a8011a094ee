/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/geometry/grid/grid_layout.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOLES_PCT   10 /* of the points may be without a switch */
#define MISSING_PCT 20 /* of the cables may be missing */
#define DIMS	    GRID_DIMS_MAX

void grid_layout_sort_dims(struct grid_layout *l, const struct fabric *f)
{
	for (uint32_t i = 1; i < l->ndim; i++)
		for (uint32_t k = i; k > 0 && l->dim[k - 1] < l->dim[k]; k--) {
			uint32_t dim = l->dim[k];
			bool ring = l->ring[k];

			l->dim[k] = l->dim[k - 1];
			l->dim[k - 1] = dim;
			l->ring[k] = l->ring[k - 1];
			l->ring[k - 1] = ring;
			for (uint32_t sw = 0; sw < f->nsw; sw++) {
				uint16_t *x = &l->coord[(size_t)sw * DIMS], at = x[k];

				x[k] = x[k - 1];
				x[k - 1] = at;
			}
		}
}

static uint64_t grid_layout_cell_of(const struct grid_layout *l, const uint16_t *at)
{
	uint64_t cell = 0;

	for (uint32_t d = l->ndim; d-- > 0;)
		cell = cell * l->dim[d] + at[d];
	return cell;
}

/* The dimension that a cable is in; FAB_NONE: its ends are no neighbours. */
static uint32_t grid_layout_cable_dim(const struct grid_layout *l, uint32_t a, uint32_t b)
{
	const uint16_t *x = &l->coord[(size_t)a * DIMS];
	const uint16_t *y = &l->coord[(size_t)b * DIMS];
	uint32_t dim = FAB_NONE;

	for (uint32_t d = 0; d < l->ndim; d++) {
		int apart = abs(x[d] - y[d]);

		if (!apart)
			continue;
		if (dim != FAB_NONE || (apart != 1 && apart + 1 != (int)l->dim[d]))
			return FAB_NONE;
		dim = d;
	}
	return dim;
}

static int grid_layout_place_all(uint32_t *at, uint64_t ncell, const struct grid_layout *l,
				 const struct fabric *f, struct err *err)
{
	memset(at, 0xff, ncell * sizeof(*at));
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t *cell = &at[grid_layout_cell_of(l, &l->coord[(size_t)sw * DIMS])];

		if (*cell != FAB_NONE)
			return err_set(err, -EINVAL,
				       "two switches get the same coordinates (%s, %s)",
				       f->sw_name[*cell], f->sw_name[sw]);
		*cell = sw;
	}
	return 0;
}

static int grid_layout_check_cables(struct grid_layout *l, const struct fabric *f, struct err *err)
{
	memset(l->ring, 0, sizeof(l->ring));
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t a = f->chan_src[c], b = f->chan_dst[c], d = grid_layout_cable_dim(l, a, b);
		const uint16_t *x, *y;

		if (d == FAB_NONE)
			return err_set(err, -EINVAL, "a cable joins no neighbours (%s - %s)",
				       f->sw_name[a], f->sw_name[b]);
		x = &l->coord[(size_t)a * DIMS];
		y = &l->coord[(size_t)b * DIMS];
		if (l->dim[d] > 2 && abs(x[d] - y[d]) + 1 == (int)l->dim[d])
			l->ring[d] = true;
	}
	return 0;
}

static bool grid_layout_adjacent(const struct fabric *f, uint32_t a, uint32_t b)
{
	for (uint32_t c = f->chan_off[a]; c < f->chan_off[a + 1]; c++)
		if (f->chan_dst[c] == b)
			return true;
	return false;
}

/* Neighbours in places without a cable; all gets how many neighbours there are. */
static uint32_t grid_layout_count_missing(const struct grid_layout *l, const struct fabric *f,
					  const uint32_t *at, uint32_t *all)
{
	uint32_t missing = 0;

	*all = 0;
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		const uint16_t *x = &l->coord[(size_t)sw * DIMS];

		for (uint32_t d = 0; d < l->ndim; d++) {
			uint16_t to[DIMS];
			uint32_t next;

			if (x[d] + 1u == l->dim[d] && !l->ring[d])
				continue;
			memcpy(to, x, sizeof(to));
			to[d] = (uint16_t)((x[d] + 1u) % l->dim[d]);
			next = at[grid_layout_cell_of(l, to)];
			if (next == FAB_NONE)
				continue;
			++*all;
			missing += !grid_layout_adjacent(f, sw, next);
		}
	}
	return missing;
}

int grid_layout_check(struct grid_layout *l, const struct fabric *f, struct err *err)
{
	uint64_t ncell = 1;
	uint32_t *at, all = 0;
	int rc;

	for (uint32_t d = 0; d < l->ndim && ncell <= 2ull * f->nsw; d++)
		ncell *= l->dim[d];
	if (l->ndim < 2 || ncell < f->nsw || (ncell - f->nsw) * 100 > ncell * HOLES_PCT)
		return err_set(err, -EINVAL,
			       "its %u switches do not fill a grid of the dimensions found",
			       f->nsw);
	at = xcalloc(ncell, sizeof(*at));
	rc = grid_layout_place_all(at, ncell, l, f, err);
	if (!rc)
		rc = grid_layout_check_cables(l, f, err);
	if (!rc) {
		l->holes = (uint32_t)ncell - f->nsw;
		l->missing = grid_layout_count_missing(l, f, at, &all);
		if (l->missing * 100ull > all * (uint64_t)MISSING_PCT)
			rc = err_set(err, -EINVAL, "%u of %u cables of a grid are missing",
				     l->missing, all);
	}
	free(at);
	return rc;
}

static enum grid_kind grid_layout_kind(const struct grid_layout *l, uint32_t d)
{
	if (l->dim[d] == 2 || (l->dim[d] == 3 && l->ring[d]))
		return GRID_FULL;
	return l->ring[d] ? GRID_RING : GRID_LINE;
}

struct grid *grid_layout_to_grid(const struct grid_layout *l, const struct fabric *f)
{
	enum grid_kind kind[DIMS];
	struct grid *g;

	for (uint32_t d = 0; d < l->ndim; d++)
		kind[d] = grid_layout_kind(l, d);
	g = grid_new(f->nsw, l->ndim, l->dim, kind);
	g->missing = l->missing;
	g->from = l->from;
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		memcpy(g->coord + (size_t)sw * l->ndim, &l->coord[(size_t)sw * DIMS],
		       l->ndim * sizeof(*g->coord));
		g->at[grid_cell(g, grid_coord(g, sw))] = sw;
	}
	return g;
}
