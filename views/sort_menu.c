/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/sort_menu.h"

#include "fabric/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH  72
#define TITLES 12 /* columns of the titles */

void sort_menu_done(struct sort_menu *m)
{
	free(m->field);
	memset(m, 0, sizeof(*m));
}

static bool has(const struct sort_menu *m, const struct field *f)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->field[i] == f)
			return true;
	return false;
}

static void offer(struct sort_menu *m, const struct table *t, const struct field *f)
{
	if (has(m, f))
		return;
	if (f == t->sort)
		m->list.cursor = m->n;
	m->field[m->n++] = f;
}

void sort_menu_open(struct sort_menu *m, const struct table *t, const struct table_ops *ops)
{
	size_t n;
	const struct field *all = fields_of(ops->kind, &n);

	sort_menu_done(m);
	m->open = true;
	m->kind = ops->kind;
	m->field = xcalloc(n + 1, sizeof(*m->field));
	for (uint32_t i = 0; i < t->nshown; i++)
		if (t->shown[i].field)
			offer(m, t, t->shown[i].field);
	for (size_t i = 0; i < n; i++)
		offer(m, t, &all[i]);
}

static bool click(struct sort_menu *m, const struct field **sort, const struct input *in)
{
	int y = in->y - m->at.y;
	uint32_t i = m->list.top + (uint32_t)(y < 0 ? 0 : y);

	if (y < 0 || y >= m->at.h || in->x < m->at.x || in->x >= m->at.x + m->at.w || i >= m->n) {
		m->open = false; /* beside it */
		return true;
	}
	*sort = m->field[i];
	m->open = false;
	return true;
}

bool sort_menu_input(struct sort_menu *m, const struct field **sort, const struct input *in)
{
	*sort = NULL;
	if (list_move(&m->list, in->req, m->n))
		return true;
	switch (in->req) {
	case REQ_SORT: /* s goes on, as it did before there was a list */
		m->list.cursor = (m->list.cursor + 1) % m->n;
		return true;
	case REQ_ENTER:
	case REQ_SELECT:
		*sort = m->field[m->list.cursor];
		m->open = false;
		return true;
	case REQ_BACK:
		m->open = false;
		return true;
	case REQ_CLICK:
		return click(m, sort, in);
	case REQ_WHEEL_UP:
	case REQ_WHEEL_DOWN:
		return list_move(&m->list, in->req == REQ_WHEEL_UP ? REQ_UP : REQ_DOWN, m->n);
	default:
		m->open = false;
		return false;
	}
}

static void draw_line(const struct sort_menu *m, const struct table *t, struct canvas *c, int y,
		      uint32_t i)
{
	const struct field *f = m->field[i];
	char title[64], about[128];

	if (f == t->sort)
		canvas_char(c, m->at, 1, y, ROLE_KEY, table_arrow(f, t->reverse));
	canvas_text(c, m->at, 3, y, ROLE_TEXT,
		    text_shorten(title, sizeof(title), f->title, TITLES));
	canvas_text(c, m->at, 4 + TITLES, y, ROLE_DIM,
		    text_shorten(about, sizeof(about), f->about, m->at.w - 5 - TITLES));
	if (i == m->list.cursor)
		list_draw_cursor(c, m->at, y);
}

void sort_menu_draw(struct sort_menu *m, const struct table *t, struct canvas *c)
{
	int w = t->at.w < WIDTH ? t->at.w : WIDTH, h = t->at.h - 2;
	struct rect r = { t->at.x, t->at.y, w, 0 };

	if (h < 1)
		h = 1;
	if ((uint32_t)h > m->n)
		h = (int)m->n;
	r.h = h + 2;
	list_fit(&m->list, m->n, h);
	canvas_fill(c, r, ROLE_TEXT, ' ');
	canvas_rule(c, r, 0, "Sort by (Enter: this one, Esc: leave)");
	canvas_rule(c, r, h + 1, NULL);
	list_draw_range(&m->list, m->n, c, r, h + 1);
	m->at = (struct rect){ r.x, r.y + 1, r.w, h };
	for (int y = 0; y < h && m->list.top + (uint32_t)y < m->n; y++)
		draw_line(m, t, c, y, m->list.top + (uint32_t)y);
}
