/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The heatmap: a matrix of cells, one or more channels each; the worst of them counts.  From all
 * of the fabric on one screen over n x n pairs and single pairs down to the cables of a pair.
 */
#include "views/heatmap/heat_choice.h"
#include "views/heatmap/heatmap_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOLD_S 5 /* rows do not move while the cursor does */

static void heatmap_done(void *own)
{
	struct heatmap_ui *u = own;

	heat_layout_free(u->layout);
	heat_rows_done(&u->rows);
	heat_cells_done(&u->cells);
}

bool heatmap_shows_delta(const struct shell *shell, const struct state *s)
{
	return shell_comparing(shell) && state_preview_ready(s) && s->preview.before;
}

struct heat_sight heatmap_sight(const struct heatmap_ui *u, const struct shell *shell,
				const struct state *s)
{
	return (struct heat_sight){ heatmap_plane(u), &u->rows, &u->window,
				    heatmap_shows_delta(shell, s) ? CHAN_DELTA : u->metric,
				    u->dir };
}

/* The cursor stays on the row of the plane that it was on. */
static void heatmap_sort_rows(struct heatmap_ui *u, const struct shell *shell,
			      const struct state *s)
{
	uint32_t at = u->row < u->rows.n ? u->rows.row[u->row] : 0;

	heat_rows_set(&u->rows, heatmap_plane(u), u->sort, s, shell_survey(shell)->racks);
	u->row = heat_rows_find(&u->rows, at);
	u->sorted_by = s->rates;
}

static void heatmap_set_plane(struct heatmap_ui *u, const struct shell *shell,
			      const struct state *s, uint32_t plane)
{
	const struct heat_plane *p = &u->layout->plane[plane];
	uint32_t row = 0;

	u->plane = plane;
	u->zoom = 0;
	u->cables.open = false;
	memset(&u->window, 0, sizeof(u->window));
	if (!heat_sort_suits(u->sort, p, shell_survey(shell)->racks))
		u->sort = HEAT_BY_PLACE;
	heat_rows_set(&u->rows, p, u->sort, s, shell_survey(shell)->racks);
	u->sorted_by = s->rates;
	/* the cursor begins on a link */
	for (u->row = 0; u->row < p->nrow; u->row++) {
		row = u->rows.row[u->row];
		if (p->row_off[row + 1] > p->row_off[row])
			break;
	}
	if (u->row == p->nrow)
		u->row = row = 0;
	u->col = p->nrow && p->row_off[row + 1] > p->row_off[row] ? p->col[p->row_off[row]] : 0;
}

/* To the channel that another view selected, in the nearest plane that has it. */
static void heatmap_go_to(struct heatmap_ui *u, const struct shell *shell, const struct state *s,
			  uint32_t chan)
{
	for (uint32_t i = 0; i < u->layout->nplane; i++) {
		uint32_t k = (u->plane + i) % u->layout->nplane;
		struct heat_spot spot;

		if (!heat_plane_find(&u->layout->plane[k], s->fabric, chan, &spot))
			continue;
		if (k != u->plane)
			heatmap_set_plane(u, shell, s, k);
		u->cables.open = false;
		u->dir = spot.opposite;
		u->row = heat_rows_find(&u->rows, spot.row);
		u->col = spot.col;
		return;
	}
}

/* Follows the state and the other views. */
static void heatmap_follow(struct heatmap_ui *u, const struct shell *shell, const struct state *s)
{
	const struct fabric_summary *v = shell_survey(shell);
	uint32_t chan = shell_selected_chan(shell);

	if (!u->layout || u->layout->fabric != s->fabric) {
		heat_layout_free(u->layout);
		u->layout = heat_layout_new(s->fabric, v->shape, v->racks);
		heatmap_set_plane(u, shell, s, 0);
		u->told = FAB_NONE;
	}
	if (u->sort == HEAT_BY_UTIL && s->rates != u->sorted_by && s->now_s - u->moved_s >= HOLD_S)
		heatmap_sort_rows(u, shell, s);
	if (chan == FAB_NONE || chan == u->told)
		return;
	u->told = chan;
	heatmap_go_to(u, shell, s, chan);
}

static void heatmap_draw(void *own, struct shell *shell, struct canvas *c, struct rect r,
			 const struct state *s)
{
	struct heatmap_ui *u = own;
	struct rect matrix = { r.x, r.y + 2, r.w, r.h - 2 - 1 - heatmap_detail_lines(r) };
	int label_w;

	shell_past_set(shell, u->metric == CHAN_WAIT	 ? HISTORY_WAIT
			      : u->metric == CHAN_ERRORS ? HISTORY_ERRORS
							 : HISTORY_UTIL);
	if (!s->fabric || !s->fabric->nchan) {
		canvas_rule(c, r, 0, "Heatmap");
		canvas_text(c, r, 1, 2, ROLE_DIM,
			    s->fabric ? "this fabric has no links between switches"
				      : "no fabric yet");
		return;
	}
	heatmap_follow(u, shell, s);
	label_w = heatmap_label_width(u, s, r);
	if (!u->zoom) {
		heat_window_set(&u->window, heatmap_plane(u), matrix, label_w, 1, 0, 0);
		u->zoom = heatmap_plane(u)->nrow > 4 * u->window.vis_rows ? u->window.fit : 1;
	}
	heat_window_set(&u->window, heatmap_plane(u), matrix, label_w, u->zoom, u->row, u->col);
	if (u->cables.open)
		heatmap_cables(u, shell, c, r, s);
	else
		heatmap_matrix(u, shell, c, r, s);
	heatmap_legend(u, shell, s, c, r);
	u->drawn = heatmap_sight(u, shell, s).metric;
}

static void heatmap_move_by(uint32_t *at, int64_t by, uint32_t n)
{
	int64_t to = (int64_t)*at + by;

	*at = to < 0 ? 0 : to >= (int64_t)n ? (n ? n - 1 : 0) : (uint32_t)to;
}

static bool heatmap_move(struct heatmap_ui *u, enum req req)
{
	const struct heat_plane *p = heatmap_plane(u);
	const struct heat_window *w = &u->window;
	int64_t page = (int64_t)w->vis_rows * w->row_n;

	switch (req) {
	case REQ_UP:
		heatmap_move_by(&u->row, -(int64_t)w->row_n, p->nrow);
		return true;
	case REQ_DOWN:
		heatmap_move_by(&u->row, w->row_n, p->nrow);
		return true;
	case REQ_LEFT:
		heatmap_move_by(&u->col, -(int64_t)w->col_n, p->ncol);
		return true;
	case REQ_RIGHT:
		heatmap_move_by(&u->col, w->col_n, p->ncol);
		return true;
	case REQ_PAGE_UP:
		heatmap_move_by(&u->row, -page, p->nrow);
		return true;
	case REQ_PAGE_DOWN:
		heatmap_move_by(&u->row, page, p->nrow);
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

static void heatmap_open_cables(struct heatmap_ui *u, struct shell *shell, const struct state *s)
{
	struct heat_sight at = heatmap_sight(u, shell, s);

	if (!heat_cables_open(&u->cables, &at, shell, s, u->row, u->col))
		shell_say(shell, "no link in this cell");
}

/* All, halves of it, single pairs, the cables of the pair; then all again. */
static void heatmap_zoom_in(struct heatmap_ui *u, struct shell *shell, const struct state *s)
{
	if (u->cables.open) {
		u->cables.open = false;
		u->zoom = u->window.fit;
	} else if (u->zoom > 1) {
		u->zoom = u->zoom > u->window.fit ? u->window.fit / 2 : u->zoom / 2;
		u->zoom = u->zoom ? u->zoom : 1;
	} else {
		heatmap_open_cables(u, shell, s);
	}
}

static void heatmap_select_and_go(struct heatmap_ui *u, struct shell *shell, uint32_t chan)
{
	u->told = chan;
	shell_select_chan(shell, chan);
	shell_goto(shell, VIEW_LINKS);
}

/* Nearer: from several pairs to the worst of them, from a pair to its cables, then the link. */
static void heatmap_open_cell(struct heatmap_ui *u, struct shell *shell, const struct state *s)
{
	const struct heat_window *w = &u->window;
	const struct heat_cell *cell;
	struct heat_spot spot;

	if (u->cables.open) {
		heatmap_select_and_go(u, shell, heat_cables_cursor(&u->cables));
		return;
	}
	cell = heat_cells_at(&u->cells, w, u->row, u->col);
	if (!cell)
		return; /* not drawn yet: keys may come faster */
	if (!cell->count) {
		shell_say(shell, "no link in this cell");
	} else if (w->row_n == 1 && w->col_n == 1) {
		if (cell->count > 1)
			heatmap_open_cables(u, shell, s);
		else
			heatmap_select_and_go(u, shell, cell->chan);
	} else if (heat_plane_find(heatmap_plane(u), s->fabric,
				   u->dir ? s->fabric->chan_rev[cell->chan] : cell->chan, &spot)) {
		u->zoom = 1;
		u->row = heat_rows_find(&u->rows, spot.row);
		u->col = spot.col;
	}
}

static void heatmap_exclude_cell(struct heatmap_ui *u, struct shell *shell, const struct state *s)
{
	const struct heat_cell *cell = heat_cells_at(&u->cells, &u->window, u->row, u->col);

	if (u->cables.open)
		shell_exclude_cable(shell, s, heat_cables_cursor(&u->cables));
	else if (cell && cell->count == 1)
		shell_exclude_cable(shell, s, cell->chan);
	else if (cell)
		shell_say(shell, cell->count
					 ? "several cables in this cell: z shows them one by one"
					 : "no link in this cell");
}

/* What a proposal changes comes after the last metric, where there is one. */
static void heatmap_next_metric(struct heatmap_ui *u, struct shell *shell, const struct state *s)
{
	bool delta = heatmap_shows_delta(shell, s);

	shell_compare(shell, false);
	if (delta)
		u->metric = CHAN_UTIL;
	else if (u->metric + 1 < CHAN_DELTA)
		u->metric++;
	else if (state_preview_ready(s) && s->preview.before)
		shell_compare(shell, true);
	else
		u->metric = CHAN_UTIL;
}

static void heatmap_next_sort(struct heatmap_ui *u, struct shell *shell, const struct state *s)
{
	do
		u->sort = (u->sort + 1) % HEAT_SORTS;
	while (!heat_sort_suits(u->sort, heatmap_plane(u), shell_survey(shell)->racks));
	heatmap_sort_rows(u, shell, s);
	shell_say(shell, "rows %s",
		  u->sort == HEAT_BY_PLACE ? "in the order of the layout"
					   : heat_sort_name(u->sort));
}

static void heatmap_toggle_compare(struct shell *shell, const struct state *s)
{
	if (!state_preview_ready(s) || !s->preview.before)
		shell_say(shell,
			  "nothing to compare yet: 6, choose an engine, Space computes a preview");
	else
		shell_compare(shell, !shell_comparing(shell));
}

static void heatmap_no_choice(struct shell *shell, const char *text)
{
	shell_say(shell, "the heatmap has no '%s'; the key goes through what it has", text);
}

/* A choice by name, as a command gives it; false: it has no name, the next one is wanted. */
static bool heatmap_named_setting(struct heatmap_ui *u, struct shell *shell, const struct state *s,
				  const struct input *in)
{
	uint32_t i;

	if (!in->text || !in->text[0])
		return false;
	i = in->req == REQ_METRIC   ? heat_metric_named(in->text)
	    : in->req == REQ_LAYOUT ? heat_plane_named(u->layout, in->text)
	    : in->req == REQ_ROWS   ? heat_sort_named(in->text)
				    : HEAT_NO_CHOICE;
	if (i == HEAT_NO_CHOICE) {
		heatmap_no_choice(shell, in->text);
	} else if (in->req == REQ_METRIC) {
		shell_compare(shell, i == CHAN_DELTA);
		u->metric = i == CHAN_DELTA ? u->metric : (enum chan_metric)i;
	} else if (in->req == REQ_LAYOUT) {
		heatmap_set_plane(u, shell, s, i);
	} else if (heat_sort_suits((enum heat_sort)i, heatmap_plane(u),
				   shell_survey(shell)->racks)) {
		u->sort = (enum heat_sort)i;
		heatmap_sort_rows(u, shell, s);
	} else {
		shell_say(
			shell,
			"no racks are known: names have none, and --racks gives no file that suits");
	}
	return true;
}

/* The cell under the mouse; clicked again it is opened. */
static bool heatmap_click(struct heatmap_ui *u, struct shell *shell, const struct input *in,
			  const struct state *s)
{
	const struct heat_window *w = &u->window;
	int x = in->x - w->rows.x, y = in->y - w->rows.y;
	uint32_t row, col;

	if (u->cables.open || x < 0 || y < 0 || y >= (int)w->vis_rows ||
	    x / w->cell_w >= (int)w->vis_cols)
		return false;
	row = (w->top + (uint32_t)y) * w->row_n;
	col = (w->left + (uint32_t)(x / w->cell_w)) * w->col_n;
	if (u->row / w->row_n == row / w->row_n && u->col / w->col_n == col / w->col_n) {
		heatmap_open_cell(u, shell, s);
	} else {
		u->row = row;
		u->col = col;
		u->moved_s = s->now_s;
	}
	return true;
}

static bool heatmap_settings(struct heatmap_ui *u, struct shell *shell, const struct state *s,
			     enum req req)
{
	switch (req) {
	case REQ_METRIC:
		heatmap_next_metric(u, shell, s);
		return true;
	case REQ_DIRECTION:
		u->dir = !u->dir;
		u->cables.open = false;
		return true;
	case REQ_LAYOUT:
		heatmap_set_plane(u, shell, s, (u->plane + 1) % u->layout->nplane);
		return true;
	case REQ_ROWS:
		heatmap_next_sort(u, shell, s);
		return true;
	case REQ_ZOOM:
		heatmap_zoom_in(u, shell, s);
		return true;
	case REQ_COMPARE:
		heatmap_toggle_compare(shell, s);
		return true;
	case REQ_ENTER:
		heatmap_open_cell(u, shell, s);
		return true;
	case REQ_BACK:
		if (!u->cables.open)
			return false;
		u->cables.open = false;
		return true;
	default:
		return false;
	}
}

static bool heatmap_input(void *own, struct shell *shell, const struct input *in,
			  const struct state *s, struct request *out)
{
	struct heatmap_ui *u = own;

	(void)out;
	/* the layout is made when first drawn */
	if (!u->layout || u->layout->fabric != s->fabric || !u->cells.cap)
		return false;
	if (u->cables.open && list_move(&u->cables.list, in->req, u->cables.n))
		return true;
	if (heatmap_move(u, in->req)) {
		u->moved_s = s->now_s;
		return true;
	}
	if (in->req == REQ_CLICK)
		return heatmap_click(u, shell, in, s);
	if (in->req == REQ_EXCLUDE && !(in->text && in->text[0])) {
		heatmap_exclude_cell(u, shell, s);
		return true;
	}
	return heatmap_named_setting(u, shell, s, in) || heatmap_settings(u, shell, s, in->req);
}

static void heatmap_context(const void *own, const struct state *s, char *buf, size_t len)
{
	const struct heatmap_ui *u = own;

	if (!s->fabric || !u->layout || u->layout->fabric != s->fabric)
		buf[0] = '\0';
	else if (u->cables.open)
		snprintf(buf, len, "%s  layout %u/%u  cables", chan_metric_name(u->drawn),
			 u->plane + 1, u->layout->nplane);
	else
		snprintf(buf, len, "%s  layout %u/%u  zoom %u", chan_metric_name(u->drawn),
			 u->plane + 1, u->layout->nplane, u->window.row_n);
}

static const char *heatmap_layout_name(const void *own, const struct state *s, uint32_t i)
{
	const struct heatmap_ui *u = own;
	bool known = u->layout && u->layout->fabric == s->fabric;

	return known && i < u->layout->nplane ? u->layout->plane[i].title : NULL;
}

const struct view view_heatmap = {
	.name = "Heatmap",
	.title = "Heatmap",
	.size = sizeof(struct heatmap_ui),
	.done = heatmap_done,
	.draw = heatmap_draw,
	.input = heatmap_input,
	.context = heatmap_context,
	.layout = heatmap_layout_name,
};
