/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/canvas/list.h"

#include <stdio.h>
#include <string.h>

static uint32_t list_less(uint32_t v, uint32_t by)
{
	return v > by ? v - by : 0;
}

bool list_move(struct list *l, enum req req, uint32_t nrow)
{
	uint32_t page = l->page > 1 ? l->page - 1 : 1, last = list_less(nrow, 1);

	switch (req) {
	case REQ_UP:
		l->cursor = list_less(l->cursor, 1);
		break;
	case REQ_DOWN:
		l->cursor++;
		break;
	case REQ_PAGE_UP:
		l->cursor = list_less(l->cursor, page);
		l->top = list_less(l->top, page);
		break;
	case REQ_PAGE_DOWN:
		l->cursor += page;
		l->top += page;
		break;
	case REQ_TOP:
		l->cursor = 0;
		break;
	case REQ_BOTTOM:
		l->cursor = last;
		break;
	default:
		return false;
	}
	if (l->cursor > last)
		l->cursor = last;
	return true;
}

bool list_wheel(struct list *l, enum req req, uint32_t nrow)
{
	if (req != REQ_WHEEL_UP && req != REQ_WHEEL_DOWN)
		return false;
	for (int i = 0; i < 3; i++)
		list_move(l, req == REQ_WHEEL_UP ? REQ_UP : REQ_DOWN, nrow);
	return true;
}

void list_fit(struct list *l, uint32_t nrow, int height)
{
	uint32_t h = height > 0 ? (uint32_t)height : 0;

	l->page = h;
	if (l->cursor >= nrow)
		l->cursor = list_less(nrow, 1);
	if (l->cursor < l->top)
		l->top = l->cursor;
	if (h && l->cursor >= l->top + h)
		l->top = l->cursor - h + 1;
	if (l->top + h > nrow)
		l->top = list_less(nrow, h);
}

int list_detail_lines(int height, int want)
{
	int left = height - 5;

	return left >= want ? want : left >= 2 ? left : 0;
}

void list_draw_range(const struct list *l, uint32_t nrow, struct canvas *c, struct rect r, int y)
{
	uint32_t end = l->top + l->page < nrow ? l->top + l->page : nrow;

	if (nrow > l->page)
		canvas_rightf(c, r, r.w - 1, y, ROLE_RULE, " rows %u-%u of %u ", l->top + 1, end,
			      nrow);
}

void list_draw_cursor(struct canvas *c, struct rect r, int y)
{
	canvas_style(c, (struct rect){ r.x, r.y + y, r.w, 1 }, ROLE_CURSOR, false);
	canvas_char(c, r, 0, y, ROLE_CURSOR, '>');
}

void entry_open(struct entry *e, const char *text)
{
	e->active = true;
	if (text != e->text)
		snprintf(e->text, sizeof(e->text), "%s", text);
}

enum entry_result entry_input(struct entry *e, const struct input *in)
{
	switch (in->req) {
	case REQ_CHAR:
		text_append(e->text, sizeof(e->text), in->ch);
		return ENTRY_CHANGED;
	case REQ_ERASE:
		text_chop(e->text);
		return ENTRY_CHANGED;
	case REQ_ERASE_WORD:
		while (e->text[0] && e->text[strlen(e->text) - 1] == ' ')
			text_chop(e->text);
		while (e->text[0] && e->text[strlen(e->text) - 1] != ' ')
			text_chop(e->text);
		return ENTRY_CHANGED;
	case REQ_ERASE_ALL:
		e->text[0] = '\0';
		return ENTRY_CHANGED;
	case REQ_ENTER:
		e->active = false;
		return ENTRY_DONE;
	case REQ_BACK:
		e->active = false;
		return ENTRY_LEFT;
	default:
		return ENTRY_NONE;
	}
}

int entry_draw(const struct entry *e, struct canvas *c, struct rect r, int x, int y,
	       const char *label)
{
	x = canvas_textf(c, r, x, y, ROLE_LABEL, "%s: ", label);
	x = canvas_text(c, r, x, y, ROLE_ENTRY, e->text);
	return canvas_text(c, r, x, y, ROLE_ENTRY, "_");
}

bool filter_type(struct entry *e, const struct input *in)
{
	if (!e->active)
		return false;
	if (entry_input(e, in) == ENTRY_LEFT)
		e->text[0] = '\0';
	return true;
}

bool filter_ask(struct entry *e, enum req req)
{
	if (req == REQ_FILTER)
		e->active = true;
	else if (req == REQ_BACK && e->text[0])
		e->text[0] = '\0';
	else
		return false;
	return true;
}
