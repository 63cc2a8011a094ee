/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grid_layout: a grid while it is being found: coordinates that somebody proposes, and whether the
 * cables agree. */
#pragma once

#include "engines/geometry/grid/grid.h"
#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct grid_layout {
	uint32_t ndim;
	uint32_t dim[GRID_DIMS_MAX];
	bool ring[GRID_DIMS_MAX]; /* the last is next to the first */
	uint16_t *coord;	  /* nsw * GRID_DIMS_MAX; the caller's */
	uint32_t missing;	  /* neighbours without a cable */
	uint32_t holes;		  /* points without a switch */
	enum grid_from from;
};

/* Larger dimensions first; equals as they were. */
void grid_layout_sort_dims(struct grid_layout *l, const struct fabric *f);
/* A switch at most at every point, neighbours at the ends of every cable; counts what is missing.
 * Rings that no cable closes become lines.  -EINVAL with what is in the way. */
int grid_layout_check(struct grid_layout *l, const struct fabric *f, struct err *err);
/* Of one that was checked; grid_free(). */
struct grid *grid_layout_to_grid(const struct grid_layout *l, const struct fabric *f);
