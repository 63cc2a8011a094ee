/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/table/column_menu.h"

#include "fabric/base/memory/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH  76
#define TITLES 12 /* columns of the titles */
#define NAMES  20 /* of the names that :columns and files take */

void column_menu_done(struct column_menu *m)
{
	free(m->field);
	memset(m, 0, sizeof(*m));
}

static bool column_menu_has(const struct column_menu *m, const struct field *f)
{
	for (uint32_t i = 0; i < m->menu.n; i++)
		if (m->field[i] == f)
			return true;
	return false;
}

static void column_menu_fill(struct column_menu *m, const struct table *t)
{
	size_t n;
	const struct field *all = fields_of(m->kind, &n);

	m->menu.n = 0;
	for (uint32_t i = 0; i < t->nshown; i++)
		if (t->shown[i].field && !column_menu_has(m, t->shown[i].field))
			m->field[m->menu.n++] = t->shown[i].field;
	m->shown = m->menu.n;
	for (size_t i = 0; i < n; i++)
		if (!column_menu_has(m, &all[i]))
			m->field[m->menu.n++] = &all[i];
}

void column_menu_open(struct column_menu *m, const struct table *t, const struct table_ops *ops)
{
	size_t n;

	column_menu_done(m);
	fields_of(ops->kind, &n);
	m->menu.open = true;
	m->kind = ops->kind;
	m->field = xcalloc(n + 1, sizeof(*m->field));
	column_menu_fill(m, t);
}

/* The columns as the menu has them now; false: their names are longer than a table keeps. */
static bool column_menu_give(const struct column_menu *m, struct table *t,
			     const struct table_ops *ops)
{
	char text[sizeof(t->columns)] = "";
	size_t len = 0;

	for (uint32_t i = 0; i < m->shown; i++) {
		int n = snprintf(text + len, sizeof(text) - len, "%s%s", i ? "," : "",
				 m->field[i]->name);

		len += (size_t)n;
		if (len >= sizeof(text))
			return false;
	}
	return table_columns(t, text, ops);
}

static void column_menu_move(struct column_menu *m, uint32_t from, uint32_t to)
{
	const struct field *f = m->field[from];

	if (from < to)
		memmove(m->field + from, m->field + from + 1, (to - from) * sizeof(f));
	else
		memmove(m->field + to + 1, m->field + to, (from - to) * sizeof(f));
	m->field[to] = f;
}

static const char *column_menu_toggle(struct column_menu *m, struct table *t,
				      const struct table_ops *ops)
{
	uint32_t at = m->menu.list.cursor;

	if (at < m->shown && m->shown == 1)
		return "at least one column must stay";
	if (at < m->shown) {
		column_menu_move(m, at, --m->shown);
		column_menu_give(m, t, ops);
		return NULL;
	}
	if (m->shown == TABLE_COLS)
		return "no more columns are possible";
	column_menu_move(m, at, m->shown++);
	if (column_menu_give(m, t, ops)) { /* on to the next that may be wanted */
		m->menu.list.cursor = at + 1 < m->menu.n ? at + 1 : at;
		return NULL;
	}
	column_menu_move(m, --m->shown, at);
	return "no room for more columns: remove one first";
}

/* Of a column that is shown, among those. */
static void column_menu_shift(struct column_menu *m, struct table *t, const struct table_ops *ops,
			      int by)
{
	uint32_t at = m->menu.list.cursor, to = at + (uint32_t)by;

	if (at >= m->shown || to >= m->shown)
		return;
	column_menu_move(m, at, to);
	m->menu.list.cursor = to;
	column_menu_give(m, t, ops);
}

const char *column_menu_input(struct column_menu *m, struct table *t, const struct table_ops *ops,
			      const struct input *in)
{
	if (menu_move(&m->menu, in))
		return NULL;
	switch (in->req) {
	case REQ_CLICK:
		menu_click(&m->menu, in);
		return m->menu.open ? column_menu_toggle(m, t, ops) : NULL;
	case REQ_ENTER:
	case REQ_SELECT:
		return column_menu_toggle(m, t, ops);
	case REQ_LEFT:
	case REQ_RIGHT:
		column_menu_shift(m, t, ops, in->req == REQ_LEFT ? -1 : 1);
		return NULL;
	case REQ_BACK:
	case REQ_QUIT:
		m->menu.open = false;
		return NULL;
	case REQ_CHAR:
		if (in->ch != 'r')
			return NULL;
		table_columns(t, "", ops);
		m->menu.open = false;
		return "default columns restored";
	default:
		return NULL;
	}
}

static void column_menu_draw_line(const struct column_menu *m, struct canvas *c, int y, uint32_t i)
{
	const struct field *f = m->field[i];
	struct rect at = m->menu.at;
	int x = 5 + TITLES + 1 + NAMES + 1;
	char title[64], name[64], about[128];

	canvas_text(c, at, 1, y, i < m->shown ? ROLE_KEY : ROLE_DIM, i < m->shown ? "[x]" : "[ ]");
	canvas_text(c, at, 5, y, ROLE_TEXT, text_shorten(title, sizeof(title), f->title, TITLES));
	canvas_text(c, at, 5 + TITLES + 1, y, ROLE_LABEL,
		    text_shorten(name, sizeof(name), f->name, NAMES));
	canvas_text(c, at, x, y, ROLE_DIM,
		    text_shorten(about, sizeof(about), f->about, at.w - x - 1));
	if (i == m->menu.list.cursor)
		list_draw_cursor(c, at, y);
}

void column_menu_draw(struct column_menu *m, const struct table *t, struct canvas *c)
{
	struct rect over = t->at;

	/* what is beside it shows what was chosen: the rows below stay in sight where there are
	 * many */
	if (over.h > 24)
		over.h -= 6;
	menu_frame(&m->menu, c, over, WIDTH, "Columns");
	for (uint32_t y = 0; y < menu_seen(&m->menu); y++)
		column_menu_draw_line(m, c, (int)y, m->menu.list.top + y);
	menu_about(&m->menu, c, m->field[m->menu.list.cursor]->about);
}
