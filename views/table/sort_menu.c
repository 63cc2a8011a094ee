/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/table/sort_menu.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH  72
#define TITLES 12 /* columns of the titles */

void sort_menu_done(struct sort_menu *m)
{
	free(m->field);
	memset(m, 0, sizeof(*m));
}

static bool sort_menu_has(const struct sort_menu *m, const struct field *f)
{
	for (uint32_t i = 0; i < m->menu.n; i++)
		if (m->field[i] == f)
			return true;
	return false;
}

static bool sort_menu_in_sight(const struct table *t, const struct field *f)
{
	for (uint32_t i = 0; i < t->nshown; i++)
		if (t->shown[i].field == f)
			return true;
	return false;
}

static void sort_menu_offer(struct sort_menu *m, const struct table *t, const struct field *f)
{
	if (sort_menu_has(m, f))
		return;
	if (f == t->sort)
		m->menu.list.cursor = m->menu.n;
	m->field[m->menu.n++] = f;
}

void sort_menu_open(struct sort_menu *m, const struct table *t, const struct table_ops *ops)
{
	size_t n;
	const struct field *all = fields_of(ops->kind, &n);

	sort_menu_done(m);
	m->menu.open = true;
	m->kind = ops->kind;
	m->field = xcalloc(n + 1, sizeof(*m->field));
	if (t->sort && !sort_menu_in_sight(t, t->sort)) /* above them, then */
		sort_menu_offer(m, t, t->sort);
	for (uint32_t i = 0; i < t->nshown; i++)
		if (t->shown[i].field)
			sort_menu_offer(m, t, t->shown[i].field);
	for (size_t i = 0; i < n; i++)
		sort_menu_offer(m, t, &all[i]);
}

static void sort_menu_take(struct sort_menu *m, const struct field **sort, uint32_t line)
{
	m->menu.open = false;
	if (line < m->menu.n)
		*sort = m->field[line];
}

void sort_menu_input(struct sort_menu *m, const struct field **sort, const struct input *in)
{
	*sort = NULL;
	if (menu_move(&m->menu, in))
		return;
	switch (in->req) {
	case REQ_CHAR: /* s goes on, as it did before there was a list */
		if (in->ch == 's')
			m->menu.list.cursor = (m->menu.list.cursor + 1) % m->menu.n;
		break;
	case REQ_ENTER:
	case REQ_SELECT:
		sort_menu_take(m, sort, m->menu.list.cursor);
		break;
	case REQ_BACK:
	case REQ_QUIT:
		m->menu.open = false;
		break;
	case REQ_CLICK:
		sort_menu_take(m, sort, menu_line_at(&m->menu, in));
		break;
	default:
		break;
	}
}

static void sort_menu_draw_line(const struct sort_menu *m, const struct table *t, struct canvas *c,
				int y, uint32_t i)
{
	const struct field *f = m->field[i];
	struct rect at = m->menu.at;
	char title[64], about[128];

	if (f == t->sort)
		canvas_char(c, at, 1, y, ROLE_KEY, table_arrow(f, t->reverse));
	canvas_text(c, at, 3, y, ROLE_TEXT, text_shorten(title, sizeof(title), f->title, TITLES));
	canvas_text(c, at, 4 + TITLES, y, ROLE_DIM,
		    text_shorten(about, sizeof(about), f->about, at.w - 5 - TITLES));
	if (i == m->menu.list.cursor)
		list_draw_cursor(c, at, y);
}

void sort_menu_draw(struct sort_menu *m, const struct table *t, struct canvas *c)
{
	menu_frame(&m->menu, c, t->at, WIDTH, "Sort by (Enter: select, Esc: cancel)");
	for (uint32_t y = 0; y < menu_seen(&m->menu); y++)
		sort_menu_draw_line(m, t, c, (int)y, m->menu.list.top + y);
}
