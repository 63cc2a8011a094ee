/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grid_layout_priv: for the files of lattice.h only. */
#ifndef ENGINES_GEOMETRY_GRID_LAYOUT_PRIV_H
#define ENGINES_GEOMETRY_GRID_LAYOUT_PRIV_H

#include "engines/geometry/grid_layout.h"

struct grid_layout *grid_layout_new(const struct fabric *f);

/* Each finds places or says what is in the way; what it found is not checked yet. */
int grid_layout_from_names(struct grid_layout *l, const struct fabric *f, struct err *err);
int grid_layout_from_ports(struct grid_layout *l, const struct fabric *f, struct err *err);
int grid_layout_from_squares(struct grid_layout *l, const struct fabric *f, struct err *err);
/* Larger dimensions first; equals as they were. */
void grid_layout_sort_dims(struct grid_layout *l, const struct fabric *f);
/* The same; joins those of two, by ports where these tell which. */
void grid_layout_join_rings(struct grid_layout *l, const struct fabric *f);
/* A switch at most at every point, neighbours at the ends of every cable; counts what is missing.
 * Rings that no cable closes become lines. */
int grid_layout_check(struct grid_layout *l, const struct fabric *f, struct err *err);

#endif
