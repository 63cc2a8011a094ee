/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event log: newest first; filter by text, or warnings and errors only. */
#include "fabric/base/message/plural.h"
#include "views/data/hint_click.h"
#include "views/data/state/event_ref.h"
#include "views/events/event_line.h"
#include "views/events/events_about.h"
#include "views/table/table.h"
#include "views/view.h"

#include <stdio.h>
#include <string.h>

struct events_ui {
	struct table table;
	uint64_t drawn;	 /* events there were when it was drawn last ... */
	int64_t drawn_s; /* ... and when */
	uint64_t read;	 /* those before were there at the visit before */
	uint64_t ref_of; /* number of the event that ref is of */
	struct event_ref ref;
	const struct fabric *fabric; /* that it is of; own reference */
};

#define VISIT_S 3 /* not drawn for so long: it was left */

static void events_done(void *own)
{
	struct events_ui *u = own;

	table_done(&u->table);
	fabric_put(u->fabric);
}

/* What the event in that row names. */
static void events_follow_ref(struct events_ui *u, const struct state *s, uint32_t row)
{
	if (u->ref_of == s->events->total - row && u->fabric == s->fabric)
		return;
	if (u->fabric != s->fabric) {
		fabric_put(u->fabric);
		u->fabric = s->fabric ? fabric_get(s->fabric) : NULL;
	}
	event_ref_find(&u->ref, s, events_get(s->events, row)->text);
	u->ref_of = s->events->total - row;
}

/* To what the event names. */
static void events_open_ref(const struct table_in *in, uint32_t row)
{
	const struct state *s = in->s;
	struct context *ctx = in->ctx;
	struct event_ref ref = { .kind = REF_NONE };

	event_ref_find(&ref, s, events_get(s->events, row)->text);
	switch (ref.kind) {
	case REF_CHAN:
		ctx->chan = ref.at;
		context_goto(ctx, VIEW_LINKS);
		break;
	case REF_SWITCH:
	case REF_TERM:
		ctx->sw = ref.kind == REF_TERM ? s->fabric->term_sw[ref.at] : ref.at;
		context_goto(ctx, VIEW_SWITCHES);
		break;
	case REF_JOB:
		context_select_job(ctx, ref.job);
		context_goto(ctx, VIEW_JOBS);
		break;
	case REF_NONE:
		context_say(ctx, "this event names no link, switch or job that exists now");
		break;
	}
}

/* --- what the table shows -------------------------------------------------------------------- */

enum { COL_NEW, COL_TIME, COL_LEVEL, COL_AREA, COL_TEXT };

static const struct table_col columns[] = {
	[COL_NEW] = { NULL, "", 1, 0, 0, 0 },		[COL_TIME] = { "ts", NULL, 8, 0, 0, 1 },
	[COL_LEVEL] = { "severity", NULL, 5, 0, 0, 0 }, [COL_AREA] = { "area", NULL, 9, 0, 0, 0 },
	[COL_TEXT] = { "text", NULL, 0, 0, 0, 19 },
};

static bool events_draw_cell(const struct table_in *in, uint32_t row, uint32_t col,
			     struct canvas *c, struct rect r, int x, int y, int w)
{
	const struct events_ui *u = in->own;
	const struct log_line *l = events_get(in->s->events, row);
	enum role role = event_role(l);
	char time[FIGURE_LEN], text[512];

	switch (col) {
	case COL_NEW:
		if (u->read && in->s->events->total - row > u->read)
			canvas_char(c, r, x, y, ROLE_KEY, '*');
		return true;
	case COL_TIME:
		canvas_text(c, r, x, y, ROLE_DIM,
			    figure_time(time, (int64_t)(l->time_ns / 1000000000)));
		return true;
	case COL_LEVEL:
		canvas_text(c, r, x, y, role, log_level_name(l->level));
		return true;
	case COL_AREA:
		table_text(&u->table, c, r, x, y, w, ROLE_LABEL, l->area);
		return true;
	default:
		table_text(&u->table, c, r, x, y, w, l->level >= LOG_WARN ? role : ROLE_TEXT,
			   event_text(text, sizeof(text), l->text, w));
		return true;
	}
}

static const struct table_ops ops = {
	.kind = ROWS_EVENTS,
	.what = "events",
	.one = "event",
	.col = columns,
	.ncol = sizeof(columns) / sizeof(columns[0]),
	.only = "(warnings and errors only)",
	.draw = events_draw_cell,
	.open = events_open_ref,
};

static struct table *events_table(void *own, const struct table_ops **out)
{
	struct events_ui *u = own;

	*out = &ops;
	return &u->table;
}

/* --- the view -------------------------------------------------------------------------------- */

/* What came since the view was left is new. */
static void events_note_visit(struct events_ui *u, const struct state *s)
{
	if (s->now_s - u->drawn_s > VISIT_S || s->now_s < u->drawn_s)
		u->read = u->drawn;
	u->drawn_s = s->now_s;
	u->drawn = s->events ? s->events->total : 0;
}

static void events_title_of(char *buf, size_t len, const struct events_ui *u, const struct state *s)
{
	uint32_t n[4] = { 0 }, fresh = 0, all = s->events ? events_count(s->events) : 0;

	for (uint32_t i = 0; i < all; i++) {
		n[events_get(s->events, i)->level & 3]++;
		fresh += u->read && s->events->total - i > u->read;
	}
	snprintf(buf, len, "%s%u error%s, %u warning%s, %u other",
		 u->table.sort ? "" : "Newest first: ", n[LOG_ERROR], plural(n[LOG_ERROR]),
		 n[LOG_WARN], plural(n[LOG_WARN]), n[LOG_INFO] + n[LOG_DEBUG]);
	if (fresh)
		snprintf(buf + strlen(buf), len - strlen(buf), ", * %u new", fresh);
}

static void events_draw_selected(struct events_ui *u, const struct context *ctx,
				 const struct state *s, struct canvas *c, struct rect r, int about)
{
	uint32_t row = table_cursor(&u->table);
	const struct log_line *at = row == FAB_NONE ? NULL : events_get(s->events, row);
	char what[300], time[FIGURE_LEN], age[FIGURE_LEN], title[80] = "Selected";
	int64_t when = at ? (int64_t)(at->time_ns / 1000000000) : 0;
	int y = 1;

	if (at)
		snprintf(title, sizeof(title), "%s, %s ago: %s, %s", figure_time(time, when),
			 figure_age(age, (double)(s->now_s > when ? s->now_s - when : 0)),
			 log_level_name(at->level), at->area);
	canvas_rule(c, r, 0, title);
	if (!at)
		return;
	events_follow_ref(u, s, row);
	y += canvas_wrap(c, (struct rect){ r.x, r.y, r.w - 1, r.h }, 1, y, ROLE_TEXT, at->text);
	if (y < r.h && event_ref_text(what, sizeof(what), s, &u->ref)[0]) {
		int x = canvas_text(c, r, 1, y, ROLE_KEY, "Enter: ");

		hint_click_mark(c, (struct rect){ r.x, r.y, x, r.h }, y, 1); /* not the name */
		canvas_text(c, r, x, y, ROLE_KEY, what);
	}
	if (about)
		events_about_draw(ctx, s, c, (struct rect){ r.x, r.y + r.h - about, r.w, about },
				  &u->ref, row);
}

/* Lines for all of the text of the selected event, its rule, and where it leads. */
static int events_foot_lines(const struct events_ui *u, const struct state *s, struct canvas *c,
			     struct rect r)
{
	uint32_t row = table_cursor(&u->table);
	int least = r.h >= 20 ? 5 : 4, need = 2;

	if (row != FAB_NONE)
		need += canvas_wrap(c, (struct rect){ r.x, r.y, r.w - 1, 0 }, 1, 0, ROLE_TEXT,
				    events_get(s->events, row)->text);
	if (need > r.h / 2)
		need = r.h / 2;
	return list_detail_lines(r.h, need > least ? need : least);
}

static void events_draw(void *own, struct context *ctx, struct canvas *c, struct rect r,
			const struct state *s)
{
	struct events_ui *u = own;
	const struct table_in in = { own, ctx, s };
	char title[100];
	int foot, about = s->events && events_count(s->events) ? events_about_lines(r) : 0;

	events_note_visit(u, s);
	table_follow(&u->table, &ops, &in);
	foot = events_foot_lines(u, s, c, r) + about;
	events_title_of(title, sizeof(title), u, s);
	table_draw(&u->table, &ops, &in, c, (struct rect){ r.x, r.y, r.w, r.h - foot }, title);
	if (foot)
		events_draw_selected(u, ctx, s, c,
				     (struct rect){ r.x, r.y + r.h - foot, r.w, foot }, about);
}

const struct view view_events = {
	.size = sizeof(struct events_ui),
	.done = events_done,
	.draw = events_draw,
	.table = events_table,
};
