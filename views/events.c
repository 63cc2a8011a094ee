/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event log: newest first; filter by text, or warnings and errors only. */
#include "views/event_ref.h"
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
	uint64_t drawn;	 /* events there were when it was drawn last ... */
	int64_t drawn_s; /* ... and when */
	uint64_t read;	 /* those before were there at the visit before */
	uint64_t at;	 /* number of the event under the cursor, from 1; 0: the newest */
	uint64_t ref_of; /* number of the event that ref is of */
	struct event_ref ref;
};

#define VISIT_S 3 /* not drawn for so long: it was left */

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

/* Events come while one is read: the cursor stays on it. */
static void hold_cursor(struct events_ui *u, const struct state *s)
{
	if (!u->at || !s->events)
		return;
	for (uint32_t i = 0; i < u->nshown; i++) {
		if (s->events->total - u->shown[i] != u->at)
			continue;
		u->list.cursor = i;
		return;
	}
}

static void note_cursor(struct events_ui *u, const struct state *s)
{
	u->at = 0;
	if (u->list.cursor && u->list.cursor < u->nshown)
		u->at = s->events->total - u->shown[u->list.cursor];
}

/* What came since the view was left is new. */
static void note_visit(struct events_ui *u, const struct state *s)
{
	if (s->now_s - u->drawn_s > VISIT_S || s->now_s < u->drawn_s)
		u->read = u->drawn;
	u->drawn_s = s->now_s;
	u->drawn = s->events ? s->events->total : 0;
}

static void draw_title(const struct events_ui *u, const struct state *s, struct canvas *c,
		       struct rect r)
{
	uint32_t n[4] = { 0 }, fresh = 0, all = s->events ? events_count(s->events) : 0;
	char title[160];

	for (uint32_t i = 0; i < all; i++) {
		n[events_get(s->events, i)->level & 3]++;
		fresh += u->read && s->events->total - i > u->read;
	}
	snprintf(title, sizeof(title), "%s: %u error%s, %u warning%s, %u other",
		 u->problems ? "Warnings and errors" : "Newest first", n[LOG_ERROR],
		 n[LOG_ERROR] == 1 ? "" : "s", n[LOG_WARN], n[LOG_WARN] == 1 ? "" : "s",
		 n[LOG_INFO] + n[LOG_DEBUG]);
	if (fresh)
		snprintf(title + strlen(title), sizeof(title) - strlen(title), ", + %u new", fresh);
	canvas_rule(c, r, 0, title);
}

static void draw_selected(struct events_ui *u, const struct state *s, struct canvas *c,
			  struct rect r, const struct log_line *at, uint64_t number)
{
	char what[300], time[FIGURE_LEN], age[FIGURE_LEN], title[80] = "Selected";
	int64_t when = at ? (int64_t)(at->time_ns / 1000000000) : 0;
	int y = 1;

	if (at)
		snprintf(title, sizeof(title), "%s, %s ago: %s, %s", figure_time(time, when),
			 figure_age(age, (double)(s->now_s > when ? s->now_s - when : 0)),
			 log_level_name(at->level), at->area);
	canvas_rule(c, r, 0, title);
	if (u->filter.active) {
		entry_draw(&u->filter, c, r, 1, 1, "filter");
		return;
	}
	if (!at)
		return;
	if (u->ref_of != number) {
		event_ref_find(&u->ref, s, at->text);
		u->ref_of = number;
	}
	y += canvas_wrap(c, (struct rect){ r.x, r.y, r.w - 1, r.h }, 1, y, ROLE_TEXT, at->text);
	if (y < r.h && event_ref_text(what, sizeof(what), s, &u->ref)[0])
		canvas_textf(c, r, 1, y, ROLE_KEY, "Enter: %s", what);
}

static void events_draw(void *own, struct ui *ui, struct canvas *c, struct rect r,
			const struct state *s)
{
	struct events_ui *u = own;
	const struct log_line *at = NULL;
	int foot = r.h >= 20 ? 5 : 4, y;
	struct rect rows = { r.x, r.y + 1, r.w, r.h - 1 - foot };
	uint64_t number = 0;

	(void)ui;
	note_visit(u, s);
	select_lines(u, s);
	hold_cursor(u, s);
	list_fit(&u->list, u->nshown, rows.h);
	draw_title(u, s, c, r);
	list_draw_range(&u->list, u->nshown, c, r, 0);
	if (!u->nshown)
		canvas_text(c, rows, 1, 0, ROLE_DIM,
			    u->filter.text[0] || u->problems ? "no event matches"
							     : "no events yet");
	for (y = 0; y < rows.h && u->list.top + (uint32_t)y < u->nshown; y++) {
		uint32_t i = u->list.top + (uint32_t)y;
		const struct log_line *l = events_get(s->events, u->shown[i]);
		uint64_t k = s->events->total - u->shown[i];

		event_draw(c, rows, y, l);
		if (u->read && k > u->read)
			canvas_text(c, rows, 0, y, ROLE_KEY, "+");
		if (i != u->list.cursor)
			continue;
		at = l;
		number = k;
		list_draw_cursor(c, rows, y);
	}
	draw_selected(u, s, c, (struct rect){ r.x, r.y + r.h - foot, r.w, foot }, at, number);
}

/* To what the event under the cursor names. */
static void open_ref(struct events_ui *u, struct ui *ui, const struct state *s)
{
	struct event_ref ref = { .kind = REF_NONE };

	if (u->list.cursor < u->nshown)
		event_ref_find(&ref, s, events_get(s->events, u->shown[u->list.cursor])->text);
	switch (ref.kind) {
	case REF_CHAN:
		ui_select_chan(ui, ref.at);
		ui_goto(ui, VIEW_LINKS);
		break;
	case REF_SWITCH:
	case REF_TERM:
		ui_select_switch(ui, ref.kind == REF_TERM ? s->fabric->term_sw[ref.at] : ref.at);
		ui_goto(ui, VIEW_SWITCHES);
		break;
	case REF_JOB:
		ui_select_job(ui, ref.job);
		ui_goto(ui, VIEW_JOBS);
		break;
	case REF_NONE:
		ui_say(ui, "this event names no link, switch or job that is here now");
		break;
	}
}

static bool events_input(void *own, struct ui *ui, const struct input *in, const struct state *s,
			 struct request *out)
{
	struct events_ui *u = own;

	(void)out;
	if (filter_type(&u->filter, in)) {
		u->list.cursor = 0;
		u->at = 0;
		return true;
	}
	if (list_move(&u->list, in->req, u->nshown)) {
		note_cursor(u, s);
		return true;
	}
	if (in->req == REQ_PROBLEMS) {
		u->problems = !u->problems;
		return true;
	}
	if (in->req == REQ_ENTER) {
		open_ref(u, ui, s);
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
