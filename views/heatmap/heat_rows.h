/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heat_rows: in which order a matrix shows its rows. */
#ifndef VIEWS_HEATMAP_HEAT_ROWS_H
#define VIEWS_HEATMAP_HEAT_ROWS_H

#include "views/data/racks.h"
#include "views/data/state.h"
#include "views/heatmap/heat_layout.h"

#include <stdbool.h>
#include <stdint.h>

enum heat_sort { HEAT_BY_PLACE, HEAT_BY_UTIL, HEAT_BY_RACK, HEAT_SORTS };

struct heat_rows {
	uint32_t *row; /* of the plane, as shown */
	uint32_t n, cap;
};

/* "", "by utilisation", "by rack". */
const char *heat_sort_name(enum heat_sort sort);
/* Racks need names that tell of them, and rows that are switches. */
bool heat_sort_suits(enum heat_sort sort, const struct heat_plane *p, const struct racks *r);

/* By utilisation: the row with the most used channel first, in either direction.
 * O(channels of the plane). */
void heat_rows_set(struct heat_rows *out, const struct heat_plane *p, enum heat_sort sort,
		   const struct state *s, const struct racks *r);
/* Where a row of the plane is shown. */
uint32_t heat_rows_find(const struct heat_rows *rows, uint32_t row);
void heat_rows_done(struct heat_rows *rows);

#endif
