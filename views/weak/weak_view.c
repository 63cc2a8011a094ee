/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the failure of each cable and switch would cost after a repair: worst first. */
#include "fabric/base/message/plural.h"
#include "views/data/state/key_hint.h"
#include "views/data/lists/weak_list.h"
#include "views/table/table.h"
#include "views/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DETAIL_ROWS 4

struct weak_ui {
	struct table table;
};

static void weak_view_done(void *own)
{
	table_done(&((struct weak_ui *)own)->table);
}

/* --- what the table shows -------------------------------------------------------------------- */

#define NAMES_LEAST 22
#define NAMES_MOST  36

enum { COL_KIND, COL_PART, COL_PART_WIDE, COL_AFTER = 4, COL_TIME };

static const struct table_col columns[] = {
	[COL_KIND] = { "kind", NULL, 6, 0, 0, 0 },
	[COL_PART] = { "part", NULL, 0, 0, 100, NAMES_LEAST },
	[COL_PART_WIDE] = { "part", NULL, 0, 100, 0, 0 },
	{ "hosts", NULL, 6, 0, 0, 0 },
	[COL_AFTER] = { "after", NULL, 8, 0, 0, 0 },
	[COL_TIME] = { "time", NULL, 7, 0, 0, 0 },
	{ "rise_pct", NULL, 6, 0, 0, 0 },
	{ "vls", NULL, 3, 0, 0, 0 },
	{ "lids", NULL, 6, 90, 0, 0 },
	{ "entries", NULL, 11, 0, 0, 0 },
	{ "needed", NULL, 8, 90, 0, 0 },
};

/* Of a cable two switches and ports, as far as 80 columns have the times beside it. */
static int weak_view_names(const struct table_in *in)
{
	int all = in->s->fabric ? 2 * switch_label_width(in->s->fabric) + (int)strlen("/64 - /64")
				: 0;

	if (all <= NAMES_LEAST)
		return 0; /* a share of what is left over */
	return all < NAMES_MOST ? all : NAMES_MOST;
}

static enum role weak_view_role(enum weak_end end)
{
	return end == WEAK_CUT ? ROLE_BAD : end == WEAK_REROUTED ? ROLE_WARN : ROLE_TEXT;
}

static bool weak_view_draw_cell(const struct table_in *in, uint32_t row, uint32_t col,
				struct canvas *c, struct rect r, int x, int y, int w)
{
	const struct weak_ui *u = in->own;
	const struct weak_part *p = &state_weak(in->s)->report->part[row];

	if (col == COL_AFTER)
		table_text(&u->table, c, r, x, y, w, weak_view_role(p->end), weak_end_name(p->end));
	else if (col == COL_TIME && p->end == WEAK_REPAIRED) /* small differences count */
		canvas_textf(c, r, x, y, ROLE_TEXT, "%*.3fx", w - 1, p->time);
	else
		return false;
	return true;
}

static void weak_view_open(const struct table_in *in, uint32_t row)
{
	const struct weak_part *p = &state_weak(in->s)->report->part[row];

	if (p->chan == FAB_NONE) {
		in->ctx->sw = p->sw;
		context_goto(in->ctx, VIEW_SWITCHES);
	} else {
		in->ctx->chan = p->chan;
		context_goto(in->ctx, VIEW_LINKS);
	}
}

static const struct table_ops ops = {
	.kind = ROWS_FAILURES,
	.what = "failures",
	.one = "failure",
	.col = columns,
	.ncol = sizeof(columns) / sizeof(columns[0]),
	.only = "(without a repair only)",
	.names = weak_view_names,
	.draw = weak_view_draw_cell,
	.open = weak_view_open,
};

static struct table *weak_view_table(void *own, const struct table_ops **out)
{
	*out = &ops;
	return &((struct weak_ui *)own)->table;
}

/* --- the view -------------------------------------------------------------------------------- */

static void weak_view_title(char *buf, size_t len, const struct state *s)
{
	const struct weak_list *l = state_weak(s);
	const struct weak_report *w = l->report;
	size_t n;

	snprintf(buf, len, "If it fails: time now %.3fx, %u VL%s", w->time, w->vls, plural(w->vls));
	n = strlen(buf);
	if (s->weak.busy)
		snprintf(buf + n, len - n, " (again: %.48s)", s->weak.step);
	else if (s->tables && !tables_same(l->tables, s->tables, l->fabric))
		snprintf(buf + n, len - n, ", of earlier tables (%s: search again)",
			 key_hint("again"));
}

static void weak_view_say(char *buf, size_t len, const struct weak_report *w,
			  const struct weak_part *p)
{
	if (p->end == WEAK_CUT)
		snprintf(buf, len, "%u host%s cut off until it is back.", p->hosts,
			 p->hosts == 1 ? " is" : "s are");
	else if (p->end == WEAK_REROUTED)
		snprintf(buf, len,
			 "No repair is free of deadlocks on the VLs that there are: all is routed "
			 "again.");
	else
		snprintf(
			buf, len,
			"Repaired: %" PRIu64 " LFT entries change (%" PRIu64
			" have to), as paths to %u LID%s break; shifts over all hosts take %+.1f %%, "
			"on %u VL%s (now %u).",
			p->changed, p->needed, p->lids, plural(p->lids), weak_part_rise(w, p),
			p->vls, plural(p->vls), w->vls);
}

static void weak_view_draw_detail(struct canvas *c, struct rect r, const struct state *s,
				  uint32_t row)
{
	const struct weak_report *w = state_weak(s)->report;
	char label[200], text[300];

	canvas_rule(c, r, 0,
		    row == FAB_NONE
			    ? NULL
			    : weak_part_label(label, sizeof(label), s->fabric, &w->part[row]));
	if (row == FAB_NONE)
		return;
	weak_view_say(text, sizeof(text), w, &w->part[row]);
	canvas_wrap(c, (struct rect){ r.x, r.y, r.w - 1, r.h }, 1, 1, ROLE_TEXT, text);
}

/* Where there is no list. */
static void weak_view_draw_none(struct canvas *c, struct rect r, const struct state *s)
{
	char text[400];

	canvas_rule(c, r, 0, "If it fails");
	if (!s->fabric)
		snprintf(text, sizeof(text), "no fabric yet");
	else if (!s->tables)
		snprintf(text, sizeof(text), "%s", state_no_tables(s));
	else if (s->weak.busy)
		snprintf(text, sizeof(text), "failing each cable and switch once: %s",
			 s->weak.step);
	else if (s->weak.why[0])
		snprintf(text, sizeof(text), "%s", s->weak.why);
	else
		snprintf(text, sizeof(text),
			 "%s: find what the failure of each cable and switch would cost",
			 key_hint("again"));
	canvas_wrap(c, (struct rect){ r.x, r.y, r.w - 1, r.h }, 1, 1, ROLE_DIM, text);
}

static void weak_view_draw(void *own, struct context *ctx, struct canvas *c, struct rect r,
			   const struct state *s)
{
	const struct table_in in = { own, ctx, s };
	struct weak_ui *u = own;
	int below = list_detail_lines(r.h, DETAIL_ROWS);
	char title[160];

	if (!state_weak(s)) {
		weak_view_draw_none(c, r, s);
		return;
	}
	weak_view_title(title, sizeof(title), s);
	table_draw(&u->table, &ops, &in, c, (struct rect){ r.x, r.y, r.w, r.h - below }, title);
	if (below)
		weak_view_draw_detail(c, (struct rect){ r.x, r.y + r.h - below, r.w, below }, s,
				      table_cursor(&u->table));
}

static bool weak_view_input(void *own, struct context *ctx, const struct input *in,
			    const struct state *s, struct request *out)
{
	(void)own;
	(void)ctx;
	(void)s;
	if (in->req != REQ_AGAIN)
		return false;
	out->type = REQ_WEAK;
	return true;
}

static void weak_view_context(const void *own, const struct state *s, char *buf, size_t len)
{
	const struct weak_ui *u = own;

	if (state_weak(s))
		table_context(&u->table, &ops, buf, len);
}

const struct view view_weak = {
	.size = sizeof(struct weak_ui),
	.done = weak_view_done,
	.draw = weak_view_draw,
	.input = weak_view_input,
	.context = weak_view_context,
	.table = weak_view_table,
};
