/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The heatmap on the canvas: matrix, labels, detail, legend. */
#include "views/heatmap/heatmap_priv.h"

#include <stdio.h>
#include <string.h>

static void heatmap_draw_cursor(struct heatmap_ui *u, struct canvas *c)
{
	const struct heat_window *w = &u->window;
	int x = (int)(u->col / w->col_n - w->left) * w->cell_w;
	int y = (int)(u->row / w->row_n - w->top);

	if (w->cell_w == 3) {
		canvas_char(c, w->rows, x, y, ROLE_KEY, '[');
		canvas_char(c, w->rows, x + 2, y, ROLE_KEY, ']');
		return;
	}
	canvas_style(c, (struct rect){ w->rows.x + x, w->rows.y + y, 1, 1 }, ROLE_KEY, true);
}

/* A switch among the rows that a label stands for is tagged. */
static bool heatmap_row_tagged(const struct heatmap_ui *u, const struct shell *shell,
			       uint32_t first)
{
	const struct heat_plane *p = heatmap_plane(u);

	for (uint32_t i = first; p->row_sw && i < first + u->window.row_n && i < p->nrow; i++)
		if (shell_switch_tagged(shell, p->row_sw[u->rows.row[i]]))
			return true;
	return false;
}

static void heatmap_draw_row_label(const struct heatmap_ui *u, const struct shell *shell,
				   const struct state *s, struct canvas *c, int y)
{
	const struct heat_window *w = &u->window;
	uint32_t first = (w->top + (uint32_t)y) * w->row_n;
	bool here = u->row / w->row_n == w->top + (uint32_t)y;
	struct rect r = { w->rows.x - w->label_w, w->rows.y, w->label_w, w->rows.h };
	enum role role = here ? ROLE_KEY : ROLE_LABEL;
	char name[NAME_LEN];

	canvas_char(c, r, 0, y, role, here ? '>' : ' ');
	canvas_name(c, r, 1, y, w->label_w - 2, role,
		    heat_row_label(name, heatmap_plane(u), s->fabric, u->rows.row[first]));
	if (heatmap_row_tagged(u, shell, first))
		canvas_char(c, r, w->label_w - 1, y, ROLE_KEY, '+');
}

/* Column numbers, from 1, in the units of the matrix. */
static void heatmap_draw_heads(const struct heatmap_ui *u, const struct shell *shell,
			       struct canvas *c, struct rect r, int y)
{
	const struct heat_window *w = &u->window;
	uint32_t step = w->cell_w == 3 ? 1 : w->cell_w == 2 ? 2 : 10;
	struct rect at = { w->rows.x, r.y, w->rows.w, r.h };

	if (w->cell_w == 3 && (w->left + w->vis_cols) * w->col_n > 99)
		step = 2;
	if (w->cell_w == 2 && (w->left + w->vis_cols) * w->col_n > 999)
		step = 3;
	for (uint32_t i = 0; i < w->vis_cols; i++)
		if ((w->left + i) % step == 0)
			canvas_textf(c, at, (int)i * w->cell_w + (w->cell_w == 3), y, ROLE_LABEL,
				     "%u", (w->left + i) * w->col_n + 1);
	for (uint32_t i = 0; heatmap_plane(u)->col_sw && i < w->vis_cols; i++)
		for (uint32_t k = (w->left + i) * w->col_n;
		     k < (w->left + i + 1) * w->col_n && k < heatmap_plane(u)->ncol; k++)
			if (shell_switch_tagged(shell, heatmap_plane(u)->col_sw[k]))
				canvas_char(c, at, (int)i * w->cell_w + (w->cell_w == 3), y,
					    ROLE_KEY, '+');
	canvas_name(c, r, 1, y, w->label_w - 2, ROLE_LABEL, heatmap_plane(u)->row_name);
}

static uint32_t heatmap_least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void heatmap_draw_title(const struct heatmap_ui *u, const struct shell *shell,
			       const struct state *s, struct canvas *c, struct rect r)
{
	const struct heat_plane *p = heatmap_plane(u);
	const struct heat_window *w = &u->window;
	char title[400], range[96] = "", zoom[48] = "";
	const char *note = p->set == u->layout->plane[0].set ? u->layout->note : "";
	const char *sort = heat_sort_name(u->sort);
	int n = 0, end;

	if (w->row_n > 1 || w->col_n > 1)
		snprintf(zoom, sizeof(zoom), " | 1 cell = %ux%u, worst", w->row_n, w->col_n);
	snprintf(title, sizeof(title), "%s: %s | %s%s%s%s", p->title,
		 chan_metric_name(heatmap_sight(u, shell, s).metric), p->dir[u->dir],
		 sort[0] ? " | rows " : "", sort, zoom);
	if (w->vis_rows < w->nrow)
		n = snprintf(range, sizeof(range), " rows %u-%u of %u", w->top * w->row_n + 1,
			     heatmap_least((w->top + w->vis_rows) * w->row_n, p->nrow), p->nrow);
	if (w->vis_cols < w->ncol)
		snprintf(range + n, sizeof(range) - (size_t)n, " columns %u-%u of %u",
			 w->left * w->col_n + 1,
			 heatmap_least((w->left + w->vis_cols) * w->col_n, p->ncol), p->ncol);
	/* the range is not cut: it tells that there is more */
	end = r.w - text_width(range) - 2;
	text_note(title, sizeof(title), note, end - 6);
	canvas_rule(c, r, 0, NULL);
	canvas_rule(c, (struct rect){ r.x, r.y, end, r.h }, 0, title);
	if (range[0])
		canvas_textf(c, r, end, 0, ROLE_RULE, "%s ", range);
}

static void heatmap_draw_detail(struct heatmap_ui *u, const struct shell *shell,
				const struct state *s, struct canvas *c, struct rect r)
{
	const struct heat_cell *cell = heat_cells_at(&u->cells, &u->window, u->row, u->col);
	char label[256], title[400], from[NAME_LEN], to[NAME_LEN];
	int n = 0;

	if (!cell)
		return; /* no room for any */
	if (!cell->count) {
		canvas_rule(c, r, 0, "Cell");
		canvas_textf(c, r, 1, 1, ROLE_DIM, "%s -> %s: no link",
			     heat_row_label(from, heatmap_plane(u), s->fabric, u->rows.row[u->row]),
			     heat_col_label(to, heatmap_plane(u), s->fabric, u->col));
		return;
	}
	if (cell->count > 1)
		n = snprintf(title, sizeof(title), "Worst of %u", cell->count);
	if (cell->count > 1 && cell->down)
		n += snprintf(title + n, sizeof(title) - (size_t)n, " (%u down)", cell->down);
	if (cell->count > 1 && cell->silent)
		n += snprintf(title + n, sizeof(title) - (size_t)n, " (%u no reply)", cell->silent);
	snprintf(title + n, sizeof(title) - (size_t)n, "%s%s", n ? ": " : "",
		 chan_label(label, sizeof(label), s->fabric, cell->chan));
	canvas_rule(c, r, 0, title);
	chan_detail_draw(shell, s, c, (struct rect){ r.x, r.y + 1, r.w, r.h - 1 }, cell->chan);
}

int heatmap_label_width(const struct heatmap_ui *u, const struct state *s, struct rect r)
{
	const struct heat_plane *p = heatmap_plane(u);
	int w = 6, most = r.w / 5;
	char name[NAME_LEN];

	for (uint32_t i = 0; i < p->nrow && i < 64; i++) {
		int n = text_width(heat_row_label(name, p, s->fabric, i));

		w = n > w ? n : w;
	}
	return (w < most ? w : most) + 2;
}

void heatmap_matrix(struct heatmap_ui *u, const struct shell *shell, struct canvas *c,
		    struct rect r, const struct state *s)
{
	struct heat_window *w = &u->window;
	int below = heatmap_detail_lines(r);
	struct heat_sight at;

	at = heatmap_sight(u, shell, s);
	heat_cells_read(&u->cells, &at, shell, s);
	heatmap_draw_title(u, shell, s, c, r);
	heatmap_draw_heads(u, shell, c, r, 1);
	for (uint32_t y = 0; y < w->vis_rows; y++) {
		heatmap_draw_row_label(u, shell, s, c, (int)y);
		for (uint32_t x = 0; x < w->vis_cols; x++)
			heat_cell_draw(&u->cells.cell[(size_t)y * w->vis_cols + x], w, c, x, y);
	}
	heatmap_draw_cursor(u, c);
	if (below)
		heatmap_draw_detail(u, shell, s, c,
				    (struct rect){ r.x, r.y + r.h - below, r.w, below });
}

void heatmap_cables(struct heatmap_ui *u, const struct shell *shell, struct canvas *c,
		    struct rect r, const struct state *s)
{
	int below = heatmap_detail_lines(r);
	uint32_t chan;
	char label[256];

	heat_cables_draw(&u->cables, shell, c, (struct rect){ r.x, r.y, r.w, r.h - below - 1 }, s);
	if (!below)
		return;
	chan = heat_cables_cursor(&u->cables);
	canvas_rule(c, r, r.h - below, chan_label(label, sizeof(label), s->fabric, chan));
	chan_detail_draw(shell, s, c, (struct rect){ r.x, r.y + r.h - below + 1, r.w, below - 1 },
			 chan);
}

void heatmap_legend(const struct heatmap_ui *u, const struct shell *shell, const struct state *s,
		    struct canvas *c, struct rect r)
{
	struct rect line = { r.x, r.y + r.h - heatmap_detail_lines(r) - 1, r.w, 1 };
	char job[48];
	int end = r.w;

	if (shell_any_tagged(shell)) {
		end -= 11;
		canvas_text(c, line, end, 0, ROLE_KEY, "> + tagged");
	}
	if (shell_selected_job(shell)) {
		snprintf(job, sizeof(job), " ' not job %llu",
			 (unsigned long long)shell_selected_job(shell));
		end -= text_width(job) + 1;
		canvas_text(c, line, end, 0, ROLE_KEY, job);
	}
	line.w = end;
	chan_value_legend(heatmap_sight(u, shell, s).metric, shell_palette(shell), c, line, 1, 0);
}
