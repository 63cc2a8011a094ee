/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/heatmap/heat_cells.h"

#include "fabric/base/memory/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A metric is drawn rather than a sign, except for dark links, which the operator looks for. */
static bool heat_cells_worse(enum chan_metric m, const struct chan_value *a,
			     const struct chan_value *b)
{
	if (m != CHAN_DARK && m != CHAN_PROBLEM && !isfinite(a->pct) != !isfinite(b->pct))
		return isfinite(a->pct);
	return a->bad > b->bad;
}

static void heat_cells_add(struct heat_cell *cell, const struct heat_sight *at,
			   const struct context *ctx, const struct state *s, uint32_t chan)
{
	const struct fabric_summary *v = &ctx->summary;
	enum problem problem = PROBLEM_NONE;
	struct chan_value value = chan_value_of(at->metric, ctx->palette, s, v, chan);
	bool dim = context_dims(ctx, chan), first = !cell->count++;

	if (v->down || v->no_reply)
		problem = (enum problem)v->problem[chan_fabric_port(s->fabric, chan)];
	if (isfinite(value.pct)) {
		cell->sum += value.pct;
		cell->known++;
	}
	cell->down += problem == PROBLEM_DOWN;
	cell->silent += problem == PROBLEM_NO_REPLY;
	/* rows that are switches say so themselves */
	if (tags_any(&ctx->tags))
		cell->tagged |= tags_chan(&ctx->tags, chan) ||
				(!at->plane->row_sw &&
				 (tags_switch(&ctx->tags, s->fabric->chan_src[chan]) ||
				  tags_switch(&ctx->tags, s->fabric->chan_dst[chan])));
	if (!first &&
	    (dim != cell->dim ? dim : !heat_cells_worse(at->metric, &value, &cell->value)))
		return;
	cell->value = value;
	cell->chan = chan;
	cell->dim = dim;
}

static uint32_t heat_cells_in_direction(const struct heat_sight *at, const struct state *s,
					uint32_t chan)
{
	return at->dir ? s->fabric->chan_rev[chan] : chan;
}

static void heat_cells_read_row(struct heat_cell *cells, const struct heat_sight *at,
				const struct context *ctx, const struct state *s, uint32_t row)
{
	const struct heat_plane *p = at->plane;
	const struct heat_window *w = at->window;

	for (uint32_t i = p->row_off[row]; i < p->row_off[row + 1]; i++) {
		uint32_t col = p->col[i] / w->col_n;

		if (col >= w->left && col < w->left + w->vis_cols)
			heat_cells_add(&cells[col - w->left], at, ctx, s,
				       heat_cells_in_direction(at, s, p->chan[i]));
	}
}

void heat_cells_read(struct heat_cells *out, const struct heat_sight *at, const struct context *ctx,
		     const struct state *s)
{
	const struct heat_window *w = at->window;
	size_t n = (size_t)w->vis_rows * w->vis_cols;

	if (n > out->cap) {
		out->cell = xrealloc(out->cell, n, sizeof(*out->cell));
		out->cap = n;
	}
	memset(out->cell, 0, n * sizeof(*out->cell));
	for (uint32_t y = 0; y < w->vis_rows; y++) {
		uint32_t first = (w->top + y) * w->row_n;

		for (uint32_t r = first; r < first + w->row_n && r < at->plane->nrow; r++)
			heat_cells_read_row(&out->cell[(size_t)y * w->vis_cols], at, ctx, s,
					    at->rows->row[r]);
	}
}

void heat_cells_done(struct heat_cells *cells)
{
	free(cells->cell);
	memset(cells, 0, sizeof(*cells));
}

const struct heat_cell *heat_cells_at(const struct heat_cells *cells, const struct heat_window *w,
				      uint32_t row, uint32_t col)
{
	uint32_t y, x;

	if (!w->row_n || !w->col_n)
		return NULL;
	y = row / w->row_n - w->top;
	x = col / w->col_n - w->left;
	if (y >= w->vis_rows || x >= w->vis_cols || (size_t)y * w->vis_cols + x >= cells->cap)
		return NULL;
	return &cells->cell[(size_t)y * w->vis_cols + x];
}

/* Before the cell's sign; behind it, where there are two columns; and in one it takes its place. */
static void heat_cells_draw_tag(const struct heat_cell *cell, const struct heat_window *w,
				struct canvas *c, int mid, int y)
{
	if (!cell->tagged)
		return;
	if (w->cell_w == 2)
		canvas_char(c, w->rows, mid + 1, y, ROLE_KEY, '<');
	else
		canvas_char(c, w->rows, w->cell_w == 3 ? mid - 1 : mid, y, ROLE_KEY, TAG_POINT);
}

void heat_cell_draw(const struct heat_cell *cell, const struct heat_window *w, struct canvas *c,
		    uint32_t x, uint32_t y)
{
	int mid = (int)x * w->cell_w + (w->cell_w == 3);
	enum role role = fill_role(heat_role_quiet(cell->value.role, w->quiet));

	if (!cell->count)
		return;
	if (cell->dim) {
		canvas_char(c, w->rows, mid, (int)y, ROLE_DIM, '\'');
		heat_cells_draw_tag(cell, w, c, mid, (int)y);
		return;
	}
	for (int dx = 0; w->cell_w == 3 && role >= ROLE_FILL && dx < 3; dx += 2)
		canvas_char(c, w->rows, mid - 1 + dx, (int)y, role, ' ');
	canvas_char(c, w->rows, mid, (int)y, role, (uint32_t)(unsigned char)cell->value.glyph);
	heat_cells_draw_tag(cell, w, c, mid, (int)y);
}

enum half heat_cell_half(const struct heat_cell *cell, enum heat_quiet quiet)
{
	const struct chan_value *v = &cell->value;

	if (!cell->count)
		return HALF_NONE;
	if (!isfinite(v->pct))
		return v->role == ROLE_BAD || v->role == ROLE_WARN ? HALF_BAD : HALF_COOL;
	return cell->dim || v->pct < 30 ? HALF_COOL
	       : v->pct >= 75		? HALF_HOT
	       : quiet < HEAT_HOT	? HALF_WARM
					: HALF_COOL;
}

void heat_cells_draw_halves(const struct heat_cell *upper, const struct heat_cell *lower,
			    enum palette palette, const struct heat_window *w, struct canvas *c,
			    uint32_t x, uint32_t y)
{
	enum half up = heat_cell_half(upper, w->quiet);
	enum half low = lower ? heat_cell_half(lower, w->quiet) : HALF_NONE;
	uint32_t ch = up == low ? ' ' : up == HALF_NONE ? 0x2584 : 0x2580;
	int x0 = (int)x * w->cell_w;

	for (int dx = 0; dx < w->cell_w; dx++) {
		if (up == HALF_NONE) /* its lower half has the foreground */
			canvas_char(c, w->rows, x0 + dx, (int)y, half_role(palette, low, up), ch);
		else
			canvas_char(c, w->rows, x0 + dx, (int)y, half_role(palette, up, low), ch);
	}
	if (upper->tagged || (lower && lower->tagged))
		canvas_char(c, w->rows, x0, (int)y, ROLE_KEY, TAG_POINT);
}

/* --- fewer colours --------------------------------------------------------------------------- */

/* Bytes to send, about. */
#define MOST_BYTES  6300
#define MOST_MIXED  5000 /* of half blocks */
#define CHANGE_SIGN 5	 /* another colour, between signs */
#define CHANGE_WIDE 9	 /* between signs with blanks around them */
#define CHANGE_HALF 11	 /* between half blocks */
#define HALF_BYTES  3
#define SAME_SIGNS  5 /* of signs that are the same, however many */

/* What has a look of its own; -1: a gap, which has any. */
static int heat_cells_look(const struct heat_cells *cells, const struct heat_window *w, uint32_t x,
			   uint32_t row, enum heat_quiet quiet)
{
	const struct heat_cell *cell = &cells->cell[(size_t)row * w->vis_cols + x];
	enum half low = HALF_NONE;

	if (w->per_line == 1)
		return !cell->count ? -1
		       : cell->dim  ? ROLE_DIM
				    : (int)heat_role_quiet(cell->value.role, quiet);
	if (row + 1 < w->vis_rows)
		low = heat_cell_half(cell + w->vis_cols, quiet);
	return (int)half_role(PALETTE_VIRIDIS, heat_cell_half(cell, quiet), low);
}

static uint32_t heat_cells_changes(const struct heat_cells *cells, const struct heat_window *w,
				   enum heat_quiet quiet)
{
	uint32_t n = 0;

	for (uint32_t row = 0; row < w->vis_rows; row += w->per_line) {
		int last = -1;

		for (uint32_t x = 0; x < w->vis_cols; x++) {
			int look = heat_cells_look(cells, w, x, row, quiet);

			n += look >= 0 && last >= 0 && look != last;
			last = look >= 0 ? look : last;
		}
	}
	return n;
}

static uint32_t heat_cells_mixed_bytes(const struct heat_cells *cells, const struct heat_window *w,
				       enum heat_quiet quiet)
{
	uint32_t mixed = 0;

	for (uint32_t row = 0; row + 1 < w->vis_rows; row += 2)
		for (uint32_t x = 0; x < w->vis_cols; x++) {
			const struct heat_cell *cell = &cells->cell[(size_t)row * w->vis_cols + x];

			mixed += heat_cell_half(cell, quiet) !=
				 heat_cell_half(cell + w->vis_cols, quiet);
		}
	return HALF_BYTES * mixed + CHANGE_HALF * heat_cells_changes(cells, w, quiet);
}

bool heat_cells_too_mixed(const struct heat_cells *cells, const struct heat_window *w)
{
	return w->per_line == 2 && heat_cells_mixed_bytes(cells, w, HEAT_HOT) > MOST_MIXED;
}

/* Signs, one after the other; those of a line that are the same and alike are repeated. */
static uint32_t heat_cells_signs(const struct heat_cells *cells, const struct heat_window *w)
{
	uint32_t n = 0, same = 0;
	int last = 0;

	for (uint32_t i = 0; i < w->vis_rows * w->vis_cols; i++) {
		const struct heat_cell *cell = &cells->cell[i];
		int sign = !cell->count ? 0 : cell->dim ? '\'' : (unsigned char)cell->value.glyph;

		same = sign == last && i % w->vis_cols ? same + 1 : 1;
		n += sign && same <= SAME_SIGNS;
		last = sign;
	}
	return n;
}

/* Those that are fewer already stay so for a while: colours are not to come and go. */
static void heat_cells_calm_signs(const struct heat_cells *cells, struct heat_window *w)
{
	bool wide = w->cell_w == 3;
	uint32_t signs = heat_cells_signs(cells, w) * (wide ? 3 : 1);
	uint32_t change = wide ? CHANGE_WIDE : CHANGE_SIGN;
	enum heat_quiet quiet = w->quiet;

	while (quiet < HEAT_PLAIN &&
	       signs + change * heat_cells_changes(cells, w, quiet) >
		       (quiet < w->calm ? MOST_BYTES - MOST_BYTES / 20 : MOST_BYTES))
		quiet++;
	w->quiet = quiet;
}

void heat_cells_calm(const struct heat_cells *cells, struct heat_window *w)
{
	if (w->per_line == 2 && heat_cells_mixed_bytes(cells, w, HEAT_THREE) > MOST_MIXED)
		w->quiet = HEAT_HOT;
	else if (w->per_line == 1 && (w->quiet || w->cell_w == 3))
		heat_cells_calm_signs(cells, w);
	w->calm = w->quiet;
}

struct listed {
	struct chan_value value;
	uint32_t chan;
	bool dim;
	enum chan_metric metric;
};

static int heat_cells_listed_cmp(const void *pa, const void *pb)
{
	const struct listed *a = pa, *b = pb;

	if (a->dim != b->dim)
		return a->dim ? 1 : -1;
	if (heat_cells_worse(a->metric, &a->value, &b->value))
		return -1;
	if (heat_cells_worse(a->metric, &b->value, &a->value))
		return 1;
	return a->chan < b->chan ? -1 : a->chan > b->chan;
}

uint32_t heat_cell_list(const struct heat_sight *at, const struct context *ctx,
			const struct state *s, uint32_t row, uint32_t col, uint32_t *out,
			uint32_t max)
{
	const struct heat_plane *p = at->plane;
	const struct heat_window *w = at->window;
	uint32_t first = row / w->row_n * w->row_n, n = 0;
	struct listed *all = xcalloc(max, sizeof(*all));

	for (uint32_t y = first; y < first + w->row_n && y < p->nrow; y++) {
		uint32_t r = at->rows->row[y];

		for (uint32_t i = p->row_off[r]; i < p->row_off[r + 1] && n < max; i++) {
			uint32_t chan = heat_cells_in_direction(at, s, p->chan[i]);

			if (p->col[i] / w->col_n != col / w->col_n)
				continue;
			all[n++] = (struct listed){ chan_value_of(at->metric, ctx->palette, s,
								  &ctx->summary, chan),
						    chan, context_dims(ctx, chan), at->metric };
		}
	}
	qsort(all, n, sizeof(*all), heat_cells_listed_cmp);
	for (uint32_t i = 0; i < n; i++)
		out[i] = all[i].chan;
	free(all);
	return n;
}

const char *heat_row_label(char *buf, const struct heat_plane *p, const struct fabric *f,
			   uint32_t row)
{
	if (p->row_sw)
		return switch_label(buf, NAME_LEN, f, p->row_sw[row]);
	snprintf(buf, NAME_LEN, "%s", p->row_text[row]);
	return buf;
}

const char *heat_col_label(char *buf, const struct heat_plane *p, const struct fabric *f,
			   uint32_t col)
{
	if (p->col_sw)
		return switch_label(buf, NAME_LEN, f, p->col_sw[col]);
	if (p->col_text)
		snprintf(buf, NAME_LEN, "%s", p->col_text[col]);
	else
		snprintf(buf, NAME_LEN, "%s %u", p->col_name, col + 1);
	return buf;
}
