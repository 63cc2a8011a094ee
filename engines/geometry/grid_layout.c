/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/geometry/grid_layout.h"

#include "engines/geometry/grid_layout_priv.h"
#include "engines/geometry/torus.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOLES_PCT   10 /* of the points may be without a switch */
#define MISSING_PCT 20 /* of the cables may be missing */

struct grid_layout *grid_layout_new(const struct fabric *f)
{
	struct grid_layout *l = xcalloc(1, sizeof(*l));

	l->coord = xcalloc((size_t)f->nsw * GRID_LAYOUT_DIMS, sizeof(*l->coord));
	return l;
}

void grid_layout_free(struct grid_layout *l)
{
	if (!l)
		return;
	free(l->coord);
	free(l);
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
	const uint16_t *x = &l->coord[(size_t)a * GRID_LAYOUT_DIMS];
	const uint16_t *y = &l->coord[(size_t)b * GRID_LAYOUT_DIMS];
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
		uint32_t *cell =
			&at[grid_layout_cell_of(l, &l->coord[(size_t)sw * GRID_LAYOUT_DIMS])];

		if (*cell != FAB_NONE)
			return err_set(err, -EINVAL, "switches %s and %s get the same place",
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
			return err_set(err, -EINVAL, "the cable from %s to %s joins no neighbours",
				       f->sw_name[a], f->sw_name[b]);
		x = &l->coord[(size_t)a * GRID_LAYOUT_DIMS];
		y = &l->coord[(size_t)b * GRID_LAYOUT_DIMS];
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
		const uint16_t *x = &l->coord[(size_t)sw * GRID_LAYOUT_DIMS];

		for (uint32_t d = 0; d < l->ndim; d++) {
			uint16_t to[GRID_LAYOUT_DIMS];
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

/* All cables are there: as the engines see it. */
static bool grid_layout_from_torus(struct grid_layout *l, const struct fabric *f)
{
	struct grid *g = NULL;

	if (torus_find(&g, f, NULL))
		return false;
	l->ndim = g->ndims;
	for (uint32_t d = 0; d < g->ndims; d++)
		l->dim[d] = g->size[d];
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t d = 0; d < g->ndims; d++)
			l->coord[(size_t)sw * GRID_LAYOUT_DIMS + d] = grid_coord(g, sw)[d];
	grid_free(g);
	return true;
}

static int grid_layout_from_cables(struct grid_layout *l, const struct fabric *f, struct err *err)
{
	struct err none;
	int rc = grid_layout_from_torus(l, f) ? grid_layout_check(l, f, &none) : -EINVAL;

	l->from = GRID_LAYOUT_CABLES;
	if (rc) {
		rc = grid_layout_from_squares(l, f, err);
		if (!rc)
			rc = grid_layout_check(l, f, err);
	}
	if (rc)
		return rc;
	grid_layout_join_rings(l, f);
	return grid_layout_check(l, f, err);
}

static int grid_layout_from_steps(struct grid_layout *l, const struct fabric *f)
{
	struct err none;
	int rc;

	l->from = GRID_LAYOUT_STEPS;
	rc = grid_layout_from_ports(l, f, &none);
	if (rc)
		return rc;
	grid_layout_sort_dims(l, f);
	return grid_layout_check(l, f, &none);
}

int grid_layout_find(struct grid_layout **out, const struct fabric *f, struct err *err)
{
	struct grid_layout *l = grid_layout_new(f);
	struct err none;
	int rc;

	l->from = GRID_LAYOUT_NAMES;
	rc = grid_layout_from_names(l, f, &none);
	if (!rc)
		rc = grid_layout_check(l, f, &none);
	if (rc)
		rc = grid_layout_from_cables(l, f, err);
	if (rc)
		rc = grid_layout_from_steps(l, f);
	if (rc)
		grid_layout_free(l);
	else
		*out = l;
	return rc;
}
