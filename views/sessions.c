/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions and audit: the records, whether they are what was written, and what was done in one. */
#include "views/sessions.h"

#include "views/list.h"
#include "views/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DETAIL_ROWS 4
#define FABRIC_FROM 90 /* columns: else the fabric is only said of the one selected */

struct sessions_ui {
	struct list list, actions;
	char inside[80]; /* file whose actions are shown; "" the list */
};

void sessions_free(struct sessions *s)
{
	if (!s)
		return;
	free(s->row);
	free(s->action);
	free(s);
}

/* "2026-11-22 04:43:32" of 2026-11-22T04:43:32.123Z */
static const char *when(char buf[24], const char *ts)
{
	snprintf(buf, 24, "%.19s", ts[0] ? ts : "?");
	if (strlen(buf) > 10)
		buf[10] = ' ';
	return buf;
}

static const char *size_text(char buf[FIGURE_LEN], uint64_t bytes)
{
	return figure_short(buf, (bytes + 1023) / 1024);
}

static enum role verdict_role(const struct session_row *row)
{
	return !row->ok ? ROLE_BAD : row->gaps || row->open_end ? ROLE_WARN : ROLE_GOOD;
}

static const char *verdict_text(const struct session_row *row)
{
	return !row->ok	       ? "CHANGED"
	       : row->gaps     ? "whole, with gaps"
	       : row->open_end ? "whole, no end"
			       : "whole";
}

static void draw_row(struct canvas *c, struct rect r, int y, const struct session_row *row)
{
	char buf[FIGURE_LEN], time[24];

	canvas_text(c, r, 1, y, ROLE_TEXT, when(time, row->start));
	if (row->part > 1)
		canvas_textf(c, r, 21, y, ROLE_DIM, "part %u", row->part);
	canvas_rightf(c, r, 34, y, ROLE_TEXT, "%u", row->uid);
	canvas_text(c, r, 36, y, ROLE_LABEL, row->mode);
	canvas_rightf(c, r, 49, y, row->updates ? ROLE_TEXT : ROLE_DIM, "%llu",
		      (unsigned long long)row->updates);
	canvas_right(c, r, 56, y, ROLE_TEXT, size_text(buf, row->bytes));
	canvas_text(c, r, 58, y, verdict_role(row), verdict_text(row));
	if (r.w >= FABRIC_FROM)
		canvas_name(c, r, 76, y, r.w - 77, ROLE_TEXT, row->fabric);
}

static void draw_detail(struct canvas *c, struct rect r, const struct session_row *row)
{
	char time[24], text[320];

	canvas_rule(c, r, 0, row->sid);
	snprintf(text, sizeof(text), "until %s  fabric %s  %llu lines  screen %s%s",
		 when(time, row->end), row->fabric[0] ? row->fabric : "-",
		 (unsigned long long)row->lines, row->screen ? "recorded" : "not there",
		 row->epoch ? "  sealed" : "");
	canvas_text(c, r, 1, 1, ROLE_TEXT, text);
	if (!row->ok)
		canvas_text(c, r, 1, 2, ROLE_BAD,
			    text_shorten(text, sizeof(text), row->what, r.w - 2));
	else
		canvas_textf(c, r, 1, 2, ROLE_DIM, "head %s", row->head);
}

static void draw_list(struct sessions_ui *u, struct canvas *c, struct rect r,
		      const struct sessions *s)
{
	struct rect rows = { r.x, r.y + 2, r.w, r.h - 2 - DETAIL_ROWS };
	char title[240];

	snprintf(title, sizeof(title), "Sessions in %.180s", s->dir);
	canvas_rule(c, r, 0, title);
	list_fit(&u->list, s->nrow, rows.h);
	list_draw_range(&u->list, s->nrow, c, r, 0);
	canvas_text(c, r, 1, 1, ROLE_LABEL, "begin (UTC)");
	canvas_right(c, r, 34, 1, ROLE_LABEL, "uid");
	canvas_text(c, r, 36, 1, ROLE_LABEL, "mode");
	canvas_right(c, r, 49, 1, ROLE_LABEL, "updates");
	canvas_right(c, r, 56, 1, ROLE_LABEL, "KiB");
	canvas_text(c, r, 58, 1, ROLE_LABEL, "record");
	if (r.w >= FABRIC_FROM)
		canvas_text(c, r, 76, 1, ROLE_LABEL, "fabric");
	if (!s->nrow)
		canvas_text(c, rows, 1, 0, ROLE_DIM, "no session was recorded here");
	for (int y = 0; y < rows.h && u->list.top + (uint32_t)y < s->nrow; y++) {
		uint32_t i = u->list.top + (uint32_t)y;

		draw_row(c, rows, y, &s->row[i]);
		if (i == u->list.cursor)
			list_draw_cursor(c, rows, y);
	}
	if (s->nrow)
		draw_detail(c, (struct rect){ r.x, r.y + r.h - DETAIL_ROWS, r.w, DETAIL_ROWS },
			    &s->row[u->list.cursor]);
}

static void draw_actions(struct sessions_ui *u, struct canvas *c, struct rect r,
			 const struct sessions *s)
{
	struct rect rows = { r.x, r.y + 1, r.w, r.h - 4 };
	char title[160], text[256];

	snprintf(title, sizeof(title), "What was done in %.80s", u->inside);
	canvas_rule(c, r, 0, title);
	if (strcmp(s->opened, u->inside)) {
		canvas_text(c, rows, 1, 0, ROLE_DIM, "being read ...");
		return;
	}
	list_fit(&u->actions, s->naction, rows.h);
	list_draw_range(&u->actions, s->naction, c, r, 0);
	if (s->why[0])
		canvas_text(c, rows, 1, 0, ROLE_BAD, s->why);
	for (int y = 0; y < rows.h && u->actions.top + (uint32_t)y < s->naction; y++) {
		uint32_t i = u->actions.top + (uint32_t)y;
		const struct session_action *a = &s->action[i];

		canvas_rightf(c, rows, 7, y, ROLE_DIM, "%llu", (unsigned long long)a->seq);
		canvas_text(c, rows, 8, y, ROLE_DIM, a->time);
		canvas_name(c, rows, 18, y, 14, a->loud ? ROLE_WARN : ROLE_LABEL, a->what);
		canvas_text(c, rows, 33, y, ROLE_TEXT,
			    text_shorten(text, sizeof(text), a->text, rows.w - 34));
		if (i == u->actions.cursor)
			list_draw_cursor(c, rows, y);
	}
	canvas_rule(c, r, r.h - 3, "Selected");
	if (s->naction)
		canvas_wrap(c, (struct rect){ r.x, r.y + r.h - 2, r.w - 1, 2 }, 1, 0, ROLE_TEXT,
			    s->action[u->actions.cursor].text);
}

static void sessions_draw(void *own, struct ui *ui, struct canvas *c, struct rect r,
			  const struct state *s)
{
	struct sessions_ui *u = own;

	(void)ui;
	if (!s->sessions) {
		canvas_rule(c, r, 0, "Sessions");
		canvas_text(c, r, 1, 2, ROLE_DIM,
			    s->sessions_busy
				    ? "the records are being read and verified ..."
				    : "V reads the records of past sessions and verifies them");
		return;
	}
	if (u->inside[0])
		draw_actions(u, c, r, s->sessions);
	else
		draw_list(u, c, r, s->sessions);
}

static void open_row(struct sessions_ui *u, const struct sessions *s, struct request *out)
{
	if (u->list.cursor >= s->nrow)
		return;
	snprintf(u->inside, sizeof(u->inside), "%s", s->row[u->list.cursor].file);
	memset(&u->actions, 0, sizeof(u->actions));
	out->type = REQ_SESSION_OPEN;
	snprintf(out->text, sizeof(out->text), "%s", u->inside);
}

static bool inside_input(struct sessions_ui *u, const struct input *in, const struct sessions *s,
			 struct request *out)
{
	if (in->req == REQ_BACK) {
		u->inside[0] = '\0';
		return true;
	}
	if (strcmp(s->opened, u->inside))
		return false;
	if (list_move(&u->actions, in->req, s->naction))
		return true;
	if (in->req != REQ_ENTER || u->actions.cursor >= s->naction)
		return false;
	out->type = REQ_REPLAY;
	snprintf(out->text, sizeof(out->text), "%s %llu", u->inside,
		 (unsigned long long)s->action[u->actions.cursor].seq);
	return true;
}

static bool sessions_input(void *own, struct ui *ui, const struct input *in, const struct state *s,
			   struct request *out)
{
	struct sessions_ui *u = own;

	(void)ui;
	if (in->req == REQ_VERIFY) {
		out->type = REQ_VERIFY;
		return true;
	}
	if (!s->sessions)
		return false;
	if (u->inside[0])
		return inside_input(u, in, s->sessions, out);
	if (in->req == REQ_ENTER) {
		open_row(u, s->sessions, out);
		return true;
	}
	return list_move(&u->list, in->req, s->sessions->nrow);
}

static void sessions_context(const void *own, const struct state *s, char *buf, size_t len)
{
	const struct sessions_ui *u = own;
	uint32_t changed = 0, n = s->sessions ? s->sessions->nrow : 0;

	for (uint32_t i = 0; i < n; i++)
		changed += !s->sessions->row[i].ok;
	if (u->inside[0])
		snprintf(buf, len, "Enter replays from there; Esc goes back");
	else
		snprintf(buf, len, "%u records, %u changed%s", n, changed,
			 s->sessions_busy ? "  (being verified)" : "");
}

const struct view view_sessions = {
	.name = "Audit",
	.title = "Audit",
	.size = sizeof(struct sessions_ui),
	.draw = sessions_draw,
	.input = sessions_input,
	.context = sessions_context,
};
