/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lattice: a torus or mesh of which cables and switches may be missing, and how sure its
 * coordinates are.
 *
 * Names are asked first: where the numbers in them are coordinates, every cable joins neighbours
 * by these numbers.  Else opposite sides of squares of cables lie in the same step of the same
 * dimension, and a missing cable only takes squares away (compare engines/geometry/torus.h, which
 * wants all of them).  Where too many are missing for that, as they soon are in two dimensions, the
 * cables of a dimension are taken to be in the same ports of every switch; that every cable joins
 * neighbours then is checked, as with names.  A ring of four is the same graph as two dimensions of
 * two: these are joined, by the ports that their cables are in.
 */
#ifndef ENGINES_GEOMETRY_GRID_LAYOUT_H
#define ENGINES_GEOMETRY_GRID_LAYOUT_H

#include "fabric/base/err.h"
#include "fabric/model/fabric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRID_LAYOUT_DIMS 16

enum grid_layout_from {
	GRID_LAYOUT_CABLES, /* no other reading of the cables */
	GRID_LAYOUT_NAMES,
	GRID_LAYOUT_PORTS, /* rings of four by the ports of their cables */
	GRID_LAYOUT_STEPS, /* dimensions by the ports of their cables */
	GRID_LAYOUT_ANY,   /* rings of four by chance: other pairs would do as well */
};

struct grid_layout {
	uint32_t ndim;
	uint32_t dim[GRID_LAYOUT_DIMS];
	bool ring[GRID_LAYOUT_DIMS]; /* the last is next to the first */
	uint16_t *coord;	     /* nsw * GRID_LAYOUT_DIMS */
	uint32_t missing;	     /* neighbours without a cable */
	uint32_t holes;		     /* points without a switch */
	enum grid_layout_from from;
};

/* -EINVAL with what is in the way.  O(switches * degree^2). */
int grid_layout_find(struct grid_layout **out, const struct fabric *f, struct err *err);
void grid_layout_free(struct grid_layout *l); /* NULL is fine */

#endif
