/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/heatmap/heat_small.h"

#include "views/canvas/name_fit.h"
#include "views/data/hint_click.h"

#include <stdio.h>
#include <string.h>

static void heat_small_follow(struct heat_small *h, const struct context *ctx,
			      const struct state *s)
{
	const struct fabric_summary *v = &ctx->summary;

	if (h->layout && h->layout->fabric == s->fabric)
		return;
	heat_small_done(h);
	h->layout = heat_layout_new(s->fabric, v->topology, v->racks);
	heat_rows_set(&h->rows, &h->layout->plane[0], HEAT_BY_PLACE, s, v->racks);
}

static void heat_small_read_cells(struct heat_small *h, const struct context *ctx,
				  const struct state *s)
{
	struct heat_sight at = { &h->layout->plane[0], &h->rows, &h->window, CHAN_UTIL, 0 };
	struct heat_small_key now;

	memset(&now, 0, sizeof(now));
	now.rates = s->rates;
	now.sample = s->sample;
	now.time_ns = s->sample ? s->sample->time_ns : 0;
	now.job = ctx->job.id ^ (uint64_t)ctx->job.links << 32;
	now.tags = ctx->tags.serial;
	now.palette = ctx->palette;
	now.window = h->window;
	if (h->cells.cap && !memcmp(&now, &h->made, sizeof(now)))
		return;
	heat_cells_read(&h->cells, &at, ctx, s);
	memcpy(&h->made, &now, sizeof(now));
}

/* Columns that the names of rows may have while cells stay as wide as without them. */
static int heat_small_label_w(struct heat_small *h, struct rect matrix, const struct state *s)
{
	const struct heat_plane *p = &h->layout->plane[0];
	struct heat_window *w = &h->window;
	char name[NAME_LEN];
	int most = 0;

	heat_window_set(w, p, matrix, 1, UINT32_MAX, 0, 0);
	if (w->row_n > 1 || w->per_line > 1)
		return 1;
	for (uint32_t i = 0; i < w->vis_rows; i++) {
		int wide = text_width(heat_row_label(name, p, s->fabric, h->rows.row[i]));

		most = wide > most ? wide : most;
	}
	return most + 2 + (int)w->vis_cols * w->cell_w <= matrix.w ? most + 2 : 1;
}

static void heat_small_draw_names(const struct heat_small *h, struct canvas *c, struct rect r,
				  const struct state *s)
{
	const struct heat_window *w = &h->window;
	char name[NAME_LEN];

	for (uint32_t y = 0; w->label_w > 1 && y < w->vis_rows; y++)
		name_fit_draw(
			c, r, 1, (int)y, w->label_w - 2, ROLE_LABEL, s->fabric,
			heat_row_label(name, &h->layout->plane[0], s->fabric, h->rows.row[y]));
}

void heat_small_draw(struct heat_small *h, const struct context *ctx, struct canvas *c,
		     struct rect r, const struct state *s)
{
	struct rect matrix = { r.x, r.y + 1, r.w, r.h - 1 };
	struct heat_window *w = &h->window;
	char title[128];

	if (!s->fabric->nchan || r.h < 3 || r.w < 12) {
		canvas_rule(c, r, 0, "Heatmap");
		return;
	}
	heat_small_follow(h, ctx, s);
	heat_window_set(w, &h->layout->plane[0], matrix, heat_small_label_w(h, matrix, s),
			UINT32_MAX, 0, 0);
	heat_small_draw_names(h, c, matrix, s);
	heat_small_read_cells(h, ctx, s);
	snprintf(title, sizeof(title), "%s, utilisation %%%s (2: full view)",
		 h->layout->plane[0].title,
		 w->row_n > 1 || w->col_n > 1 ? ", worst of each cell" : "");
	canvas_rule(c, r, 0, title);
	hint_click_mark(c, r, 0, 1);
	for (uint32_t y = 0; y < w->vis_rows; y++)
		for (uint32_t x = 0; x < w->vis_cols; x++)
			heat_cell_draw(&h->cells.cell[(size_t)y * w->vis_cols + x], w, c, x, y);
}

void heat_small_done(struct heat_small *h)
{
	heat_layout_free(h->layout);
	heat_rows_done(&h->rows);
	heat_cells_done(&h->cells);
	memset(h, 0, sizeof(*h));
}
