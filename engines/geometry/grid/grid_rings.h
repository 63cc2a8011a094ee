/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grid_rings: dimensions of two, joined to rings of four.
 *
 * On machines cabled by rule every switch has the same two ports in a ring: two dimensions of two
 * that share their ports are one ring.
 */
#pragma once

#include "engines/geometry/grid/grid_layout.h"
#include "fabric/model/topology/fabric.h"

/* Sorts the dimensions and joins those of two, by ports where these tell which; from gets how sure
 * that is. */
void grid_rings_join(struct grid_layout *l, const struct fabric *f);
