/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heat_planes: for heat_layout.c only: the matrices of each kind of fabric. */
#ifndef VIEWS_HEATMAP_HEAT_PLANES_H
#define VIEWS_HEATMAP_HEAT_PLANES_H

#include "views/data/racks.h"
#include "views/heatmap/heat_layout.h"

void tree_plane(struct heat_layout *l, const struct fabric *f, const struct topology_kind *s,
		uint32_t low);
void hyperx_plane(struct heat_layout *l, const struct fabric *f, const struct topology_kind *s,
		  uint32_t d);
/* Lines of a dimension and the steps along them. */
void torus_plane(struct heat_layout *l, const struct fabric *f, const struct topology_kind *s,
		 uint32_t d);
/* Group by group; then each switch's cables inside its group, and to other groups. */
void group_planes(struct heat_layout *l, const struct fabric *f, const struct topology_kind *s);
void rack_plane(struct heat_layout *l, const struct fabric *f, const struct racks *r);
void square_plane(struct heat_layout *l, const struct fabric *f, bool rcm);

/* Of heat_layout.c.  set: planes of the same set hold every cable once between them. */
struct heat_plane *plane_add(struct heat_layout *l, uint32_t set, const char *row_name,
			     const char *col_name);
/* row_of: by switch; col_of: by channel, FAB_NONE when it is not in the plane.  O(channels). */
void plane_fill(struct heat_layout *l, struct heat_plane *p, const struct fabric *f,
		const uint32_t *row_of, const uint32_t *col_of);
/* The same where every row is one switch. */
void plane_fill_switches(struct heat_layout *l, struct heat_plane *p, const struct fabric *f,
			 const uint32_t *col_of);

#endif
