/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heat_window: the part of a matrix that fits on the screen, and how many of its rows and columns
 * a cell there stands for. */
#ifndef VIEWS_HEATMAP_HEAT_WINDOW_H
#define VIEWS_HEATMAP_HEAT_WINDOW_H

#include "views/canvas/canvas.h"
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
	uint32_t fit;		     /* zoom at which all of it is in sight */
};

/* zoom: switches per cell, 1.. (more than the fit counts as the fit).  (row, col): a place, in
 * switches, that must be in sight.  top and left are kept from before where they can be. */
void heat_window_set(struct heat_window *w, const struct heat_plane *p, struct rect r, int label_w,
		     uint32_t zoom, uint32_t row, uint32_t col);

#endif
