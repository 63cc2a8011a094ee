/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hyperx: the dimensions of a HyperX and where each switch sits in it, from the cables alone.
 *
 * In a HyperX (Ahn et al., SC09) the three cables of a triangle lie in one line, and opposite
 * cables of a cycle of four in one dimension.  Both stay true when cables are missing, so
 * joining cables by these two rules never joins two dimensions.
 */
#pragma once

#include "engines/geometry/grid/grid.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/topology/fabric.h"

/* Any number of dimensions of any sizes from 2; parallel cables count once.  At least two thirds of
 * the neighbours that a full HyperX of these switches would have must be cabled, and at least
 * three quarters of the points have a switch.  -EINVAL with what is in the way;
 * -ENETUNREACH when the fabric is not connected; -ECANCELED.  progress may be NULL.
 * Time O(switches * degree^2 * dimensions), worse only when many cables are missing. */
int hyperx_find(struct grid **out, const struct fabric *f, struct progress *progress,
		struct err *err);
