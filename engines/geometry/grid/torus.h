/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * torus: the dimensions of a torus or mesh and where each switch sits in it, from the cables.
 *
 * Any Cartesian product of rings, lines and full graphs is found, so a HyperX without missing
 * cables, too.  Two switches at distance two have two switches between them when they differ
 * in two dimensions, and one when in one; so cables of one dimension are told apart from those of
 * another by looking two hops far (the product relation of Imrich and Klavzar, "Product Graphs",
 * 2000, for these factors).  A ring of three is a full graph; a ring of four is the same graph as
 * two dimensions of two, and is found as these.
 */
#pragma once

#include "engines/geometry/grid/grid.h"
#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"

/* All cables must be there; parallel ones count once.  -EINVAL with what is in the way;
 * -ENETUNREACH when the fabric is not connected.  Time O(switches * degree^2). */
int torus_find(struct grid **out, const struct fabric *f, struct err *err);
