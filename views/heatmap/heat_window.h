/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heat_window: the part of a matrix that fits on the screen, how many of its rows and columns a
 * cell there stands for, and in which order rows are shown. */
#pragma once

#include "views/canvas/canvas.h"
#include "views/data/chan_value.h"
#include "views/data/state/racks.h"
#include "views/data/state/state.h"
#include "views/heatmap/heat_layout.h"

#include <stdint.h>

/* The part of a plane that a rectangle shows. */
struct heat_window {
	struct rect rows;	     /* where the matrix is, without labels and column heads */
	int label_w;		     /* columns for the names of rows, left of it */
	uint32_t row_n, col_n;	     /* switches per cell */
	int cell_w;		     /* columns per cell, 1..3 */
	uint32_t nrow, ncol;	     /* of the matrix, in cells */
	uint32_t top, left;	     /* first cell in sight */
	uint32_t vis_rows, vis_cols; /* cells in sight */
	bool may_halve;		     /* by the caller: two cells, one above the other, in a line */
	uint32_t per_line;	     /* 1; 2: they are */
	uint32_t vis_lines;	     /* lines of the rows in sight */
	enum heat_quiet quiet;	     /* so many cells that colours are fewer */
	enum heat_quiet calm;	     /* in the frame before */
	uint32_t fit;		     /* zoom at which all of it is in sight */
};

/* zoom: switches per cell, 1.. (more than the fit counts as the fit).  (row, col): a place, in
 * switches, that must be in sight.  top and left are kept from before where they can be. */
void heat_window_set(struct heat_window *w, const struct heat_plane *p, struct rect r, int label_w,
		     uint32_t zoom, uint32_t row, uint32_t col);

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

/* Metrics, matrices and orders of rows by name, as commands have them.  The beginning of a name is
 * enough, and of a matrix any word of its title. */
#define HEAT_NO_CHOICE UINT32_MAX
uint32_t heat_metric_named(const char *text); /* enum chan_metric */
uint32_t heat_plane_named(const struct heat_layout *l, const char *text);
uint32_t heat_sort_named(const char *text); /* enum heat_sort; "place" for the layout's own */
