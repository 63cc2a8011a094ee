/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The heatmap: a matrix of cells, one or more channels each; the worst of them counts.  From all
 * of the fabric on one screen over n x n pairs and single pairs down to the cables of a pair.
 */
#include "views/canvas/list.h"
#include "views/canvas/name_fit.h"
#include "views/data/chan_value.h"
#include "views/data/exclude.h"
#include "views/data/row_notes.h"
#include "views/data/state/key_hint.h"
#include "views/heatmap/heat_cables.h"
#include "views/heatmap/heat_totals.h"
#include "views/heatmap/heat_window.h"
#include "views/heatmap/heat_worst.h"
#include "views/links/chan_detail.h"
#include "views/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOTALS_FROM 24 /* lines of a matrix that has totals below it */
#define MANY_ROWS   64
#define HOLD_S	    5 /* rows do not move while the cursor does */

/* A rule and what is below it. */
static int heatmap_detail_lines(struct rect r)
{
	return list_detail_lines(r.h - 1, 1 + CHAN_DETAIL_LINES);
}

struct heatmap_ui {
	struct heat_layout *layout;
	uint32_t plane;
	enum chan_metric metric, drawn; /* drawn: another one while a plan is compared */
	uint8_t dir;
	uint32_t zoom;	   /* switches per cell; 0: not chosen yet */
	bool below;	   /* totals of columns are */
	uint32_t row, col; /* cursor, in rows as shown and columns of the plane */
	enum heat_sort sort;
	struct heat_rows rows;
	const struct rates *sorted_by; /* rates that the rows were sorted by; not owned */
	int64_t moved_s;
	struct heat_window window;
	struct heat_cells cells;
	struct heat_totals totals;
	struct heat_worst worst;
	struct heat_cables cables;
	bool chosen; /* the metric was, by the operator */
	struct view_choice wanted;
	uint32_t shared_chan; /* channel last given to the other views, or taken from them */
};

static const struct heat_plane *heatmap_plane(const struct heatmap_ui *u)
{
	return &u->layout->plane[u->plane];
}

static void heatmap_done(void *own)
{
	struct heatmap_ui *u = own;

	heat_layout_free(u->layout);
	heat_rows_done(&u->rows);
	heat_cells_done(&u->cells);
	heat_totals_done(&u->totals);
}

static bool heatmap_shows_delta(const struct context *ctx, const struct state *s)
{
	return ctx->compare && state_plan(s)->before;
}

static struct heat_sight heatmap_sight(const struct heatmap_ui *u, const struct context *ctx,
				       const struct state *s)
{
	return (struct heat_sight){ heatmap_plane(u), &u->rows, &u->window,
				    heatmap_shows_delta(ctx, s) ? CHAN_DELTA
								: chan_metric_shown(u->metric, s),
				    u->dir };
}

/* --- drawing --------------------------------------------------------------------------------- */

static void heatmap_draw_cursor(struct heatmap_ui *u, struct canvas *c)
{
	const struct heat_window *w = &u->window;
	int x = (int)(u->col / w->col_n - w->left) * w->cell_w;
	int y = (int)((u->row / w->row_n - w->top) / w->per_line);

	if (w->cell_w == 3) {
		canvas_char(c, w->rows, x, y, ROLE_KEY, '[');
		canvas_char(c, w->rows, x + 2, y, ROLE_KEY, ']');
		return;
	}
	canvas_style(c, (struct rect){ w->rows.x + x, w->rows.y + y, 1, 1 }, ROLE_KEY, true);
}

/* A switch among the rows that a label stands for is tagged. */
static bool heatmap_row_tagged(const struct heatmap_ui *u, const struct context *ctx,
			       uint32_t first)
{
	const struct heat_plane *p = heatmap_plane(u);

	uint32_t n = u->window.row_n * u->window.per_line;

	for (uint32_t i = first; p->row_sw && i < first + n && i < p->nrow; i++)
		if (tags_switch(&ctx->tags, p->row_sw[u->rows.row[i]]))
			return true;
	return false;
}

static void heatmap_draw_row_label(const struct heatmap_ui *u, const struct context *ctx,
				   const struct state *s, struct canvas *c, int y)
{
	const struct heat_window *w = &u->window;
	uint32_t first = (w->top + (uint32_t)y * w->per_line) * w->row_n;
	bool here = u->row >= first && u->row < first + w->row_n * w->per_line;
	struct rect r = { w->rows.x - w->label_w, w->rows.y, w->label_w, w->rows.h };
	enum role role = here ? ROLE_KEY : ROLE_LABEL;
	char name[NAME_LEN];

	canvas_char(c, r, 0, y, role, here ? '>' : ' ');
	name_fit_draw(c, r, 1, y, w->label_w - 2, role, s->fabric,
		      heat_row_label(name, heatmap_plane(u), s->fabric, u->rows.row[first]));
	if (heatmap_row_tagged(u, ctx, first))
		canvas_char(c, r, w->label_w - 1, y, ROLE_KEY, '+');
}

/* Column numbers, from 1, in the units of the matrix. */
static void heatmap_draw_heads(const struct heatmap_ui *u, const struct context *ctx,
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
			if (tags_switch(&ctx->tags, heatmap_plane(u)->col_sw[k]))
				canvas_char(c, at, (int)i * w->cell_w + (w->cell_w == 3), y,
					    ROLE_KEY, '+');
	canvas_name(c, r, 1, y, w->label_w - 2, ROLE_LABEL, heatmap_plane(u)->row_name);
}

static uint32_t heatmap_least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void heatmap_draw_title(const struct heatmap_ui *u, const struct context *ctx,
			       const struct state *s, struct canvas *c, struct rect r)
{
	const struct heat_plane *p = heatmap_plane(u);
	const struct heat_window *w = &u->window;
	char title[400], metric[96], range[96] = "", zoom[48] = "";
	const char *note = p->set == u->layout->plane[0].set ? u->layout->note : "";
	const char *sort = heat_sort_name(u->sort);
	int n = 0, end;

	if (w->row_n > 1 || w->col_n > 1)
		snprintf(zoom, sizeof(zoom), " | 1 cell = worst of %ux%u", w->row_n, w->col_n);
	snprintf(title, sizeof(title), "%s: %s | %s%s%s%s", p->title,
		 chan_metric_title(metric, sizeof(metric), heatmap_sight(u, ctx, s).metric, s),
		 p->dir[u->dir], sort[0] ? " | rows " : "", sort, zoom);
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

static void heatmap_draw_detail(struct heatmap_ui *u, const struct context *ctx,
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
	if (cell->count > 1 && cell->known && heat_totals_suit(heatmap_sight(u, ctx, s).metric))
		n += snprintf(title + n, sizeof(title) - (size_t)n, ", mean %s%%",
			      figure_pct(from, cell->sum / cell->known));
	if (cell->count > 1 && cell->down)
		n += snprintf(title + n, sizeof(title) - (size_t)n, " (%u down)", cell->down);
	if (cell->count > 1 && cell->silent)
		n += snprintf(title + n, sizeof(title) - (size_t)n, " (%u no reply)", cell->silent);
	if (n)
		n += snprintf(title + n, sizeof(title) - (size_t)n, ": ");
	name_fit(title + n, sizeof(title) - (size_t)n, s->fabric,
		 chan_label(label, sizeof(label), s->fabric, cell->chan), r.w - 6 - n);
	row_note_append(title, sizeof(title), row_notes_chan(s->row_notes, s->fabric, cell->chan));
	canvas_rule(c, r, 0, title);
	chan_detail_draw(ctx, s, c, (struct rect){ r.x, r.y + 1, r.w, r.h - 1 }, cell->chan);
}

static int heatmap_label_width(const struct heatmap_ui *u, const struct state *s, struct rect r)
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

/* Totals behind the rows have the columns that the matrix leaves, and those below it two lines of a
 * high one. */
static bool heatmap_has_totals(const struct heatmap_ui *u, const struct context *ctx,
			       const struct state *s, struct rect r)
{
	const struct heat_window *w = &u->window;

	return heat_totals_suit(heatmap_sight(u, ctx, s).metric) && heatmap_plane(u)->ncol > 1 &&
	       w->label_w + (int)w->vis_cols * w->cell_w + 1 + HEAT_TOTALS_W <= r.w;
}

static void heatmap_draw_line(const struct heatmap_ui *u, const struct context *ctx,
			      struct canvas *c, uint32_t y)
{
	const struct heat_window *w = &u->window;
	uint32_t row = y * w->per_line;
	const struct heat_cell *cell = &u->cells.cell[(size_t)row * w->vis_cols];

	for (uint32_t x = 0; x < w->vis_cols; x++) {
		if (w->per_line == 1)
			heat_cell_draw(&cell[x], w, c, x, y);
		else
			heat_cells_draw_halves(
				&cell[x], row + 1 < w->vis_rows ? &cell[w->vis_cols + x] : NULL,
				ctx->palette, w, c, x, y);
	}
}

/* In half blocks where they may be, and say something. */
static void heatmap_read_cells(struct heatmap_ui *u, const struct context *ctx,
			       const struct state *s, struct rect matrix)
{
	struct heat_window *w = &u->window;
	struct heat_sight at = heatmap_sight(u, ctx, s);

	heat_cells_read(&u->cells, &at, ctx, s);
	if (heat_cells_too_mixed(&u->cells, w)) {
		w->may_halve = false;
		heat_window_set(w, heatmap_plane(u), matrix, w->label_w, u->zoom, u->row, u->col);
		heat_cells_read(&u->cells, &at, ctx, s);
	}
	heat_cells_calm(&u->cells, w);
}

/* By name, in the columns that the matrix leaves. */
static void heatmap_draw_worst(struct heatmap_ui *u, const struct context *ctx, struct canvas *c,
			       struct rect r, int below, const struct state *s)
{
	const struct heat_window *w = &u->window;
	const struct heat_cell *here = heat_cells_at(&u->cells, w, u->row, u->col);
	int x = w->label_w + (int)w->vis_cols * w->cell_w + 3;

	u->worst.n = 0;
	if (heatmap_has_totals(u, ctx, s, r))
		x += HEAT_TOTALS_W;
	if (r.w - x < HEAT_WORST_W || w->vis_rows * w->vis_cols > HEAT_WORST_CELLS)
		return;
	heat_worst_draw(&u->worst, &u->cells, w, ctx, s, c,
			(struct rect){ r.x + x, r.y + 1, r.w - x, r.h - 2 - below },
			here && here->count ? here->chan : FAB_NONE);
}

static void heatmap_matrix(struct heatmap_ui *u, const struct context *ctx, struct canvas *c,
			   struct rect r, const struct state *s)
{
	struct heat_window *w = &u->window;
	int below = heatmap_detail_lines(r);
	struct heat_sight at;

	at = heatmap_sight(u, ctx, s);
	heatmap_draw_title(u, ctx, s, c, r);
	heatmap_draw_heads(u, ctx, c, r, 1);
	for (uint32_t y = 0; y < w->vis_lines; y++) {
		heatmap_draw_row_label(u, ctx, s, c, (int)y);
		heatmap_draw_line(u, ctx, c, y);
	}
	heatmap_draw_cursor(u, c);
	if (heatmap_has_totals(u, ctx, s, r))
		heat_totals_draw(&u->totals, &at, ctx, s, c, u->below);
	heatmap_draw_worst(u, ctx, c, r, below, s);
	if (below)
		heatmap_draw_detail(u, ctx, s, c,
				    (struct rect){ r.x, r.y + r.h - below, r.w, below });
}

static void heatmap_cables(struct heatmap_ui *u, const struct context *ctx, struct canvas *c,
			   struct rect r, const struct state *s)
{
	int below = heatmap_detail_lines(r);
	uint32_t chan;
	char label[256];

	heat_cables_draw(&u->cables, ctx, c, (struct rect){ r.x, r.y, r.w, r.h - below - 1 }, s);
	if (!below)
		return;
	chan = heat_cables_cursor(&u->cables);
	chan_label(label, sizeof(label), s->fabric, chan);
	canvas_rule(c, r, r.h - below,
		    row_note_append(label, sizeof(label),
				    row_notes_chan(s->row_notes, s->fabric, chan)));
	chan_detail_draw(ctx, s, c, (struct rect){ r.x, r.y + r.h - below + 1, r.w, below - 1 },
			 chan);
}

static void heatmap_legend_halves(const struct context *ctx, enum heat_quiet quiet,
				  struct canvas *c, struct rect line)
{
	const char *const texts[HALF_LOOKS] = { "no link", quiet < HEAT_HOT ? "<30 %" : "<75 %",
						"<75 %", ">=75 %", "down or no reply" };
	int x = 1;

	for (int i = HALF_COOL; i < HALF_LOOKS; i++) {
		if (i == HALF_WARM && quiet >= HEAT_HOT)
			continue;
		canvas_text(c, line, x, 0, half_role(ctx->palette, (enum half)i, (enum half)i),
			    "  ");
		x = canvas_textf(c, line, x + 3, 0, ROLE_DIM, "%s   ", texts[i]);
	}
	canvas_textf(c, line, x, 0, ROLE_DIM, "blank %s", texts[HALF_NONE]);
}

static void heatmap_legend(const struct heatmap_ui *u, const struct context *ctx,
			   const struct state *s, struct canvas *c, struct rect r)
{
	struct rect line = { r.x, r.y + r.h - heatmap_detail_lines(r) - 1, r.w, 1 };
	char job[JOB_ID_LEN + 16], id[JOB_ID_LEN];
	int end = r.w;

	if (tags_any(&ctx->tags)) {
		end -= 11;
		canvas_text(c, line, end, 0, ROLE_KEY, "> + tagged");
	}
	if (ctx->job.id) {
		snprintf(job, sizeof(job), " ' not job %s",
			 jobset_id_text(id, ctx->summary.jobs, ctx->job.id));
		end -= text_width(job) + 1;
		canvas_text(c, line, end, 0, ROLE_KEY, job);
	}
	line.w = end;
	if (u->window.per_line == 2 && !u->cables.open) {
		heatmap_legend_halves(ctx, u->window.quiet, c, line);
		return;
	}
	chan_value_legend(heatmap_sight(u, ctx, s).metric, ctx->palette,
			  u->cables.open ? HEAT_LOUD : u->window.quiet, s, c, line, 0);
}

/* --- what is shown --------------------------------------------------------------------------- */

/* The cursor stays on the row of the plane that it was on. */
static void heatmap_sort_rows(struct heatmap_ui *u, const struct context *ctx,
			      const struct state *s)
{
	uint32_t at = u->row < u->rows.n ? u->rows.row[u->row] : 0;

	heat_rows_set(&u->rows, heatmap_plane(u), u->sort, s, ctx->summary.racks);
	u->row = heat_rows_find(&u->rows, at);
	u->sorted_by = s->rates;
}

static void heatmap_set_plane(struct heatmap_ui *u, const struct context *ctx,
			      const struct state *s, uint32_t plane)
{
	const struct heat_plane *p = &u->layout->plane[plane];
	uint32_t row = 0;

	u->plane = plane;
	u->zoom = 0;
	u->cables.open = false;
	memset(&u->window, 0, sizeof(u->window));
	if (!heat_sort_suits(u->sort, p, ctx->summary.racks))
		u->sort = HEAT_BY_PLACE;
	heat_rows_set(&u->rows, p, u->sort, s, ctx->summary.racks);
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
static void heatmap_go_to(struct heatmap_ui *u, const struct context *ctx, const struct state *s,
			  uint32_t chan)
{
	for (uint32_t i = 0; i < u->layout->nplane; i++) {
		uint32_t k = (u->plane + i) % u->layout->nplane;
		struct heat_spot spot;

		if (!heat_plane_find(&u->layout->plane[k], s->fabric, chan, &spot))
			continue;
		if (k != u->plane)
			heatmap_set_plane(u, ctx, s, k);
		u->cables.open = false;
		u->dir = spot.opposite;
		u->row = heat_rows_find(&u->rows, spot.row);
		u->col = spot.col;
		return;
	}
}

/* Follows the state and the other views. */
static void heatmap_follow(struct heatmap_ui *u, const struct context *ctx, const struct state *s)
{
	const struct fabric_summary *v = &ctx->summary;
	uint32_t chan = ctx->chan;

	if (!u->layout || u->layout->fabric != s->fabric) {
		heat_layout_free(u->layout);
		u->layout = heat_layout_new(s->fabric, v->topology, v->racks);
		heatmap_set_plane(u, ctx, s, 0);
		u->shared_chan = FAB_NONE;
	}
	if (u->sort == HEAT_BY_UTIL && s->rates != u->sorted_by && s->now_s - u->moved_s >= HOLD_S)
		heatmap_sort_rows(u, ctx, s);
	if (chan == FAB_NONE || chan == u->shared_chan)
		return;
	u->shared_chan = chan;
	heatmap_go_to(u, ctx, s, chan);
}

static void heatmap_no_choice(struct context *ctx, const char *text)
{
	context_say(ctx, "unknown heatmap setting '%s'; the key cycles through all of them", text);
}

/* A choice by name, as a command gives it; false: it has no name, the next one is wanted. */
static bool heatmap_named_setting(struct heatmap_ui *u, struct context *ctx, const struct state *s,
				  const struct input *in)
{
	uint32_t i;

	if (!in->text || !in->text[0] ||
	    (in->req != REQ_METRIC && in->req != REQ_LAYOUT && in->req != REQ_ROWS &&
	     in->req != REQ_ZOOM))
		return false;
	i = in->req == REQ_METRIC   ? heat_metric_named(in->text)
	    : in->req == REQ_LAYOUT ? heat_plane_named(u->layout, in->text)
	    : in->req == REQ_ROWS   ? heat_sort_named(in->text)
				    : HEAT_NO_CHOICE;
	if (i == HEAT_NO_CHOICE) {
		heatmap_no_choice(ctx, in->text);
	} else if (in->req == REQ_METRIC) {
		u->chosen = true;
		ctx->compare = i == CHAN_DELTA;
		u->metric = i == CHAN_DELTA ? u->metric : (enum chan_metric)i;
	} else if (in->req == REQ_LAYOUT) {
		heatmap_set_plane(u, ctx, s, i);
	} else if (heat_sort_suits((enum heat_sort)i, heatmap_plane(u), ctx->summary.racks)) {
		u->sort = (enum heat_sort)i;
		heatmap_sort_rows(u, ctx, s);
	} else {
		context_say(ctx, "no racks known: none in node names, and no usable --racks file");
	}
	return true;
}

/* What a saved view has, once there is a layout to have it. */
static void heatmap_take_choice(struct heatmap_ui *u, struct context *ctx, const struct state *s)
{
	const struct view_choice want = u->wanted;

	u->wanted = (struct view_choice){ .layout = "" };
	heatmap_named_setting(u, ctx, s, &(struct input){ .req = REQ_LAYOUT, .text = want.layout });
	heatmap_named_setting(u, ctx, s, &(struct input){ .req = REQ_METRIC, .text = want.metric });
}

/* All of it, where that takes no more than two rows a cell in half blocks, or single rows are far
 * too many; else single rows. */
static uint32_t heatmap_first_zoom(struct heatmap_ui *u, struct rect matrix, int label_w)
{
	struct heat_window *w = &u->window;
	const struct heat_plane *p = heatmap_plane(u);
	bool all;

	heat_window_set(w, p, matrix, label_w, UINT32_MAX, 0, 0);
	all = w->per_line == 2 && w->row_n <= 2 && p->nrow > MANY_ROWS;
	heat_window_set(w, p, matrix, label_w, 1, 0, 0);
	return all || p->nrow > 4 * w->vis_rows ? w->fit : 1;
}

/* Half blocks are for shares, in colours. */
static bool heatmap_may_halve(const struct heatmap_ui *u, const struct context *ctx,
			      const struct state *s, const struct canvas *c)
{
	return !c->ascii && s->colours >= 256 && ctx->palette != PALETTE_NONE &&
	       heat_totals_suit(heatmap_sight(u, ctx, s).metric);
}

/* The cable that the lines below the matrix are of. */
static void heatmap_tell_cursor(const struct heatmap_ui *u, struct context *ctx,
				const struct state *s)
{
	const struct heat_cell *cell =
		u->cables.open ? NULL : heat_cells_at(&u->cells, &u->window, u->row, u->col);
	uint32_t chan = u->cables.open	      ? heat_cables_cursor(&u->cables)
			: cell && cell->count ? cell->chan
					      : FAB_NONE;

	ctx->row = (struct context_row){ .sw = FAB_NONE, .view = VIEW_HEATMAP };
	if (chan < s->fabric->nchan) {
		ctx->row.sw = s->fabric->chan_src[chan];
		ctx->row.port = s->fabric->chan_port[chan];
	}
}

static void heatmap_draw(void *own, struct context *ctx, struct canvas *c, struct rect r,
			 const struct state *s)
{
	struct heatmap_ui *u = own;
	struct rect matrix = { r.x, r.y + 2, r.w, r.h - 2 - 1 - heatmap_detail_lines(r) };
	int label_w;

	ctx->metric = u->metric == CHAN_WAIT	 ? HISTORY_WAIT
		      : u->metric == CHAN_ERRORS ? HISTORY_ERRORS
						 : HISTORY_UTIL;
	ctx->row = (struct context_row){ .sw = FAB_NONE };
	if (!s->fabric || !s->fabric->nchan) {
		canvas_rule(c, r, 0, "Heatmap");
		canvas_text(c, r, 1, 2, ROLE_DIM,
			    s->fabric ? "this fabric has no links between switches"
				      : "no fabric yet");
		return;
	}
	heatmap_follow(u, ctx, s);
	heatmap_take_choice(u, ctx, s);
	if (!u->chosen)
		u->metric = chan_metric_first(u->metric, s);
	u->below = matrix.h >= TOTALS_FROM && heat_totals_suit(heatmap_sight(u, ctx, s).metric);
	matrix.h -= u->below ? HEAT_TOTALS_H : 0;
	label_w = heatmap_label_width(u, s, r);
	u->window.may_halve = heatmap_may_halve(u, ctx, s, c);
	if (!u->zoom)
		u->zoom = heatmap_first_zoom(u, matrix, label_w);
	heat_window_set(&u->window, heatmap_plane(u), matrix, label_w, u->zoom, u->row, u->col);
	if (!u->cables.open)
		heatmap_read_cells(u, ctx, s, matrix);
	if (u->cables.open)
		heatmap_cables(u, ctx, c, r, s);
	else
		heatmap_matrix(u, ctx, c, r, s);
	heatmap_legend(u, ctx, s, c, r);
	heatmap_tell_cursor(u, ctx, s);
	u->drawn = heatmap_sight(u, ctx, s).metric;
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

static void heatmap_open_cables(struct heatmap_ui *u, struct context *ctx, const struct state *s)
{
	struct heat_sight at = heatmap_sight(u, ctx, s);

	if (!heat_cables_open(&u->cables, &at, ctx, s, u->row, u->col))
		context_say(ctx, "no link in this cell");
}

/* All, halves of it, single pairs, the cables of the pair; then all again. */
static void heatmap_zoom_in(struct heatmap_ui *u, struct context *ctx, const struct state *s)
{
	if (u->cables.open) {
		u->cables.open = false;
		u->zoom = u->window.fit;
	} else if (!u->window.row_n) {
		return; /* another matrix, not drawn yet: keys may come faster */
	} else if (u->zoom > 1) {
		u->zoom = u->zoom > u->window.fit ? u->window.fit / 2 : u->zoom / 2;
		u->zoom = u->zoom ? u->zoom : 1;
	} else {
		heatmap_open_cables(u, ctx, s);
	}
}

static void heatmap_select_and_go(struct heatmap_ui *u, struct context *ctx, uint32_t chan)
{
	u->shared_chan = chan;
	ctx->chan = chan;
	context_goto(ctx, VIEW_LINKS);
}

/* Opens the cell: of several pairs the worst one, of a pair its cables, of a cable the link. */
static void heatmap_open_cell(struct heatmap_ui *u, struct context *ctx, const struct state *s)
{
	const struct heat_window *w = &u->window;
	const struct heat_cell *cell;
	struct heat_spot spot;

	if (u->cables.open) {
		heatmap_select_and_go(u, ctx, heat_cables_cursor(&u->cables));
		return;
	}
	cell = heat_cells_at(&u->cells, w, u->row, u->col);
	if (!cell)
		return; /* not drawn yet: keys may come faster */
	if (!cell->count) {
		context_say(ctx, "no link in this cell");
	} else if (w->row_n == 1 && w->col_n == 1) {
		if (cell->count > 1)
			heatmap_open_cables(u, ctx, s);
		else
			heatmap_select_and_go(u, ctx, cell->chan);
	} else if (heat_plane_find(heatmap_plane(u), s->fabric,
				   u->dir ? s->fabric->chan_rev[cell->chan] : cell->chan, &spot)) {
		u->zoom = 1;
		u->row = heat_rows_find(&u->rows, spot.row);
		u->col = spot.col;
	}
}

static void heatmap_exclude_cell(struct heatmap_ui *u, struct context *ctx, const struct state *s)
{
	const struct heat_cell *cell = heat_cells_at(&u->cells, &u->window, u->row, u->col);

	if (u->cables.open)
		exclude_cable(ctx, s, heat_cables_cursor(&u->cables));
	else if (cell && cell->count == 1)
		exclude_cable(ctx, s, cell->chan);
	else if (cell && cell->count)
		context_say(ctx, "several cables in this cell: %s shows them one by one",
			    key_hint("zoom"));
	else if (cell)
		context_say(ctx, "no link in this cell");
}

/* What a plan changes comes after the last metric, where there is one. */
static void heatmap_next_metric(struct heatmap_ui *u, struct context *ctx, const struct state *s)
{
	bool delta = heatmap_shows_delta(ctx, s);

	u->chosen = true;
	ctx->compare = false;
	if (delta)
		u->metric = CHAN_UTIL;
	else if (chan_metric_next(u->metric, s) < CHAN_DELTA)
		u->metric = chan_metric_next(u->metric, s);
	else if (state_plan(s)->before)
		ctx->compare = true;
	else
		u->metric = CHAN_UTIL;
}

static void heatmap_next_sort(struct heatmap_ui *u, struct context *ctx, const struct state *s)
{
	do
		u->sort = (u->sort + 1) % HEAT_SORTS;
	while (!heat_sort_suits(u->sort, heatmap_plane(u), ctx->summary.racks));
	heatmap_sort_rows(u, ctx, s);
	context_say(ctx, "rows %s",
		    u->sort == HEAT_BY_PLACE ? "in the order of the layout"
					     : heat_sort_name(u->sort));
}

/* What a plan changes; without one, what is not as at the other moment. */
static void heatmap_toggle_compare(struct heatmap_ui *u, struct context *ctx, const struct state *s)
{
	if (state_plan(s)->before)
		ctx->compare = !ctx->compare;
	else if (s->against)
		u->metric = u->metric == CHAN_UTIL_CHANGE ? CHAN_UTIL : CHAN_UTIL_CHANGE;
	else if (state_preview_ready(s))
		context_say(ctx, "nothing to compare with: the tables in use are unknown");
	else
		context_say(ctx, "nothing to compare yet: compute a preview in view 6, or set a "
				 "moment by :against TIME");
}

/* The cell under the mouse; clicked again it is opened. */
/* A row of the list beside the matrix: to its cell; again: open it. */
static bool heatmap_click_worst(struct heatmap_ui *u, struct context *ctx, const struct input *in,
				const struct state *s)
{
	const struct heat_cell *here = heat_cells_at(&u->cells, &u->window, u->row, u->col);
	uint32_t chan = heat_worst_at(&u->worst, in->x, in->y);

	if (u->cables.open || chan == FAB_NONE)
		return false;
	if (here && here->count && here->chan == chan)
		heatmap_open_cell(u, ctx, s);
	else
		heatmap_go_to(u, ctx, s, chan);
	u->moved_s = s->now_s;
	return true;
}

static bool heatmap_click(struct heatmap_ui *u, struct context *ctx, const struct input *in,
			  const struct state *s)
{
	const struct heat_window *w = &u->window;
	int x = in->x - w->rows.x, y = in->y - w->rows.y;
	uint32_t row, col;

	if (u->cables.open || x < 0 || y < 0 || y >= (int)w->vis_lines ||
	    x / w->cell_w >= (int)w->vis_cols)
		return false;
	row = (w->top + (uint32_t)y * w->per_line) * w->row_n;
	col = (w->left + (uint32_t)(x / w->cell_w)) * w->col_n;
	if (u->row / w->row_n / w->per_line == row / w->row_n / w->per_line &&
	    u->col / w->col_n == col / w->col_n) {
		heatmap_open_cell(u, ctx, s);
	} else {
		u->row = row;
		u->col = col;
		u->moved_s = s->now_s;
	}
	return true;
}

static bool heatmap_settings(struct heatmap_ui *u, struct context *ctx, const struct state *s,
			     enum req req)
{
	switch (req) {
	case REQ_METRIC:
		heatmap_next_metric(u, ctx, s);
		return true;
	case REQ_DIRECTION:
		u->dir = !u->dir;
		u->cables.open = false;
		return true;
	case REQ_LAYOUT:
		heatmap_set_plane(u, ctx, s, (u->plane + 1) % u->layout->nplane);
		return true;
	case REQ_ROWS:
		heatmap_next_sort(u, ctx, s);
		return true;
	case REQ_ZOOM:
		heatmap_zoom_in(u, ctx, s);
		return true;
	case REQ_COMPARE:
		heatmap_toggle_compare(u, ctx, s);
		return true;
	case REQ_ENTER:
		heatmap_open_cell(u, ctx, s);
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

static bool heatmap_needs_window(enum req req)
{
	return req != REQ_METRIC && req != REQ_DIRECTION && req != REQ_LAYOUT && req != REQ_ROWS &&
	       req != REQ_COMPARE && req != REQ_BACK;
}

static bool heatmap_input(void *own, struct context *ctx, const struct input *in,
			  const struct state *s, struct request *out)
{
	struct heatmap_ui *u = own;

	(void)out;
	/* the layout is made when first drawn */
	if (!u->layout || u->layout->fabric != s->fabric || !u->cells.cap)
		return false;
	/* nor is the window after another layout was chosen: keys may come faster than frames */
	if (!u->window.row_n && heatmap_needs_window(in->req))
		return false;
	if (u->cables.open && list_move(&u->cables.list, in->req, u->cables.n))
		return true;
	if (heatmap_move(u, in->req)) {
		u->moved_s = s->now_s;
		return true;
	}
	if (in->req == REQ_CLICK)
		return heatmap_click_worst(u, ctx, in, s) || heatmap_click(u, ctx, in, s);
	if (in->req == REQ_EXCLUDE && !(in->text && in->text[0])) {
		heatmap_exclude_cell(u, ctx, s);
		return true;
	}
	return heatmap_named_setting(u, ctx, s, in) || heatmap_settings(u, ctx, s, in->req);
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

static bool heatmap_chosen(const void *own, const struct context *ctx, const struct state *s,
			   struct view_choice *out)
{
	const struct heatmap_ui *u = own;

	if (!s->fabric || !u->layout || u->layout->fabric != s->fabric)
		return false;
	snprintf(out->layout, sizeof(out->layout), "%s", heatmap_plane(u)->title);
	snprintf(out->metric, sizeof(out->metric), "%s",
		 chan_metric_name(heatmap_sight(u, ctx, s).metric));
	return true;
}

static void heatmap_choose(void *own, const struct view_choice *choice)
{
	struct heatmap_ui *u = own;

	u->wanted = *choice;
}

static const char *heatmap_inside(const void *own)
{
	return ((const struct heatmap_ui *)own)->cables.open ? "matrix" : NULL;
}

const struct view view_heatmap = {
	.size = sizeof(struct heatmap_ui),
	.done = heatmap_done,
	.draw = heatmap_draw,
	.input = heatmap_input,
	.context = heatmap_context,
	.inside = heatmap_inside,
	.layout = heatmap_layout_name,
	.chosen = heatmap_chosen,
	.choose = heatmap_choose,
};
