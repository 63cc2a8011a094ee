/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The heatmap: a matrix of cells, one or more channels each; the worst of them counts.
 *
 * Only rows in sight are looked at, channel by channel, so a frame costs O(channels in
 * sight + cells on the screen) whatever the size of the matrix.
 */
#include "views/chan_detail.h"
#include "views/heat_layout.h"
#include "views/list.h"
#include "views/view.h"

#include "fabric/base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum metric {
	METRIC_UTIL,
	METRIC_WAIT,
	METRIC_EFI,
	METRIC_EFF,
	METRIC_ERRORS,
	METRIC_DARK,
	METRICS
};

enum cell_state { CELL_NONE, CELL_UNKNOWN, CELL_NO_REPLY, CELL_DOWN, CELL_KNOWN };

struct heat_cell {
	enum cell_state state;
	double value;  /* of the worst channel: percent of the scale, or change in percent */
	uint32_t chan; /* that one */
	uint32_t count;
};

struct heatmap_ui {
	struct heat_layout *layout;
	uint32_t plane;
	enum metric metric;
	bool down;	   /* direction 1 */
	uint32_t zoom;	   /* 0: not chosen yet */
	uint32_t row, col; /* cursor, in switches */
	struct heat_window window;
	struct heat_cell *cell; /* of the window, vis_rows * vis_cols */
	size_t ncell;
	uint32_t told; /* channel last told to the other views, or taken from them */

	struct chan_detail detail;
};

static const char *metric_name(enum metric m)
{
	static const char *const names[] = { "utilisation",   "wait",	"EFI",
					     "effective EFI", "errors", "dark links" };

	return names[m];
}

static void heatmap_done(void *own)
{
	struct heatmap_ui *u = own;

	heat_layout_free(u->layout);
	free(u->cell);
	chan_detail_done(&u->detail);
}

static const struct heat_plane *plane_of(const struct heatmap_ui *u)
{
	return &u->layout->plane[u->plane];
}

static void set_plane(struct heatmap_ui *u, uint32_t plane)
{
	const struct heat_plane *p = &u->layout->plane[plane];

	u->plane = plane;
	u->zoom = 0;
	memset(&u->window, 0, sizeof(u->window));
	/* the cursor begins on a link */
	for (u->row = 0; u->row + 1 < p->nrow; u->row++)
		if (p->row_off[u->row + 1] > p->row_off[u->row])
			break;
	u->col = p->row_off[u->row + 1] > p->row_off[u->row] ? p->col[p->row_off[u->row]] : 0;
}

/* Follows the state and the channel that another view selected. */
static void follow(struct heatmap_ui *u, struct ui *ui, const struct state *s)
{
	uint32_t chan = ui_selected_chan(ui);

	if (!u->layout || u->layout->fabric != s->fabric) {
		heat_layout_free(u->layout);
		u->layout = heat_layout_new(s->fabric, ui_survey(ui)->shape);
		set_plane(u, 0);
		u->told = FAB_NONE;
	}
	if (chan == FAB_NONE || chan == u->told)
		return;
	u->told = chan;
	for (uint32_t i = 0; i < u->layout->nplane; i++) {
		uint32_t k = (u->plane + i) % u->layout->nplane, row, col;
		const struct heat_plane *p = &u->layout->plane[k];

		if (!heat_plane_find(p, s->fabric, chan, &row, &col))
			continue;
		if (k != u->plane)
			set_plane(u, k);
		if (p->up)
			u->down = p->row_sw[row] != s->fabric->chan_src[chan];
		u->row = row;
		u->col = col;
		return;
	}
}

/* Errors per minute on the scale of levels: each tenfold is two levels. */
static double errors_pct(double per_min)
{
	return per_min <= 0 ? 0 : fmin(100, 20 + 25 * log10(1 + per_min));
}

static double delta_pct(const struct state_preview *p, uint32_t chan)
{
	bool jobs = p->after->njob > 0;
	const uint64_t *a = jobs ? p->after->eff_efi : p->after->efi;
	const uint64_t *b = jobs ? p->before->eff_efi : p->before->efi;
	uint64_t max = jobs ? p->before->eff_efi_max : p->before->efi_max;

	return ((double)a[chan] - (double)b[chan]) / (double)(max ? max : 1) * 100;
}

static bool show_delta(const struct ui *ui, const struct state *s)
{
	return ui_comparing(ui) && state_preview_ready(s) && s->preview.before;
}

struct reading {
	enum cell_state state;
	double value;
};

static struct reading known(double v)
{
	return (struct reading){ isfinite(v) ? CELL_KNOWN : CELL_UNKNOWN, v };
}

static struct reading read_rate(const struct heatmap_ui *u, const struct survey *v,
				const struct state *s, uint32_t port)
{
	const struct port_rate *r = state_rate(s, port);

	if (v->problem[port] == PROBLEM_NO_REPLY)
		return (struct reading){ CELL_NO_REPLY, 0 };
	if (!r)
		return (struct reading){ CELL_UNKNOWN, 0 };
	if (u->metric == METRIC_UTIL)
		return known(r->util_pct);
	return known(u->metric == METRIC_WAIT ? r->wait_pct : errors_pct(r->errors_per_min));
}

static struct reading read_chan(const struct heatmap_ui *u, const struct ui *ui,
				const struct state *s, uint32_t chan)
{
	const struct survey *v = ui_survey(ui);
	const struct metrics *m = state_metrics(s);
	uint32_t port = chan_fabric_port(s->fabric, chan);

	if (v->problem[port] == PROBLEM_DOWN)
		return (struct reading){ CELL_DOWN, 0 };
	if (show_delta(ui, s))
		return known(delta_pct(&s->preview, chan));
	if (u->metric < METRIC_EFI || u->metric == METRIC_ERRORS)
		return read_rate(u, v, s, port);
	if (!m || (u->metric != METRIC_EFI && !m->njob))
		return (struct reading){ CELL_UNKNOWN, 0 };
	if (u->metric == METRIC_DARK)
		return known(m->eff_efi[chan] ? 0 : 100);
	if (u->metric == METRIC_EFF)
		return known((double)m->eff_efi[chan] * 100 /
			     (double)(m->eff_efi_max ? m->eff_efi_max : 1));
	return known((double)m->efi[chan] * 100 / (double)(m->efi_max ? m->efi_max : 1));
}

static void cell_add(struct heat_cell *cell, struct reading r, uint32_t chan)
{
	cell->count++;
	if (cell->count > 1 && (r.state < cell->state ||
				(r.state == cell->state && fabs(r.value) <= fabs(cell->value))))
		return;
	cell->state = r.state;
	cell->value = r.value;
	cell->chan = chan;
}

static void read_row(struct heatmap_ui *u, const struct ui *ui, const struct state *s, uint32_t row,
		     struct heat_cell *cells)
{
	const struct heat_plane *p = plane_of(u);
	const struct heat_window *w = &u->window;

	for (uint32_t i = p->row_off[row]; i < p->row_off[row + 1]; i++) {
		uint32_t col = p->col[i] / w->col_n, chan = p->chan[i];

		if (col < w->left || col >= w->left + w->vis_cols)
			continue;
		if (u->down)
			chan = s->fabric->chan_rev[chan];
		cell_add(&cells[col - w->left], read_chan(u, ui, s, chan), chan);
	}
}

static void read_window(struct heatmap_ui *u, const struct ui *ui, const struct state *s)
{
	const struct heat_window *w = &u->window;
	size_t n = (size_t)w->vis_rows * w->vis_cols;

	if (n > u->ncell) {
		u->cell = xrealloc(u->cell, n, sizeof(*u->cell));
		u->ncell = n;
	}
	memset(u->cell, 0, n * sizeof(*u->cell));
	for (uint32_t y = 0; y < w->vis_rows; y++) {
		uint32_t first = (w->top + y) * w->row_n;

		for (uint32_t r = first; r < first + w->row_n && r < plane_of(u)->nrow; r++)
			read_row(u, ui, s, r, &u->cell[(size_t)y * w->vis_cols]);
	}
}

static void draw_cell(const struct heatmap_ui *u, const struct ui *ui, const struct state *s,
		      struct canvas *c, int x, int y, const struct heat_cell *cell)
{
	struct rect r = u->window.rows;
	uint32_t ch = ' ';
	enum role role = ROLE_TEXT;
	int level;

	switch (cell->state) {
	case CELL_NONE:
		return;
	case CELL_UNKNOWN:
		ch = '?';
		role = ROLE_DIM;
		break;
	case CELL_NO_REPLY:
		ch = '!';
		role = ROLE_WARN;
		break;
	case CELL_DOWN:
		ch = 'x';
		role = ROLE_BAD;
		break;
	case CELL_KNOWN:
		if (show_delta(ui, s)) {
			level = delta_level(cell->value);
			ch = (uint32_t)delta_glyph(level);
			role = delta_role(ui_palette(ui), level);
			break;
		}
		level = heat_level(cell->value);
		role = heat_role(ui_palette(ui), level);
		ch = (uint32_t)heat_glyph(level);
		if (u->metric == METRIC_DARK) {
			ch = level ? 'o' : '.';
			role = level ? ROLE_WARN : ROLE_DIM;
		}
		break;
	}
	role = fill_role(role);
	for (int dx = 0; u->window.cell_w == 3 && role >= ROLE_FILL && dx < 3; dx += 2)
		canvas_char(c, r, x - 1 + dx, y, role, ' ');
	canvas_char(c, r, x, y, role, ch);
}

static void draw_cursor(struct heatmap_ui *u, struct canvas *c)
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

static void draw_row_label(const struct heatmap_ui *u, const struct state *s, struct canvas *c,
			   int y)
{
	const struct heat_plane *p = plane_of(u);
	const struct heat_window *w = &u->window;
	uint32_t first = (w->top + (uint32_t)y) * w->row_n, last = first + w->row_n - 1;
	bool here = u->row / w->row_n == w->top + (uint32_t)y;
	struct rect r = { w->rows.x - w->label_w, w->rows.y, w->label_w, w->rows.h };
	enum role role = here ? ROLE_KEY : ROLE_LABEL;
	char name[NAME_LEN];

	if (last >= p->nrow)
		last = p->nrow - 1;
	canvas_char(c, r, 0, y, role, here ? '>' : ' ');
	canvas_name(c, r, 1, y, w->label_w - 2, role,
		    switch_label(name, sizeof(name), s->fabric, p->row_sw[first]));
}

/* Column numbers, from 1, in the units of the matrix. */
static void draw_heads(const struct heatmap_ui *u, struct canvas *c, struct rect r, int y)
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
	canvas_name(c, r, 1, y, w->label_w - 2, ROLE_LABEL, plane_of(u)->row_name);
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void draw_title(const struct heatmap_ui *u, const struct ui *ui, const struct state *s,
		       struct canvas *c, struct rect r)
{
	const struct heat_plane *p = plane_of(u);
	const struct heat_window *w = &u->window;
	const char *dir = p->up ? (u->down ? "down" : "up") : u->down ? "in" : "out";
	char title[200], range[96] = "", zoom[48] = "";
	int n = 0, end;

	if (w->row_n > 1 || w->col_n > 1)
		snprintf(zoom, sizeof(zoom), " | 1 cell = %ux%u, worst", w->row_n, w->col_n);
	snprintf(title, sizeof(title), "%s: %s | %s%s", p->title,
		 show_delta(ui, s) ? "plan - now" : metric_name(u->metric), dir, zoom);
	if (w->vis_rows < w->nrow)
		n = snprintf(range, sizeof(range), " rows %u-%u of %u", w->top * w->row_n + 1,
			     least((w->top + w->vis_rows) * w->row_n, p->nrow), p->nrow);
	if (w->vis_cols < w->ncol)
		snprintf(range + n, sizeof(range) - (size_t)n, " columns %u-%u of %u",
			 w->left * w->col_n + 1, least((w->left + w->vis_cols) * w->col_n, p->ncol),
			 p->ncol);
	/* the range is not cut: it tells that there is more */
	end = r.w - text_width(range) - 2;
	canvas_rule(c, r, 0, NULL);
	canvas_rule(c, (struct rect){ r.x, r.y, end, r.h }, 0, title);
	if (range[0])
		canvas_textf(c, r, end, 0, ROLE_RULE, "%s ", range);
}

static void draw_legend(const struct heatmap_ui *u, const struct ui *ui, const struct state *s,
			struct canvas *c, struct rect r, int y)
{
	static const char *const limits[] = {
		"<5", "<15", "<30", "<45", "<60", "<75", "<90", ">=90"
	};
	const char *unit = u->metric < METRIC_EFI ? "%" : "% of the worst link";
	int x = 1;

	if (show_delta(ui, s)) {
		for (int l = -3; l <= 3; l++)
			x = canvas_textf(c, r, x, y, fill_role(delta_role(ui_palette(ui), l)),
					 "%c ", delta_glyph(l));
		canvas_text(c, r, x, y, ROLE_DIM,
			    " fewer .. more routes by 40 15 2 % of the worst link now");
		return;
	}
	if (u->metric == METRIC_DARK) {
		canvas_text(c, r, x, y, ROLE_DIM, "o no route between hosts of a job   . used");
		return;
	}
	for (int l = 0; u->metric != METRIC_ERRORS && l < HEAT_LEVELS; l++)
		x = canvas_textf(c, r, x, y, fill_role(heat_role(ui_palette(ui), l)), "%c%s ",
				 heat_glyph(l), limits[l]);
	if (u->metric == METRIC_ERRORS)
		x = canvas_text(c, r, x, y, ROLE_TEXT, ". none  ");
	for (int l = 2; u->metric == METRIC_ERRORS && l < HEAT_LEVELS; l++)
		x = canvas_textf(c, r, x, y, fill_role(heat_role(ui_palette(ui), l)), "%c ",
				 heat_glyph(l));
	if (u->metric == METRIC_ERRORS)
		unit = "errors per minute, rising";
	x = canvas_textf(c, r, x, y, ROLE_DIM, "%s", unit);
	canvas_text(c, r, x, y, ROLE_DIM,
		    u->metric < METRIC_EFI || u->metric == METRIC_ERRORS
			    ? "  ?=not known x=down !=no reply"
			    : "  ?=not known x=down");
}

static void draw_detail(struct heatmap_ui *u, const struct ui *ui, const struct state *s,
			struct canvas *c, struct rect r)
{
	const struct heat_window *w = &u->window;
	uint32_t y = u->row / w->row_n - w->top, x = u->col / w->col_n - w->left;
	const struct heat_cell *cell = &u->cell[(size_t)y * w->vis_cols + x];
	char label[256], title[320], name[NAME_LEN];

	if (cell->state == CELL_NONE) {
		canvas_rule(c, r, 0, "Cell");
		canvas_textf(
			c, r, 1, 1, ROLE_DIM, "%s, column %u: no link",
			switch_label(name, sizeof(name), s->fabric, plane_of(u)->row_sw[u->row]),
			u->col + 1);
		return;
	}
	chan_label(label, sizeof(label), s->fabric, cell->chan);
	if (cell->count > 1)
		snprintf(title, sizeof(title), "Worst of %u: %s", cell->count, label);
	else
		snprintf(title, sizeof(title), "%s", label);
	canvas_rule(c, r, 0, title);
	chan_detail_draw(&u->detail, ui, s, c, (struct rect){ r.x, r.y + 1, r.w, r.h - 1 },
			 cell->chan);
}

static int label_width(const struct heatmap_ui *u, const struct state *s, struct rect r)
{
	const struct heat_plane *p = plane_of(u);
	int w = 6, most = r.w / 5;
	char name[NAME_LEN];

	for (uint32_t i = 0; i < p->nrow && i < 64; i++) {
		int n = text_width(switch_label(name, sizeof(name), s->fabric, p->row_sw[i]));

		w = n > w ? n : w;
	}
	return (w < most ? w : most) + 2;
}

static void heatmap_draw(void *own, struct ui *ui, struct canvas *c, struct rect r,
			 const struct state *s)
{
	struct heatmap_ui *u = own;
	struct rect matrix = { r.x, r.y + 2, r.w, r.h - 2 - 6 }; /* legend, detail below */

	if (!s->fabric || !s->fabric->nchan) {
		canvas_rule(c, r, 0, "Heatmap");
		canvas_text(c, r, 1, 2, ROLE_DIM,
			    s->fabric ? "this fabric has no links between switches"
				      : "no fabric yet");
		return;
	}
	follow(u, ui, s);
	if (!u->zoom) {
		heat_window_set(&u->window, plane_of(u), matrix, label_width(u, s, r), 1, 0, 0);
		u->zoom = plane_of(u)->nrow > 4 * u->window.vis_rows ? u->window.fit : 1;
	}
	heat_window_set(&u->window, plane_of(u), matrix, label_width(u, s, r), u->zoom, u->row,
			u->col);
	read_window(u, ui, s);
	draw_title(u, ui, s, c, r);
	draw_heads(u, c, r, 1);
	for (uint32_t y = 0; y < u->window.vis_rows; y++) {
		draw_row_label(u, s, c, (int)y);
		for (uint32_t x = 0; x < u->window.vis_cols; x++)
			draw_cell(u, ui, s, c, (int)x * u->window.cell_w + (u->window.cell_w == 3),
				  (int)y, &u->cell[(size_t)y * u->window.vis_cols + x]);
	}
	draw_cursor(u, c);
	draw_legend(u, ui, s, c, r, r.h - 6);
	draw_detail(u, ui, s, c, (struct rect){ r.x, r.y + r.h - 5, r.w, 5 });
}

static void move_by(uint32_t *at, int64_t by, uint32_t n)
{
	int64_t to = (int64_t)*at + by;

	*at = to < 0 ? 0 : to >= (int64_t)n ? (n ? n - 1 : 0) : (uint32_t)to;
}

static bool heatmap_move(struct heatmap_ui *u, enum req req)
{
	const struct heat_plane *p = plane_of(u);
	const struct heat_window *w = &u->window;
	int64_t page = (int64_t)w->vis_rows * w->row_n;

	switch (req) {
	case REQ_UP:
		move_by(&u->row, -(int64_t)w->row_n, p->nrow);
		return true;
	case REQ_DOWN:
		move_by(&u->row, w->row_n, p->nrow);
		return true;
	case REQ_LEFT:
		move_by(&u->col, -(int64_t)w->col_n, p->ncol);
		return true;
	case REQ_RIGHT:
		move_by(&u->col, w->col_n, p->ncol);
		return true;
	case REQ_PAGE_UP:
		move_by(&u->row, -page, p->nrow);
		return true;
	case REQ_PAGE_DOWN:
		move_by(&u->row, page, p->nrow);
		return true;
	case REQ_TOP:
		u->row = 0;
		return true;
	case REQ_BOTTOM:
		u->row = p->nrow ? p->nrow - 1 : 0;
		return true;
	default:
		return false;
	}
}

static void next_zoom(struct heatmap_ui *u)
{
	if (u->zoom >= u->window.fit)
		u->zoom = 1;
	else
		u->zoom = u->zoom * 2 < u->window.fit ? u->zoom * 2 : u->window.fit;
}

static void open_cell(struct heatmap_ui *u, struct ui *ui)
{
	const struct heat_window *w = &u->window;
	uint32_t y = u->row / w->row_n - w->top, x = u->col / w->col_n - w->left;
	const struct heat_cell *cell = &u->cell[(size_t)y * w->vis_cols + x];

	if (cell->state == CELL_NONE) {
		ui_say(ui, "no link in this cell");
		return;
	}
	u->told = cell->chan;
	ui_select_chan(ui, cell->chan);
	ui_goto(ui, VIEW_LINKS);
}

static void toggle_compare(struct ui *ui, const struct state *s)
{
	if (!state_preview_ready(s) || !s->preview.before)
		ui_say(ui, "nothing to compare yet: 6, choose an engine, Space computes a preview");
	else
		ui_compare(ui, !ui_comparing(ui));
}

static bool heatmap_input(void *own, struct ui *ui, const struct input *in, const struct state *s,
			  struct request *out)
{
	struct heatmap_ui *u = own;

	(void)out;
	/* the layout is made when first drawn */
	if (!u->layout || u->layout->fabric != s->fabric || !u->ncell)
		return false;
	if (heatmap_move(u, in->req))
		return true;
	switch (in->req) {
	case REQ_METRIC:
		if (ui_comparing(ui))
			ui_compare(ui, false);
		else
			u->metric = (u->metric + 1) % METRICS;
		return true;
	case REQ_DIRECTION:
		u->down = !u->down;
		return true;
	case REQ_LAYOUT:
		set_plane(u, (u->plane + 1) % u->layout->nplane);
		return true;
	case REQ_ZOOM:
		next_zoom(u);
		return true;
	case REQ_COMPARE:
		toggle_compare(ui, s);
		return true;
	case REQ_ENTER:
		open_cell(u, ui);
		return true;
	default:
		return false;
	}
}

static void heatmap_context(const void *own, const struct state *s, char *buf, size_t len)
{
	const struct heatmap_ui *u = own;

	if (!s->fabric || !u->layout || u->layout->fabric != s->fabric)
		buf[0] = '\0';
	else
		snprintf(buf, len, "%s  layout %u/%u  zoom %u", metric_name(u->metric),
			 u->plane + 1, u->layout->nplane, u->window.row_n);
}

const struct view view_heatmap = {
	.name = "Heatmap",
	.title = "Heatmap",
	.size = sizeof(struct heatmap_ui),
	.done = heatmap_done,
	.draw = heatmap_draw,
	.input = heatmap_input,
	.context = heatmap_context,
};
