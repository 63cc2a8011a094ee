/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/geometry/grid/grid_find.h"

#include "engines/geometry/grid/grid_layout.h"
#include "engines/geometry/grid/grid_names.h"
#include "engines/geometry/grid/grid_ports.h"
#include "engines/geometry/grid/grid_rings.h"
#include "engines/geometry/grid/grid_squares.h"
#include "engines/geometry/grid/torus.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define DIMS GRID_DIMS_MAX

/* All cables are there: as the engines see it. */
static bool grid_find_from_torus(struct grid_layout *l, const struct fabric *f)
{
	struct grid *g = NULL;

	if (torus_find(&g, f, NULL))
		return false;
	l->ndim = g->ndims;
	for (uint32_t d = 0; d < g->ndims; d++)
		l->dim[d] = g->size[d];
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t d = 0; d < g->ndims; d++)
			l->coord[(size_t)sw * DIMS + d] = grid_coord(g, sw)[d];
	grid_free(g);
	return true;
}

static int grid_find_from_cables(struct grid_layout *l, const struct fabric *f, bool mend,
				 struct err *err)
{
	struct err none;
	int rc = !mend && grid_find_from_torus(l, f) ? grid_layout_check(l, f, &none) : -EINVAL;

	l->from = GRID_FROM_CABLES;
	if (rc) {
		rc = grid_squares_read(l, f, mend, err);
		if (!rc)
			rc = grid_layout_check(l, f, err);
	}
	if (rc)
		return rc;
	grid_rings_join(l, f);
	return grid_layout_check(l, f, err);
}

static int grid_find_from_ports(struct grid_layout *l, const struct fabric *f)
{
	struct err none;
	int rc;

	l->from = GRID_FROM_PORTS;
	rc = grid_ports_read(l, f, &none);
	if (rc)
		return rc;
	grid_layout_sort_dims(l, f);
	return grid_layout_check(l, f, &none);
}

int grid_find(struct grid **out, const struct fabric *f, struct err *err)
{
	struct grid_layout l = { .from = GRID_FROM_NAMES,
				 .coord = xcalloc((size_t)f->nsw * DIMS, sizeof(*l.coord)) };
	struct err none;
	int rc;

	rc = grid_names_read(&l, f, &none);
	if (!rc)
		rc = grid_layout_check(&l, f, &none);
	if (rc)
		rc = grid_find_from_cables(&l, f, false, &none);
	if (rc)
		rc = grid_find_from_ports(&l, f);
	if (rc)
		rc = grid_find_from_cables(&l, f, true, err);
	if (!rc)
		*out = grid_layout_to_grid(&l, f);
	free(l.coord);
	return rc;
}
