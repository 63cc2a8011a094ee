/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grid_squares: coordinates from squares of cables, by the layers that their sides lead to and from
 * (grid_steps.h). */
#pragma once

#include "engines/geometry/grid/grid_layout.h"
#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>

/* mend: put together the layers that fall into pieces where cables are missing, and switches on no
 * square beside their neighbours.  Whether every cable joins neighbours is not checked. */
int grid_squares_read(struct grid_layout *l, const struct fabric *f, bool mend, struct err *err);
