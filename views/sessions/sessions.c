/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions and audit: the records, whether they are what was written, and what was done in one. */
#include "fabric/base/message/plural.h"
#include "views/data/hint_click.h"
#include "views/data/state/key_hint.h"
#include "views/data/lists/session_list.h"
#include "views/table/table.h"
#include "views/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DETAIL_ROWS	   4
#define PREVIEW_FROM_LINES 24 /* of the page: more than 80x24 has */
#define PREVIEW_ROWS	   6  /* with fewer there is none */

struct sessions_ui {
	struct table list, actions;
	char inside[80]; /* file whose actions are shown; "" the list */
	bool preview;	 /* below the list are the actions of what the cursor is on */
};

static void sessions_done(void *own)
{
	struct sessions_ui *u = own;

	table_done(&u->list);
	table_done(&u->actions);
}

/* "2026-11-22 04:43:32" of 2026-11-22T04:43:32.123Z */
static const char *sessions_when(char buf[24], const char *ts)
{
	snprintf(buf, 24, "%.19s", ts[0] ? ts : "?");
	if (strlen(buf) > 10)
		buf[10] = ' ';
	return buf;
}

static enum role sessions_verdict_role(const struct session_row *row)
{
	if (row->told)
		return ROLE_DIM;
	return !row->ok ? ROLE_BAD : session_problem(row) ? ROLE_WARN : ROLE_GOOD;
}

/* --- the table of sessions ------------------------------------------------------------------- */

enum { COL_START, COL_PART, COL_RECORD = 6 };

static const struct table_col columns[] = {
	[COL_START] = { "start", "begin (UTC)", 19, 0, 0, 1 },
	[COL_PART] = { "part", NULL, 4, 0, 0, 0 },
	{ "uid", NULL, 6, 0, 0, 0 },
	{ "mode", NULL, 5, 0, 0, 0 },
	{ "updates", NULL, 7, 0, 0, 0 },
	{ "size_KiB", NULL, 6, 0, 0, 0 },
	[COL_RECORD] = { "record", NULL, 19, 0, 0, 1 },
	{ "fabric", NULL, 0, 90, 0, 0 },
	{ "sid", NULL, 28, 140, 0, 0 },
};

static bool sessions_draw_cell(const struct table_in *in, uint32_t row, uint32_t col,
			       struct canvas *c, struct rect r, int x, int y, int w)
{
	const struct sessions_ui *u = in->own;
	const struct session_row *s = &in->s->sessions->row[row];
	char time[24];

	switch (col) {
	case COL_START:
		canvas_text(c, r, x, y, ROLE_TEXT, sessions_when(time, s->start));
		return true;
	case COL_PART:
		return s->part < 2; /* most have no other */
	case COL_RECORD:
		table_text(&u->list, c, r, x, y, w, sessions_verdict_role(s), session_verdict(s));
		return true;
	default:
		return false;
	}
}

static const struct table_ops list_ops = {
	.kind = ROWS_SESSIONS,
	.what = "sessions",
	.one = "session",
	.col = columns,
	.ncol = sizeof(columns) / sizeof(columns[0]),
	.only = "(with findings only)",
	.draw = sessions_draw_cell,
};

/* --- what was done in one -------------------------------------------------------------------- */

enum { COL_TYPE = 2 };

static const struct table_col action_columns[] = {
	{ "seq", NULL, 5, 0, 0, 0 },
	{ "time", NULL, 8, 0, 0, 0 },
	[COL_TYPE] = { "type", NULL, 14, 0, 0, 1 },
	{ "text", NULL, 0, 0, 0, 14 },
};

static bool sessions_draw_action(const struct table_in *in, uint32_t row, uint32_t col,
				 struct canvas *c, struct rect r, int x, int y, int w)
{
	const struct sessions_ui *u = in->own;
	const struct session_action *a = &in->s->sessions->action[row];

	if (col != COL_TYPE)
		return false;
	table_text(&u->actions, c, r, x, y, w, a->loud ? ROLE_WARN : ROLE_LABEL, a->what);
	return true;
}

static const struct table_ops action_ops = {
	.kind = ROWS_ACTIONS,
	.what = "lines",
	.one = "line",
	.col = action_columns,
	.ncol = sizeof(action_columns) / sizeof(action_columns[0]),
	.only = "(failures only)",
	.draw = sessions_draw_action,
};

static struct table *sessions_table(void *own, const struct table_ops **out)
{
	struct sessions_ui *u = own;

	*out = u->inside[0] ? &action_ops : &list_ops;
	return u->inside[0] ? &u->actions : &u->list;
}

/* --- the view -------------------------------------------------------------------------------- */

static void sessions_draw_detail(struct canvas *c, struct rect r, const struct session_row *row)
{
	char time[24], text[320], words[320];

	canvas_rule(c, r, 0, row->sid);
	snprintf(text, sizeof(text), "%llu line%s  screen %s%s  fabric %s  until %s",
		 (unsigned long long)row->lines, plural(row->lines),
		 row->screen ? "recorded" : "none", row->epoch ? "  sealed" : "",
		 row->fabric[0] ? row->fabric : "-", sessions_when(time, row->end));
	canvas_text(c, r, 1, 1, ROLE_TEXT, text_shorten_words(words, sizeof(words), text, r.w - 2));
	if (row->told)
		canvas_text(c, r, 1, 2, ROLE_DIM,
			    "of the collector's index: this user may not read the record");
	else if (!row->ok)
		canvas_text(c, r, 1, 2, ROLE_BAD,
			    text_shorten(text, sizeof(text), row->what, r.w - 2));
	else
		canvas_textf(c, r, 1, 2, ROLE_DIM, "hash %s",
			     text_shorten(text, sizeof(text), row->head, r.w - 7));
}

/* The last of its actions, where they are those that were read. */
static void sessions_draw_preview(const struct state *st, struct canvas *c, struct rect r,
				  const struct session_row *row)
{
	const struct sessions *s = st->sessions;
	bool read = !strcmp(s->opened, row->file) && !s->why[0];
	uint32_t n = read ? s->naction : 0, fit = (uint32_t)r.h - 1;
	uint32_t from = n > fit ? n - fit : 0;
	char title[64] = "Actions", text[320];

	if (from)
		snprintf(title, sizeof(title), "Actions: the last %u of %u", fit, n);
	canvas_rule(c, r, 0, title);
	if (!read)
		canvas_text(c, r, 1, 1, ROLE_DIM,
			    st->sessions_busy ? "reading"
			    : row->told	      ? "this user may not read the record"
					      : "Enter: what was done in it");
	hint_click_mark(c, r, 1, !read);
	for (uint32_t i = from; i < n; i++) {
		const struct session_action *a = &s->action[i];
		int y = 1 + (int)(i - from);

		canvas_rightf(c, r, 7, y, ROLE_DIM, "%llu", (unsigned long long)a->seq);
		canvas_text(c, r, 9, y, ROLE_TEXT, a->time);
		canvas_name(c, r, 19, y, 16, a->loud ? ROLE_WARN : ROLE_LABEL, a->what);
		canvas_text(c, r, 36, y, ROLE_TEXT,
			    text_shorten_words(text, sizeof(text), a->text, r.w - 37));
	}
}

/* Lines of the list: all, or what it needs, where the rest is enough for actions. */
static int sessions_list_lines(struct sessions_ui *u, const struct sessions *s, int h)
{
	int need = s->nrow < (uint32_t)h / 2 ? (int)s->nrow + 3 : h / 2;

	u->preview = h >= PREVIEW_FROM_LINES - DETAIL_ROWS && s->nrow && h - need >= PREVIEW_ROWS;
	return u->preview ? need : h;
}

static void sessions_draw_list(struct sessions_ui *u, const struct table_in *in, struct canvas *c,
			       struct rect r)
{
	const struct sessions *s = in->s->sessions;
	int below = list_detail_lines(r.h, DETAIL_ROWS);
	int lines = sessions_list_lines(u, s, r.h - below);
	uint32_t changed = 0, at;
	char title[240];

	for (uint32_t i = 0; i < s->nrow; i++)
		changed += !s->row[i].told && !s->row[i].ok;
	if (in->s->sessions_busy)
		snprintf(title, sizeof(title), "%u record%s (reading again%s%.48s; %s stops it)",
			 s->nrow, plural(s->nrow), in->s->sessions_step[0] ? ": " : "",
			 in->s->sessions_step, key_hint("verify"));
	else
		snprintf(title, sizeof(title), "%u record%s, %u tampered with, in %.60s", s->nrow,
			 plural(s->nrow), changed, s->dir);
	table_draw(&u->list, &list_ops, in, c, (struct rect){ r.x, r.y, r.w, lines }, title);
	at = table_cursor(&u->list);
	if (below && at != FAB_NONE)
		sessions_draw_detail(c, (struct rect){ r.x, r.y + lines, r.w, below }, &s->row[at]);
	lines += below;
	if (u->preview && at != FAB_NONE)
		sessions_draw_preview(in->s, c, (struct rect){ r.x, r.y + lines, r.w, r.h - lines },
				      &s->row[at]);
}

static void sessions_draw_actions(struct sessions_ui *u, const struct table_in *in,
				  struct canvas *c, struct rect r)
{
	const struct sessions *s = in->s->sessions;
	struct rect rows = { r.x, r.y, r.w, r.h - 3 };
	char title[160];
	uint32_t at;

	snprintf(title, sizeof(title), "Actions in %.80s", u->inside);
	if (strcmp(s->opened, u->inside) || s->why[0]) {
		canvas_rule(c, r, 0, title);
		if (s->why[0] && !strcmp(s->opened, u->inside))
			canvas_text(c, rows, 1, 1, ROLE_BAD, s->why);
		else
			canvas_textf(c, rows, 1, 1, ROLE_DIM, "reading%s%s; Esc stops it",
				     in->s->sessions_step[0] ? ": " : "", in->s->sessions_step);
		return;
	}
	table_draw(&u->actions, &action_ops, in, c, rows, title);
	at = table_cursor(&u->actions);
	canvas_rule(c, r, r.h - 3, at == FAB_NONE ? NULL : "Enter: replay from here");
	hint_click_mark(c, r, r.h - 3, 1);
	if (at != FAB_NONE)
		canvas_wrap(c, (struct rect){ r.x, r.y + r.h - 2, r.w - 1, 2 }, 1, 0, ROLE_TEXT,
			    s->action[at].text);
}

static void sessions_draw(void *own, struct context *ctx, struct canvas *c, struct rect r,
			  const struct state *s)
{
	struct sessions_ui *u = own;
	const struct table_in in = { own, ctx, s };

	if (!s->sessions) {
		canvas_rule(c, r, 0, "Sessions");
		canvas_textf(c, r, 1, 2, ROLE_DIM,
			     s->sessions_busy ? "reading and verifying the records; %s stops it"
					      : "%s: read and verify the records of past sessions",
			     key_hint("verify"));
		hint_click_mark(c, r, 2, 1);
		if (s->sessions_busy && s->sessions_step[0])
			canvas_text(c, r, 1, 3, ROLE_DIM, s->sessions_step);
		return;
	}
	if (u->inside[0])
		sessions_draw_actions(u, &in, c, r);
	else
		sessions_draw_list(u, &in, c, r);
}

static void sessions_open_row(struct sessions_ui *u, const struct table_in *in, struct request *out)
{
	uint32_t at;

	table_follow(&u->list, &list_ops, in);
	at = table_cursor(&u->list);
	if (at == FAB_NONE)
		return;
	snprintf(u->inside, sizeof(u->inside), "%s", in->s->sessions->row[at].file);
	table_done(&u->actions);
	out->type = REQ_SESSION_OPEN;
	snprintf(out->text, sizeof(out->text), "%s", u->inside);
}

static bool sessions_inside_input(struct sessions_ui *u, const struct table_in *at,
				  const struct input *in, struct request *out)
{
	const struct sessions *s = at->s->sessions;
	bool read = !strcmp(s->opened, u->inside);
	uint32_t row;

	if (in->req == REQ_BACK) {
		if (!read && at->s->sessions_busy)
			out->type = REQ_VERIFY; /* ends it */
		if (!read || !table_input(&u->actions, &action_ops, at, in))
			u->inside[0] = '\0';
		return true;
	}
	if (!read || in->req != REQ_ENTER)
		return false;
	table_follow(&u->actions, &action_ops, at);
	row = table_cursor(&u->actions);
	if (row == FAB_NONE)
		return false;
	out->type = REQ_REPLAY;
	snprintf(out->text, sizeof(out->text), "%s %llu", u->inside,
		 (unsigned long long)s->action[row].seq);
	return true;
}

static bool sessions_moves(enum req req)
{
	return req == REQ_UP || req == REQ_DOWN || req == REQ_PAGE_UP || req == REQ_PAGE_DOWN ||
	       req == REQ_TOP || req == REQ_BOTTOM || req == REQ_WHEEL_UP ||
	       req == REQ_WHEEL_DOWN || req == REQ_CLICK || req == REQ_FIND_NEXT ||
	       req == REQ_FIND_PREV;
}

/* Where there is room for the actions of a record, they are read when the cursor gets there. */
static bool sessions_move(struct sessions_ui *u, const struct table_in *at, const struct input *in,
			  struct request *out)
{
	const struct sessions *s = at->s->sessions;
	uint32_t row;

	if (!u->preview || !sessions_moves(in->req) || !table_input(&u->list, &list_ops, at, in))
		return false;
	row = table_cursor(&u->list);
	if (row == FAB_NONE || s->row[row].told ||
	    (!strcmp(s->opened, s->row[row].file) && !at->s->sessions_busy))
		return true;
	out->type = REQ_SESSION_OPEN;
	snprintf(out->text, sizeof(out->text), "%s", s->row[row].file);
	return true;
}

static bool sessions_input(void *own, struct context *ctx, const struct input *in,
			   const struct state *s, struct request *out)
{
	struct sessions_ui *u = own;
	const struct table_in at = { own, ctx, s };

	if (in->req == REQ_VERIFY) {
		out->type = REQ_VERIFY;
		return true;
	}
	if (!s->sessions)
		return false;
	if (u->inside[0])
		return sessions_inside_input(u, &at, in, out);
	if (in->req != REQ_ENTER)
		return sessions_move(u, &at, in, out);
	sessions_open_row(u, &at, out);
	return true;
}

static const char *sessions_inside(const void *own)
{
	return ((const struct sessions_ui *)own)->inside[0] ? "records" : NULL;
}

const struct view view_sessions = {
	.size = sizeof(struct sessions_ui),
	.done = sessions_done,
	.draw = sessions_draw,
	.input = sessions_input,
	.table = sessions_table,
	.inside = sessions_inside,
};
