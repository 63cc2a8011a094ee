/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event log: newest first; filter by text, or warnings and errors only. */
#include "views/list.h"
#include "views/view.h"

#include <stdio.h>
#include <string.h>

struct events_ui {
	struct list list;
	struct entry filter;
	bool problems;
	uint32_t shown[EVENTS_MAX]; /* events_get() indices */
	uint32_t nshown;
};

static bool line_wanted(const struct events_ui *u, const struct log_line *l)
{
	if (u->problems && l->level < LOG_WARN)
		return false;
	return !u->filter.text[0] || strcasestr(l->text, u->filter.text) ||
	       strcasestr(l->area, u->filter.text);
}

static void select_lines(struct events_ui *u, const struct state *s)
{
	uint32_t n = s->events ? events_count(s->events) : 0;

	u->nshown = 0;
	for (uint32_t i = 0; i < n; i++)
		if (line_wanted(u, events_get(s->events, i)))
			u->shown[u->nshown++] = i;
}

void event_draw(struct canvas *c, struct rect r, int y, const struct log_line *l)
{
	static const enum role roles[] = { ROLE_DIM, ROLE_TEXT, ROLE_WARN, ROLE_BAD };
	char time[FIGURE_LEN], buf[512];

	canvas_text(c, r, 1, y, ROLE_DIM, figure_time(time, (int64_t)(l->time_ns / 1000000000)));
	canvas_text(c, r, 10, y, roles[l->level & 3], log_level_name(l->level));
	canvas_name(c, r, 16, y, 9, ROLE_LABEL, l->area);
	canvas_text(c, r, 26, y, l->level >= LOG_WARN ? roles[l->level & 3] : ROLE_TEXT,
		    text_shorten(buf, sizeof(buf), l->text, r.w - 27));
}

static void events_draw(void *own, struct ui *ui, struct canvas *c, struct rect r,
			const struct state *s)
{
	struct events_ui *u = own;
	const struct log_line *at = NULL;
	struct rect rows = { r.x, r.y + 1, r.w, r.h - 4 };
	int y;

	(void)ui;
	select_lines(u, s);
	list_fit(&u->list, u->nshown, rows.h);
	canvas_rule(c, r, 0, u->problems ? "Events: warnings and errors" : "Events, newest first");
	list_draw_range(&u->list, u->nshown, c, r, 0);
	if (!u->nshown)
		canvas_text(c, rows, 1, 0, ROLE_DIM,
			    u->filter.text[0] || u->problems ? "no event matches"
							     : "no events yet");
	for (y = 0; y < rows.h && u->list.top + (uint32_t)y < u->nshown; y++) {
		uint32_t i = u->list.top + (uint32_t)y;
		const struct log_line *l = events_get(s->events, u->shown[i]);

		event_draw(c, rows, y, l);
		if (i != u->list.cursor)
			continue;
		at = l;
		list_draw_cursor(c, rows, y);
	}
	canvas_rule(c, r, r.h - 3, "Selected");
	if (u->filter.active)
		entry_draw(&u->filter, c, r, 1, r.h - 2, "filter");
	else if (at)
		canvas_wrap(c, (struct rect){ r.x, r.y + r.h - 2, r.w - 1, 2 }, 1, 0, ROLE_TEXT,
			    at->text);
}

static bool events_input(void *own, struct ui *ui, const struct input *in, const struct state *s,
			 struct request *out)
{
	struct events_ui *u = own;

	(void)ui;
	(void)s;
	(void)out;
	if (filter_type(&u->filter, in)) {
		u->list.cursor = 0;
		return true;
	}
	if (list_move(&u->list, in->req, u->nshown))
		return true;
	if (in->req == REQ_PROBLEMS) {
		u->problems = !u->problems;
		return true;
	}
	return filter_ask(&u->filter, in->req);
}

static bool events_typing(const void *own, const struct state *s)
{
	(void)s;
	return ((const struct events_ui *)own)->filter.active;
}

static void events_context(const void *own, const struct state *s, char *buf, size_t len)
{
	const struct events_ui *u = own;

	(void)s;
	snprintf(buf, len, "%u events  filter: %s%s", u->nshown,
		 u->filter.text[0] ? u->filter.text : "none", u->problems ? "  problems only" : "");
}

const struct view view_events = {
	.name = "Events",
	.title = "Events",
	.size = sizeof(struct events_ui),
	.draw = events_draw,
	.input = events_input,
	.typing = events_typing,
	.context = events_context,
};
