/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grid_find: a torus or mesh of which cables and switches may be missing, and how sure its
 * coordinates are.
 *
 * Names are asked first: where the numbers in them are coordinates, every cable joins neighbours
 * by these numbers.  Else opposite sides of squares of cables lie in the same step of the same
 * dimension, and a missing cable only takes squares away (torus.h wants all of them).  Where too
 * many are missing for that, as they soon are in two dimensions, the cables of a dimension are
 * taken to be in the same ports of every switch; that every cable joins neighbours then is checked,
 * as with names.  At last the pieces into which squares fall are put together.  A ring of four is
 * the same graph as two dimensions of two: these are joined, by the ports that their cables are in.
 */
#pragma once

#include "engines/geometry/grid/grid.h"
#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"

/* Any number of cables up to a fifth and of switches up to a tenth may be missing, as long as
 * coordinates can still be derived.  -EINVAL with what is in the way.  O(switches * degree^2). */
int grid_find(struct grid **out, const struct fabric *f, struct err *err);
