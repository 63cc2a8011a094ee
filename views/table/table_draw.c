/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/canvas/name_fit.h"
#include "views/data/state/key_hint.h"
#include "views/table/noted.h"
#include "views/table/table.h"
#include "views/table/table_priv.h"
#include "views/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TAG '+'

static int table_draw_usual_width(const struct field *f)
{
	switch (f->kind) {
	case VALUE_TEXT:
		return 0;
	case VALUE_GUID:
		return 18;
	default:
		return 9;
	}
}

static void table_draw_add(struct table *t, const struct field *f, const struct table_col *col)
{
	if (t->nshown == TABLE_COLS)
		return;
	t->shown[t->nshown++] = (struct table_shown){ .field = f, .col = col };
}

static const struct table_col *table_draw_usual(const struct table_ops *ops, const struct field *f)
{
	for (uint32_t i = 0; i < ops->ncol; i++)
		if (ops->col[i].field &&
		    field_find(ops->kind, ops->col[i].field, strlen(ops->col[i].field)) == f)
			return &ops->col[i];
	return NULL;
}

static void table_draw_choose(struct table *t, const struct table_ops *ops, int w)
{
	const char *p = t->columns;

	t->nshown = 0;
	while (*p) {
		size_t len = strcspn(p, ", ");
		const struct field *f = len ? field_find(ops->kind, p, len) : NULL;

		if (f)
			table_draw_add(t, f, table_draw_usual(ops, f));
		p += len;
		p += strspn(p, ", ");
	}
	for (uint32_t i = 0; !t->columns[0] && i < ops->ncol; i++) {
		const struct table_col *col = &ops->col[i];

		if (col->from_w <= w && (!col->to_w || w < col->to_w))
			table_draw_add(
				t,
				col->field ? field_find(ops->kind, col->field, strlen(col->field))
					   : NULL,
				col);
	}
}

#define SHARE_MIN 12 /* cells of a column that has a share of what is left over */
#define NAMES_MAX 40
#define LOOKED_AT 64 /* rows, for a value */

static const char *table_draw_heading(const struct table_shown *c)
{
	return c->col && c->col->title ? c->col->title : c->field ? c->field->title : "";
}

/* 0: a share of what is left over. */
static int table_draw_width_of(const struct table_shown *c, int names)
{
	int w = c->col ? c->col->width : table_draw_usual_width(c->field),
	    least = names ? text_width(table_draw_heading(c)) : 0;

	return !w && c->col && c->col->keep ? names > least ? names : least : w;
}

static int table_draw_needed(const struct table *t, int names)
{
	int w = TABLE_GUTTER - 1;

	for (uint32_t i = 0; i < t->nshown; i++) {
		const struct table_shown *c = &t->shown[i];
		int own = table_draw_width_of(c, names), keep = c->col ? c->col->keep : 0;

		w += (own ? own : keep ? keep : SHARE_MIN) + 1;
	}
	return w;
}

static bool table_draw_is_number(const struct field *f)
{
	return f && f->kind != VALUE_TEXT && f->kind != VALUE_GUID;
}

/* Where columns get their values from. */
struct table_draw_from {
	const struct table_ops *ops;
	const struct table_in *in;
	const struct rows *rows;
};

static bool table_draw_has_value(const struct table_draw_from *from, const struct table_shown *c,
				 uint32_t row)
{
	const struct table_ops *ops = from->ops;
	char buf[VALUE_LEN];
	struct value cell;

	if (c->col && ops->blank && ops->blank(from->in, row, (uint32_t)(c->col - ops->col)))
		return false;
	if (!c->field)
		return true;
	field_get(&cell, c->field, from->rows, row);
	return table_draw_is_number(c->field) ? isfinite(cell.num)
					      : value_text(buf, &cell, c->field)[0] != '\0';
}

/* In some of the rows, first of those in sight. */
static bool table_draw_has_values(const struct table *t, const struct table_draw_from *from,
				  const struct table_shown *c)
{
	uint32_t step = t->nrow / LOOKED_AT + 1, last = t->list.top + LOOKED_AT;

	for (uint32_t i = t->list.top; i < t->nrow && i < last; i++)
		if (table_draw_has_value(from, c, t->row[i]))
			return true;
	for (uint32_t i = 0; i < t->nrow; i += step)
		if (table_draw_has_value(from, c, t->row[i]))
			return true;
	return !t->nrow;
}

/* Default columns in which nothing is make room for those that tell something. */
static void table_draw_leave_empty(struct table *t, const struct table_draw_from *from)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nshown; i++) {
		const struct table_shown *c = &t->shown[i];

		if ((c->field && c->field == t->sort) || table_draw_has_values(t, from, c))
			t->shown[n++] = *c;
	}
	t->nshown = n;
}

/* Too narrow: default columns are dropped from the right, but not those that identify the row and
 * what it is sorted by. */
static void table_draw_leave_out(struct table *t, int w, int names)
{
	uint32_t i = t->nshown;

	while (i-- && table_draw_needed(t, names) > w) {
		if (t->shown[i].col->keep || (t->shown[i].field && t->shown[i].field == t->sort))
			continue;
		memmove(&t->shown[i], &t->shown[i + 1], (t->nshown - i - 1) * sizeof(t->shown[0]));
		t->nshown--;
	}
}

/* Places the columns.  Where they are still too wide, a chosen one is cut off at the right and a
 * default one left out: half a number would be a wrong one. */
static void table_draw_layout(struct table *t, const struct table_ops *ops,
			      const struct table_in *in, const struct rows *rows, int w)
{
	int fixed = TABLE_GUTTER, flex = 0, rest, x = TABLE_GUTTER;
	int names = ops->names ? ops->names(in) : 0;
	int most = ops->names_most ? ops->names_most(in) : 0;
	const struct table_draw_from from = { ops, in, rows };

	table_draw_choose(t, ops, w);
	if (!t->columns[0]) {
		table_draw_leave_empty(t, &from);
		names = names < NAMES_MAX ? names : NAMES_MAX;
		table_draw_leave_out(t, w, names);
		if (table_draw_needed(t, names) > w)
			names = 0; /* they share what is left over, too */
	}
	for (uint32_t i = 0; i < t->nshown; i++) {
		fixed += table_draw_width_of(&t->shown[i], names) + 1;
		flex += !table_draw_width_of(&t->shown[i], names);
	}
	rest = flex ? (w - fixed) / flex : 0;
	for (uint32_t i = 0; i < t->nshown; i++) {
		struct table_shown *c = &t->shown[i];
		int own = table_draw_width_of(c, names);

		c->x = x;
		c->w = own ? own : rest > SHARE_MIN ? rest : SHARE_MIN;
		if (!own && !t->columns[0] && c->col->keep && most && c->w > most)
			c->w = most; /* farther apart tells nothing more */
		if (c->x + c->w > w)
			c->w = t->columns[0] || !own ? w - c->x : 0;
		if (c->w <= 0) {
			t->nshown = i;
			break;
		}
		x += c->w + 1;
	}
}

uint32_t table_arrow(const struct field *sort, bool reverse)
{
	return table_draw_is_number(sort) == reverse ? 0x2191 : 0x2193;
}

/* The arrow is right before a figure's title and right behind a text's: between two columns where
 * the title takes all of its own. */
static void table_draw_head(const struct table *t, struct canvas *c, struct rect r)
{
	char buf[64];

	for (uint32_t i = 0; i < t->nshown; i++) {
		const struct table_shown *s = &t->shown[i];
		bool on = s->field && t->sort == s->field, number = table_draw_is_number(s->field);
		int x;

		text_shorten(buf, sizeof(buf), table_draw_heading(s), s->w);
		x = number ? s->x + s->w - text_width(buf) : s->x;
		canvas_text(c, r, x, 1, on ? ROLE_KEY : ROLE_LABEL, buf);
		x = number ? x - 1 : x + text_width(buf);
		if (on)
			canvas_char(c, r, x < r.w ? x : r.w - 1, 1, ROLE_KEY,
				    table_arrow(s->field, t->reverse));
	}
}

bool table_shows_rates(const struct table *t)
{
	for (uint32_t i = 0; i < t->nshown; i++)
		if (t->shown[i].field && !strcmp(t->shown[i].field->unit, "B/s"))
			return true;
	return false;
}

/* Marks the text that is searched for in a cell. */
static void table_draw_mark_find(const struct table *t, struct canvas *c, struct rect r, int x,
				 int y, int w, const char *text)
{
	const char *at = t->find[0] ? strcasestr(text, t->find) : NULL;
	char before[VALUE_LEN];

	if (!at || text_width(text) > w)
		return;
	snprintf(before, sizeof(before), "%.*s", (int)(at - text), text);
	canvas_style(c,
		     (struct rect){ r.x + x + text_width(before), r.y + y, text_width(t->find), 1 },
		     ROLE_ENTRY, false);
}

void table_text(const struct table *t, struct canvas *c, struct rect r, int x, int y, int w,
		enum role role, const char *text)
{
	canvas_name(c, r, x, y, w, role, text);
	table_draw_mark_find(t, c, r, x, y, w, text);
}

static bool table_draw_is_id(const char *name)
{
	return !strcmp(name, "id") || !strcmp(name, "uid") || !strcmp(name, "seq");
}

/* Words with a share each, the largest first. */
static bool table_draw_is_list(const struct field *f)
{
	return !strcmp(f->name, "jobs") || !strcmp(f->name, "lane_use");
}

static bool table_draw_is_change(const struct field *f)
{
	return strstr(f->name, "_change_") != NULL;
}

/* With its sign; what is nothing when it is rounded has none. */
static const char *table_draw_change(char *buf, const struct table_in *in, double v,
				     const struct field *f)
{
	char figure[FIGURE_LEN];

	if (!strcmp(f->unit, "B/s"))
		figure_rate(figure, fabs(v), in->ctx->bits);
	else
		figure_pct(figure, fabs(v));
	if (figure[strspn(figure, "0.")])
		snprintf(buf, VALUE_LEN, "%c%s", v < 0 ? '-' : '+', figure);
	else
		snprintf(buf, VALUE_LEN, "0");
	return buf;
}

/* Formatted for people, not for scripts. */
static const char *table_draw_figure(char *buf, const struct table_in *in, const struct value *cell,
				     const struct field *f)
{
	if (!isfinite(cell->num))
		snprintf(buf, FIGURE_LEN, "-");
	else if (table_draw_is_change(f))
		table_draw_change(buf, in, cell->num, f);
	else if (!strcmp(f->unit, "B/s"))
		figure_rate(buf, cell->num, in->ctx->bits);
	else if (!strcmp(f->unit, "Mb/s"))
		snprintf(buf, FIGURE_LEN, "%gG", cell->num / 1e3);
	else if (strstr(f->name, "age_s"))
		figure_age(buf, cell->num);
	else if (f->kind == VALUE_FLAG)
		snprintf(buf, FIGURE_LEN, "%s", cell->num > 0 ? "yes" : "no");
	else if (f->kind == VALUE_COUNT && table_draw_is_id(f->name) && cell->text)
		snprintf(buf, FIGURE_LEN, "%.*s", FIGURE_LEN - 1, cell->text);
	else if (f->kind == VALUE_COUNT && table_draw_is_id(f->name))
		snprintf(buf, FIGURE_LEN, "%.0f", cell->num);
	else if (f->kind == VALUE_COUNT && cell->num >= 0 && cell->num < 1.8e19)
		figure_short(buf, (uint64_t)cell->num);
	else
		figure_pct(buf, cell->num);
	return buf;
}

static enum role table_draw_figure_role(const struct table_in *in, const struct value *cell,
					const struct field *f)
{
	if (!isfinite(cell->num))
		return ROLE_DIM;
	if (table_draw_is_change(f) && !strcmp(f->unit, "%"))
		return delta_role(in->ctx->palette, delta_level(cell->num));
	if (!strncmp(f->name, "util", 4))
		return heat_role(in->ctx->palette, heat_level(cell->num));
	if (!strcmp(f->name, "errors_per_min") && cell->num > 0)
		return ROLE_WARN;
	return ROLE_TEXT;
}

/* The name of a switch, a host or a cable. */
static bool table_draw_is_end(const struct rows *rows, const struct field *f)
{
	static const char *const ends[] = {
		"a", "b", "link", "port", "part", "worst_link", "cause"
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!strcmp(f->name, ends[i]))
			return true;
	return rows->kind == ROWS_SWITCHES && !strcmp(f->name, "name");
}

static void table_draw_field(const struct table *t, const struct table_in *in,
			     const struct rows *rows, struct canvas *c, struct rect r, int y,
			     uint32_t row, const struct table_shown *s)
{
	char buf[VALUE_LEN], list[VALUE_LEN];
	struct value cell;
	const char *text;

	field_get(&cell, s->field, rows, row);
	if (table_draw_is_number(s->field)) {
		canvas_right(c, r, s->x + s->w, y, table_draw_figure_role(in, &cell, s->field),
			     table_draw_figure(buf, in, &cell, s->field));
		return;
	}
	text = value_text(buf, &cell, s->field);
	if (table_draw_is_list(s->field))
		text = text_shorten_list(list, sizeof(list), text, s->w);
	else if (in->s->fabric && table_draw_is_end(rows, s->field))
		text = name_fit(list, sizeof(list), in->s->fabric, text, s->w);
	table_text(t, c, r, s->x, y, s->w, ROLE_TEXT, text[0] ? text : "-");
}

/* The sign of a row, in column 1. */
static void table_draw_sign(const struct rows *rows, struct canvas *c, struct rect r, int y,
			    uint32_t row)
{
	enum problem p = PROBLEM_NONE;

	if (rows->kind == ROWS_LINKS)
		p = (enum problem)rows->v->problem[chan_fabric_port(rows->s->fabric, row)];
	else if (rows->kind == ROWS_PORTS)
		p = (enum problem)rows->v->problem[row];
	else
		return;
	canvas_char(c, r, 1, y, p >= PROBLEM_NO_REPLY ? ROLE_BAD : ROLE_WARN,
		    (uint32_t)problem_glyph(p));
}

/* Tagged in another table: a link or its other direction, a port of a tagged link. */
static bool table_draw_tagged_elsewhere(const struct table_in *in, const struct rows *rows,
					uint32_t row)
{
	if (rows->kind == ROWS_LINKS)
		return tags_chan(&in->ctx->tags, row);
	if (rows->kind == ROWS_PORTS)
		return rows->s->fabric->port[row].chan != FAB_NONE &&
		       tags_chan(&in->ctx->tags, rows->s->fabric->port[row].chan);
	return false;
}

static void table_draw_row(const struct table *t, const struct table_ops *ops,
			   const struct table_in *in, const struct rows *rows, struct canvas *c,
			   struct rect r, int y, uint32_t i)
{
	uint32_t row = t->row[i];

	table_draw_sign(rows, c, r, y, row);
	for (uint32_t k = 0; k < t->nshown; k++) {
		const struct table_shown *s = &t->shown[k];
		bool drawn = s->col && ops->draw &&
			     ops->draw(in, row, (uint32_t)(s->col - ops->col), c, r, s->x, y, s->w);

		if (!drawn && s->field)
			table_draw_field(t, in, rows, c, r, y, row, s);
	}
	if (table_is_tagged(t, t->key[row]))
		canvas_char(c, r, 2, y, ROLE_KEY, TAG);
	else if (table_draw_tagged_elsewhere(in, rows, row))
		canvas_char(c, r, 2, y, ROLE_KEY, TAG_POINT);
	else if (noted_row(rows, row))
		canvas_char(c, r, 2, y, ROLE_KEY, NOTE_POINT);
	if (i == t->list.cursor)
		list_draw_cursor(c, r, y);
}

static void table_draw_empty(const struct table *t, const struct table_ops *ops, struct canvas *c,
			     struct rect r)
{
	if (t->filter_text[0] && t->all == 1)
		canvas_textf(c, r, TABLE_GUTTER, 0, ROLE_DIM,
			     "the only %s does not match the filter: %s", ops->one, t->filter_text);
	else if (t->filter_text[0])
		canvas_textf(c, r, TABLE_GUTTER, 0, ROLE_DIM,
			     "none of %u %s matches the filter: %s  (Esc: show all)", t->all,
			     ops->what, t->filter_text);
	else if (t->tagged_only)
		canvas_textf(c, r, TABLE_GUTTER, 0, ROLE_DIM, "no row is tagged; %s shows all",
			     key_hint("tagged"));
	else if (t->problems)
		canvas_textf(c, r, TABLE_GUTTER, 0, ROLE_DIM,
			     "no problems known; %s shows all rows", key_hint("problems"));
	else
		canvas_textf(c, r, TABLE_GUTTER, 0, ROLE_DIM, "no %s", ops->what);
}

static void table_draw_title(const struct table *t, const struct table_ops *ops, struct canvas *c,
			     struct rect r, const char *title)
{
	char text[240];

	snprintf(text, sizeof(text), "%.100s%s%.40s%s%s%.40s%s%s", title, t->problems ? " " : "",
		 !t->problems ? ""
		 : ops->only  ? ops->only
			      : "with problems",
		 t->tagged_only ? " (tagged)" : "", t->sort ? " by " : "",
		 t->sort ? t->sort->title : "", t->reverse ? " (reversed)" : "",
		 t->held ? " (sorting paused)" : "");
	canvas_rule(c, r, 0, text);
	list_draw_range(&t->list, t->nrow, c, r, 0);
}

void table_draw(struct table *t, const struct table_ops *ops, const struct table_in *in,
		struct canvas *c, struct rect r, const char *title)
{
	struct rect lines = { r.x, r.y + 2, r.w, r.h > 2 ? r.h - 2 : 0 };
	struct rows rows = table_rows(ops, in);

	table_follow(t, ops, in);
	list_fit(&t->list, t->nrow, lines.h);
	table_draw_layout(t, ops, in, &rows, r.w);
	t->at = lines;
	table_draw_title(t, ops, c, r, title);
	table_draw_head(t, c, r);
	if (!t->nrow && lines.h)
		table_draw_empty(t, ops, c, lines);
	for (int y = 0; y < lines.h && t->list.top + (uint32_t)y < t->nrow; y++)
		table_draw_row(t, ops, in, &rows, c, lines, y, t->list.top + (uint32_t)y);
}
