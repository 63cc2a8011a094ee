/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heat_cells: what each cell of a heatmap's window says, and how that looks.
 *
 * Only rows in sight are looked at, channel by channel, so a frame costs O(channels in sight +
 * cells on the screen) whatever the size of the matrix.
 */
#pragma once

#include "views/data/chan_value.h"
#include "views/heatmap/heat_window.h"
#include "views/view.h"

/* What is shown of a plane. */
struct heat_sight {
	const struct heat_plane *plane;
	const struct heat_rows *rows;
	const struct heat_window *window;
	enum chan_metric metric;
	uint8_t dir; /* 0 or 1 */
};

struct heat_cell {
	struct chan_value
		value;	       /* of the worst channel; of the highlighted job's, when it is here */
	uint32_t chan;	       /* that one */
	uint32_t count;	       /* channels; 0: no link */
	uint32_t down, silent; /* of them */
	double sum;	       /* of their shares, */
	uint32_t known;	       /* that are known */
	bool dim;	       /* none of the highlighted job's */
	bool tagged;	       /* one of its cables, or a switch of them, is */
};

struct heat_cells {
	struct heat_cell *cell; /* vis_rows * vis_cols */
	size_t cap;
};

void heat_cells_read(struct heat_cells *out, const struct heat_sight *at, const struct context *ctx,
		     const struct state *s);
void heat_cells_done(struct heat_cells *cells);

/* The cell that holds a place, counted in rows and columns of the plane; NULL: it is not in sight,
 * or nothing has been drawn yet. */
const struct heat_cell *heat_cells_at(const struct heat_cells *cells, const struct heat_window *w,
				      uint32_t row, uint32_t col);
/* Two of them in line y of the window, as half blocks. */
void heat_cells_draw_halves(const struct heat_cell *upper, const struct heat_cell *lower,
			    enum palette palette, const struct heat_window *w, struct canvas *c,
			    uint32_t x, uint32_t y);
/* What half a cell is. */
enum half heat_cell_half(const struct heat_cell *cell, enum heat_quiet quiet);
/* Half blocks of which so many are of two colours, or unlike their neighbours, that they are noise:
 * signs for twice the rows say more. */
bool heat_cells_too_mixed(const struct heat_cells *cells, const struct heat_window *w);
/* Makes the window's colours fewer while they change too often from cell to cell. */
void heat_cells_calm(const struct heat_cells *cells, struct heat_window *w);
void heat_cell_draw(const struct heat_cell *cell, const struct heat_window *w, struct canvas *c,
		    uint32_t x, uint32_t y);

/* All channels of a cell in a direction, worst first, into out; returns how many (max: room). */
uint32_t heat_cell_list(const struct heat_sight *at, const struct context *ctx,
			const struct state *s, uint32_t row, uint32_t col, uint32_t *out,
			uint32_t max);

/* Names of a row or column of the plane; buf of NAME_LEN. */
const char *heat_row_label(char *buf, const struct heat_plane *p, const struct fabric *f,
			   uint32_t row);
const char *heat_col_label(char *buf, const struct heat_plane *p, const struct fabric *f,
			   uint32_t col);
