/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/heatmap/heat_window.h"

static uint32_t heat_window_div_up(uint32_t a, uint32_t b)
{
	return b ? (a + b - 1) / b : a;
}

/* The first cell in sight: moved no more than needed to have at in sight. */
static uint32_t heat_window_scroll_to(uint32_t first, uint32_t at, uint32_t n, uint32_t seen)
{
	if (at < first)
		first = at;
	if (at >= first + seen)
		first = at - seen + 1;
	if (first + seen > n)
		first = n > seen ? n - seen : 0;
	return first;
}

void heat_window_set(struct heat_window *w, const struct heat_plane *p, struct rect r, int label_w,
		     uint32_t zoom, uint32_t row, uint32_t col)
{
	uint32_t h, width, need;

	w->rows = (struct rect){ r.x + label_w, r.y, r.w - label_w, r.h };
	if (w->rows.w < 1)
		w->rows.w = 1;
	if (w->rows.h < 1)
		w->rows.h = 1;
	w->label_w = label_w;
	h = (uint32_t)w->rows.h;
	width = (uint32_t)w->rows.w;
	need = heat_window_div_up(p->ncol, width);
	w->fit = heat_window_div_up(p->nrow, h) > need ? heat_window_div_up(p->nrow, h) : need;
	if (w->fit < 1)
		w->fit = 1;
	w->row_n = zoom < 1 ? 1 : zoom > w->fit ? w->fit : zoom;
	/* columns are never joined more than they need to be in sight */
	w->col_n = w->row_n < need ? w->row_n : need ? need : 1;
	w->nrow = heat_window_div_up(p->nrow, w->row_n);
	w->ncol = heat_window_div_up(p->ncol, w->col_n);
	w->cell_w = w->ncol * 3 <= width ? 3 : w->ncol * 2 <= width ? 2 : 1;
	w->vis_cols = width / (uint32_t)w->cell_w;
	w->vis_rows = h;
	if (w->vis_cols > w->ncol)
		w->vis_cols = w->ncol;
	if (w->vis_rows > w->nrow)
		w->vis_rows = w->nrow;
	w->top = heat_window_scroll_to(w->top, row / w->row_n, w->nrow, w->vis_rows);
	w->left = heat_window_scroll_to(w->left, col / w->col_n, w->ncol, w->vis_cols);
}
