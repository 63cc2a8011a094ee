/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Help: keys, those of the previous view first, commands, symbols and terms; / searches in it. */
#include "views/canvas/list.h"
#include "views/canvas/text.h"
#include "views/help/help_text.h"
#include "views/view.h"

#include <stdio.h>
#include <string.h>

#define KEY_WIDTH 12

/* A line on the screen: a piece of the text of a row. */
struct help_line {
	uint32_t row;
	const char *text; /* NULL: a heading */
	int len;
	int x; /* columns right of where texts begin */
	bool first;
};

struct help_ui {
	struct list list;
	struct help_rows rows;
	struct entry filter;
	VEC(struct help_line) lines;
};

static bool help_matches(const struct help_ui *u, const struct help_row *row)
{
	const char *text = u->filter.text;

	return !text[0] || strcasestr(row->text, text) || (row->key && strcasestr(row->key, text));
}

/* Bytes that fit the width, broken at a blank where there is one. */
static int help_fit(const char *text, int width)
{
	int n = (int)strlen(text), k = width;

	if (n <= width)
		return n;
	while (k > 0 && text[k] != ' ')
		k--;
	return k > 0 ? k : width;
}

/* Columns that a long key or term takes from the text beside it. */
static int help_overhang(const struct help_row *row)
{
	int w = 2 + text_width(row->key) + 2 - KEY_WIDTH;

	return w > 0 ? w : 0;
}

static void help_add_row(struct help_ui *u, uint32_t i, int width)
{
	const struct help_row *row = &u->rows.list.v[i];
	const char *at = row->text;
	struct help_line line = { .row = i, .first = true, .x = help_overhang(row) };

	do {
		line.text = at;
		line.len = help_fit(at, width > line.x + 8 ? width - line.x : 8);
		vec_push(&u->lines, line);
		line.first = false;
		line.x = 0;
		at += line.len;
		at += strspn(at, " ");
	} while (*at);
}

/* A heading is shown with the rows below it that match; one that matches shows all of them. */
static void help_lay_out(struct help_ui *u, int width)
{
	const struct help_row *head = NULL;
	uint32_t head_at = 0;

	u->lines.n = 0;
	for (uint32_t i = 0; i < u->rows.list.n; i++) {
		const struct help_row *row = &u->rows.list.v[i];

		if (!row->key) {
			head = row;
			head_at = i;
			continue;
		}
		if (!help_matches(u, row) && !(head && help_matches(u, head)))
			continue;
		if (head && (!u->lines.n || u->lines.v[u->lines.n - 1].row < head_at))
			vec_push(&u->lines, ((struct help_line){ .row = head_at }));
		help_add_row(u, i, width > 8 ? width : 8);
	}
}

static void help_draw_swatch(const struct help_row *row, const struct context *ctx,
			     struct canvas *c, struct rect r, int y)
{
	enum palette p = ctx->palette;
	static const char *const levels[] = { "error", "warn", "info", "debug" };
	static const enum role roles[] = { ROLE_BAD, ROLE_WARN, ROLE_TEXT, ROLE_DIM };
	int x = KEY_WIDTH + (int)strlen(row->text) + 2;

	for (int i = 0; row->swatch == SWATCH_HEAT && i < HEAT_LEVELS; i++, x += 2) {
		canvas_char(c, r, x, y, heat_role(p, i), (uint32_t)heat_glyph(i));
		canvas_char(c, r, x + 1, y, heat_role(p, i), (uint32_t)heat_glyph(i));
	}
	for (int i = -3; row->swatch == SWATCH_DELTA && i <= 3; i++, x += 2)
		canvas_char(c, r, x, y, delta_role(p, i), (uint32_t)delta_glyph(i));
	for (int i = 0; row->swatch == SWATCH_LEVELS && i < 4; i++)
		x = canvas_text(c, r, x, y, roles[i], levels[i]) + 1;
}

static void help_draw_line(const struct help_ui *u, const struct context *ctx, struct canvas *c,
			   struct rect r, int y, const struct help_line *line)
{
	const struct help_row *row = &u->rows.list.v[line->row];

	if (!line->text) {
		canvas_rule(c, r, y, row->text);
		return;
	}
	if (line->first)
		canvas_text(c, r, 2, y, ROLE_KEY, row->key);
	canvas_textf(c, r, KEY_WIDTH + line->x, y, ROLE_TEXT, "%.*s", line->len, line->text);
	if (line->first && row->swatch)
		help_draw_swatch(row, ctx, c, r, y);
}

/* The heading of the first line, unless it is one.  Returns the lines used. */
static int help_draw_heading(const struct help_ui *u, struct canvas *c, struct rect r)
{
	uint32_t i = u->list.top;

	if (i >= u->lines.n || !u->lines.v[i].text)
		return 0;
	while (i && u->lines.v[i].text)
		i--;
	canvas_rule(c, r, 0, u->lines.v[i].text ? NULL : u->rows.list.v[u->lines.v[i].row].text);
	return 1;
}

static void help_draw(void *own, struct context *ctx, struct canvas *c, struct rect r,
		      const struct state *s)
{
	struct help_ui *u = own;
	bool asked = u->filter.active || u->filter.text[0];
	struct rect page = { r.x, r.y, r.w, r.h - asked };
	int y;

	help_rows_fill(&u->rows, ctx, s, context_from(ctx));
	help_lay_out(u, r.w - KEY_WIDTH - 1);
	/* the cursor is the first line: help scrolls like a page */
	list_fit(&u->list, (uint32_t)u->lines.n, page.h - 1);
	y = help_draw_heading(u, c, page);
	for (uint32_t i = u->list.top; y < page.h && i < u->lines.n; i++)
		help_draw_line(u, ctx, c, page, y++, &u->lines.v[i]);
	list_draw_range(&u->list, (uint32_t)u->lines.n, c, page, 0);
	if (!u->lines.n)
		canvas_textf(c, page, 1, 0, ROLE_DIM, "no match for \"%s\" in the help",
			     u->filter.text);
	if (u->filter.active)
		entry_draw(&u->filter, c, r, 1, r.h - 1, "search");
	else if (asked)
		canvas_textf(c, r, 1, r.h - 1, ROLE_KEY, "matches for \"%s\"; Esc: all",
			     u->filter.text);
}

static bool help_input(void *own, struct context *ctx, const struct input *in,
		       const struct state *s, struct request *out)
{
	struct help_ui *u = own;
	struct list *l = &u->list;

	(void)ctx;
	(void)s;
	(void)out;
	if (filter_type(&u->filter, in)) {
		l->cursor = l->top = 0;
		return true;
	}
	if (filter_ask(&u->filter, in->req))
		return true;
	/* at the edge of the page already, so that every key press scrolls */
	if (in->req == REQ_DOWN && l->page)
		l->cursor = l->top + l->page - 1;
	if (in->req == REQ_UP)
		l->cursor = l->top;
	return list_move(l, in->req, (uint32_t)u->lines.n);
}

static bool help_typing(const void *own, const struct state *s)
{
	(void)s;
	return ((const struct help_ui *)own)->filter.active;
}

static void help_context(const void *own, const struct state *s, char *buf, size_t len)
{
	(void)own;
	snprintf(buf, len, "%s", s->rw ? "read-write: view 7 can change the routing" : "read-only");
}

static void help_done(void *own)
{
	struct help_ui *u = own;

	vec_free(&u->rows.list);
	vec_free(&u->lines);
}

const struct view view_help = {
	.size = sizeof(struct help_ui),
	.done = help_done,
	.draw = help_draw,
	.input = help_input,
	.typing = help_typing,
	.context = help_context,
};
