/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heat_layout: which channel is in which cell of which matrix; computed once per fabric.
 *
 * A plane is a matrix: rows are switches, columns are switches too (switch x switch, leaf x
 * spine) or places ("the 3rd agg of its pod", "coordinate 5 in this dimension").  Direction
 * 0 shows the channels of the plane, direction 1 their opposites.  In the planes of a tree
 * direction 0 goes up; in all others a row's switch sends and both directions hold the same.
 */
#ifndef VIEWS_HEAT_LAYOUT_H
#define VIEWS_HEAT_LAYOUT_H

#include "fabric/model/fabric.h"
#include "views/canvas.h"
#include "views/shape.h"

#include <stdbool.h>
#include <stdint.h>

struct heat_plane {
	char title[48];
	char row_name[16], col_name[16];
	bool up; /* direction 0 is up, 1 is down */
	uint32_t nrow, ncol;
	uint32_t *row_sw;  /* nrow */
	uint32_t *col_sw;  /* ncol; NULL: columns are places */
	uint32_t *row_off; /* nrow+1: channels of a row, ascending column */
	uint32_t *chan, *col;
};

#define HEAT_PLANES 8

struct heat_layout {
	const struct fabric *fabric; /* a reference of its own */
	uint32_t nplane;
	uint32_t nspecial; /* the first of them hold every cable once between them; each of the
			      others (switch x switch) holds every channel once */
	struct heat_plane plane[HEAT_PLANES];
	struct arena *arena;
};

struct heat_layout *heat_layout_new(const struct fabric *f, const struct shape *s);
void heat_layout_free(struct heat_layout *l); /* NULL is fine */

/* Where a channel is in a plane (either direction); false when it is not in it.  O(channels). */
bool heat_plane_find(const struct heat_plane *p, const struct fabric *f, uint32_t chan,
		     uint32_t *row, uint32_t *col);

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
