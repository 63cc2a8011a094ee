/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/canvas/menu.h"

#include "views/canvas/text.h"

void menu_frame(struct menu *m, struct canvas *c, struct rect over, int w, const char *title)
{
	int h = over.h - 2;
	struct rect r = { over.x, over.y, over.w < w ? over.w : w, 0 };

	if (h < 1)
		h = 1;
	if ((uint32_t)h > m->n)
		h = (int)m->n;
	r.h = h + 2;
	list_fit(&m->list, m->n, h);
	canvas_fill(c, r, ROLE_TEXT, ' ');
	canvas_rule(c, r, 0, title);
	canvas_rule(c, r, h + 1, NULL);
	list_draw_range(&m->list, m->n, c, r, h + 1);
	m->at = (struct rect){ r.x, r.y + 1, r.w, h };
}

uint32_t menu_seen(const struct menu *m)
{
	uint32_t left = m->n - m->list.top;

	return left < (uint32_t)m->at.h ? left : (uint32_t)m->at.h;
}

void menu_about(const struct menu *m, struct canvas *c, const char *text)
{
	struct rect r = { m->at.x, m->at.y + m->at.h, m->at.w, 1 };
	int w = r.w - 8 - (menu_seen(m) < m->n ? 20 : 0);
	char buf[256];

	if (text[0] && w > 0)
		canvas_rule(c, r, 0, text_shorten(buf, sizeof(buf), text, w));
	list_draw_range(&m->list, m->n, c, r, 0);
}

uint32_t menu_line_at(const struct menu *m, const struct input *in)
{
	int y = in->y - m->at.y;

	if (y < 0 || in->x < m->at.x || in->x >= m->at.x + m->at.w || (uint32_t)y >= menu_seen(m))
		return UINT32_MAX;
	return m->list.top + (uint32_t)y;
}

void menu_click(struct menu *m, const struct input *in)
{
	uint32_t line = menu_line_at(m, in);

	if (line == UINT32_MAX)
		m->open = false;
	else
		m->list.cursor = line;
}

bool menu_move(struct menu *m, const struct input *in)
{
	enum req req = in->req;

	if (req == REQ_WHEEL_UP || req == REQ_WHEEL_DOWN)
		req = req == REQ_WHEEL_UP ? REQ_UP : REQ_DOWN;
	return list_move(&m->list, req, m->n);
}
