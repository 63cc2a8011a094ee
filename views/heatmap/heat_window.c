/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/heatmap/heat_window.h"

#include "fabric/base/memory/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MANY_CELLS 2000
#define MOST_CELLS 4300 /* of joined columns: finer is noise, and takes long on a slow line */
#define HALVES_OF  4	/* rows in a cell at most */

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

static uint32_t heat_window_half_fit(const struct heat_plane *p, uint32_t h, uint32_t need)
{
	uint32_t n = heat_window_div_up(p->nrow, 2 * h);

	return n > need ? n : need ? need : 1;
}

/* Are fewer rows in a cell where two share a line, and not so many that all is noise? */
static bool heat_window_halves(const struct heat_window *w, const struct heat_plane *p, uint32_t h,
			       uint32_t need)
{
	uint32_t half = heat_window_half_fit(p, h, need);

	return w->may_halve && half < w->fit && half <= HALVES_OF;
}

/* Columns in a cell at least. */
static uint32_t heat_window_need(uint32_t ncol, uint32_t width, uint32_t h)
{
	uint32_t need = heat_window_div_up(ncol, width);
	uint32_t few = h > MOST_CELLS ? 1 : MOST_CELLS / h;

	return need > 1 && width > few ? heat_window_div_up(ncol, few) : need;
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
	need = heat_window_need(p->ncol, width, h);
	w->fit = heat_window_div_up(p->nrow, h) > need ? heat_window_div_up(p->nrow, h) : need;
	if (w->fit < 1)
		w->fit = 1;
	w->row_n = zoom < 1 ? 1 : zoom > w->fit ? w->fit : zoom;
	w->per_line = heat_window_halves(w, p, h, need) && zoom >= w->fit ? 2 : 1;
	if (w->per_line == 2)
		w->row_n = heat_window_half_fit(p, h, need);
	/* columns are never joined more than they need to be in sight */
	w->col_n = w->row_n < need ? w->row_n : need ? need : 1;
	w->nrow = heat_window_div_up(p->nrow, w->row_n);
	w->ncol = heat_window_div_up(p->ncol, w->col_n);
	w->cell_w = w->ncol * 3 <= width ? 3 : w->ncol * 2 <= width ? 2 : 1;
	if (w->col_n > 1 && h * w->ncol > MANY_CELLS)
		w->cell_w = 1;
	w->vis_cols = width / (uint32_t)w->cell_w;
	w->vis_rows = h * w->per_line;
	if (w->vis_cols > w->ncol)
		w->vis_cols = w->ncol;
	if (w->vis_rows > w->nrow)
		w->vis_rows = w->nrow;
	w->vis_lines = heat_window_div_up(w->vis_rows, w->per_line);
	w->quiet =
		w->cell_w == 1 && w->vis_rows * w->vis_cols > MANY_CELLS ? HEAT_THREE : HEAT_LOUD;
	w->top = heat_window_scroll_to(w->top, row / w->row_n, w->nrow, w->vis_rows);
	w->left = heat_window_scroll_to(w->left, col / w->col_n, w->ncol, w->vis_cols);
}

/* --- rows ------------------------------------------------------------------------------------ */

struct key {
	double first; /* ascending */
	uint32_t row;
};

static int heat_window_key_cmp(const void *pa, const void *pb)
{
	const struct key *a = pa, *b = pb;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

const char *heat_sort_name(enum heat_sort sort)
{
	static const char *const names[HEAT_SORTS] = { "", "by utilisation", "by rack" };

	return names[sort];
}

bool heat_sort_suits(enum heat_sort sort, const struct heat_plane *p, const struct racks *r)
{
	return sort != HEAT_BY_RACK || (p->row_sw && r && r->n);
}

static double heat_window_util_of(const struct state *s, uint32_t chan)
{
	const struct port_rate *r = state_rate(s, chan_fabric_port(s->fabric, chan));

	return r && isfinite(r->util_pct) ? r->util_pct : -1;
}

static double heat_window_most_used(const struct heat_plane *p, const struct state *s, uint32_t row)
{
	double most = -1;

	for (uint32_t i = p->row_off[row]; i < p->row_off[row + 1]; i++) {
		most = fmax(most, heat_window_util_of(s, p->chan[i]));
		most = fmax(most, heat_window_util_of(s, s->fabric->chan_rev[p->chan[i]]));
	}
	return most;
}

void heat_rows_set(struct heat_rows *out, const struct heat_plane *p, enum heat_sort sort,
		   const struct state *s, const struct racks *r)
{
	struct key *keys;

	if (p->nrow > out->cap) {
		out->row = xrealloc(out->row, p->nrow, sizeof(*out->row));
		out->cap = p->nrow;
	}
	out->n = p->nrow;
	if (sort == HEAT_BY_PLACE || !heat_sort_suits(sort, p, r)) {
		for (uint32_t i = 0; i < p->nrow; i++)
			out->row[i] = i;
		return;
	}
	keys = xcalloc(p->nrow, sizeof(*keys));
	for (uint32_t i = 0; i < p->nrow; i++) {
		keys[i].row = i;
		keys[i].first = sort == HEAT_BY_UTIL ? -heat_window_most_used(p, s, i)
						     : r->of[p->row_sw[i]];
	}
	qsort(keys, p->nrow, sizeof(*keys), heat_window_key_cmp);
	for (uint32_t i = 0; i < p->nrow; i++)
		out->row[i] = keys[i].row;
	free(keys);
}

uint32_t heat_rows_find(const struct heat_rows *rows, uint32_t row)
{
	for (uint32_t i = 0; i < rows->n; i++)
		if (rows->row[i] == row)
			return i;
	return 0;
}

void heat_rows_done(struct heat_rows *rows)
{
	free(rows->row);
	memset(rows, 0, sizeof(*rows));
}

/* --- names ----------------------------------------------------------------------------------- */

/* Does text begin a word of name, with all that follows? */
static bool heat_window_begins(const char *name, const char *text)
{
	size_t n = strlen(text);

	for (const char *at = name; n && at; at = strchr(at, ' ')) {
		at += *at == ' ';
		if (!strncasecmp(at, text, n))
			return true;
	}
	return false;
}

uint32_t heat_metric_named(const char *text)
{
	for (uint32_t i = 0; i < CHAN_METRICS; i++)
		if (heat_window_begins(chan_metric_name((enum chan_metric)i), text))
			return i;
	/* what unused links were called in 0.1 */
	return heat_window_begins("dark links", text) ? CHAN_DARK : HEAT_NO_CHOICE;
}

uint32_t heat_plane_named(const struct heat_layout *l, const char *text)
{
	for (uint32_t i = 0; i < l->nplane; i++)
		if (heat_window_begins(l->plane[i].title, text))
			return i;
	return HEAT_NO_CHOICE;
}

uint32_t heat_sort_named(const char *text)
{
	if (heat_window_begins("place", text) || heat_window_begins("name", text))
		return HEAT_BY_PLACE;
	for (uint32_t i = 1; i < HEAT_SORTS; i++)
		if (heat_window_begins(heat_sort_name((enum heat_sort)i), text))
			return i;
	return HEAT_NO_CHOICE;
}
