/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grid_names: coordinates in names, "s-1-2-3", "r2c04", "sw(0,3,1)": the same number of numbers in
 * each. */
#pragma once

#include "engines/geometry/grid/grid_layout.h"
#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"

/* Columns that vary are the dimensions; a number that all names have is none.  Whether every cable
 * joins neighbours is not checked. */
int grid_names_read(struct grid_layout *l, const struct fabric *f, struct err *err);
