/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of links between switches, one row per direction; Enter opens a page on one. */
#include "views/data/state/chan_text.h"
#include "views/data/summary/history_spark.h"
#include "views/links/chan_detail.h"
#include "views/links/link_detail.h"
#include "views/table/table.h"
#include "views/view.h"

#include <stdio.h>
#include <string.h>

struct links_ui {
	struct table table;
	const struct fabric *fabric;   /* own reference */
	uint32_t shared_chan;	       /* channel that the cursor was put on last */
	bool open;		       /* the page of the link under the cursor */
	const struct field *sorted_by; /* as it was seen last */
};

static void links_done(void *own)
{
	struct links_ui *u = own;

	table_done(&u->table);
	fabric_put(u->fabric);
}

/* --- what the table shows -------------------------------------------------------------------- */

static const struct table_col columns[] = {
	{ "congestion_pct", "cong%", 6, 100, 0, 0 },
	{ "util_pct", NULL, 6, 0, 0, 1 },
	{ "util_then_pct", "then", 6, 100, 0, 0 },
	{ "util_change_pct", "change", 6, 0, 0, 0 },
	{ "wait_pct", NULL, 6, 0, 0, 0 },
	{ "wait_then_pct", "then", 6, 140, 0, 0 },
	{ "wait_change_pct", "change", 6, 140, 0, 0 },
	{ "efi", NULL, 6, 0, 0, 0 },
	{ "eff_efi", NULL, 7, 0, 0, 0 },
	{ "errors_per_min", "err", 4, 0, 0, 0 },
	{ "lanes", NULL, 2, 0, 0, 0 },
	{ "plan_eff_efi", NULL, 6, 90, 0, 0 },
	{ "tx_Bps", NULL, 7, 160, 0, 0 },
	{ "rx_Bps", NULL, 7, 160, 0, 0 },
	{ "a", NULL, 0, 0, 0, 9 },
	{ "a_port", NULL, 4, 0, 0, 1 },
	{ "b", NULL, 0, 0, 0, 9 },
	{ "b_port", NULL, 4, 0, 0, 1 },
	{ "jobs", NULL, 0, 140, 0, 0 },
	{ "congestion_rank", "cong", 5, UINT16_MAX, 0, 0 }, /* where it is asked for */
	{ NULL, "     newest right", 17, 100, 160, 0 },
	{ NULL, "history", 7, 160, 0, 0 }, /* of many rows: a sample takes three bytes */
};

/* What is known decides what comes first. */
static const char *links_first_sort(const struct table_in *in)
{
	return in->s->rates ? "congestion_rank" : state_metrics(in->s) ? "efi" : "link";
}

static int links_names(const struct table_in *in)
{
	return in->s->fabric ? switch_label_width(in->s->fabric) : 0;
}

#define BELONGS 0x2514 /* to the row above */

/* Is the link part of the same congestion as the one in the row above it, as the table is
 * sorted? */
static bool links_belongs(const struct table_in *in, uint32_t chan)
{
	const struct table *t = &((const struct links_ui *)in->own)->table;
	const struct congestion *g = &in->ctx->summary.congestion;
	uint32_t i = t->list.top;

	if (!g->n || t->reverse || !t->sort || strcmp(t->sort->name, "congestion_rank") != 0)
		return false;
	while (i < t->nrow && t->row[i] != chan)
		i++;
	return i && i < t->nrow && g->of_chan[chan] != FAB_NONE &&
	       g->of_chan[chan] == g->of_chan[t->row[i - 1]];
}

#define JOBS_SHOWN 28 /* cells: three, and how many others there are */

/* The jobs with most paths over a link; the line below the table has all of the one under the
 * cursor. */
static bool links_draw_jobs(const struct table_in *in, uint32_t chan, struct canvas *c,
			    struct rect r, int x, int y, int w)
{
	const struct link_usage *use = state_usage(in->s);
	const struct job_routes *routes = use ? use->routes : NULL;
	uint64_t n = routes ? routes->chan_off[chan + 1] - routes->chan_off[chan] : 0, shown = 0;
	char jobs[80];

	if (!n || w < JOBS_SHOWN + 5)
		return false;
	for (const char *at = chan_jobs_text(jobs, sizeof(jobs), in->s, chan, JOBS_SHOWN); *at;
	     at++)
		shown += *at == ':';
	x = canvas_text(c, r, x, y, ROLE_TEXT, jobs);
	if (shown < n)
		canvas_textf(c, r, x, y, ROLE_TEXT, " +%llu", (unsigned long long)(n - shown));
	return true;
}

/* The picture columns: what the table is sorted by, or was chosen, so far.  Before the name of a
 * link that waits for the one above there is a sign. */
static bool links_draw_cell(const struct table_in *in, uint32_t chan, uint32_t col,
			    struct canvas *c, struct rect r, int x, int y, int w)
{
	if (columns[col].field) {
		if (!strcmp(columns[col].field, "jobs"))
			return links_draw_jobs(in, chan, c, r, x, y, w);
		if (!strcmp(columns[col].field, "a") && links_belongs(in, chan))
			canvas_char(c, r, x - 1, y, ROLE_TEXT, BELONGS);
		return false;
	}
	history_spark(in->s, in->ctx->metric, c, r, x, y, w, chan);
	return true;
}

/* The picture columns where there is no past. */
static bool links_blank(const struct table_in *in, uint32_t chan, uint32_t col)
{
	(void)chan;
	return !columns[col].field && !in->s->history;
}

static void links_moved(const struct table_in *in, uint32_t chan)
{
	struct links_ui *u = in->own;

	u->shared_chan = chan;
	in->ctx->chan = chan;
}

static void links_open_detail(const struct table_in *in, uint32_t chan)
{
	struct links_ui *u = in->own;

	links_moved(in, chan);
	u->open = true;
}

/* Of a highlighted job only its own. */
static bool links_wanted(const struct table_in *in, uint32_t chan)
{
	return !context_dims(in->ctx, chan);
}

static uint64_t links_version(const struct table_in *in)
{
	return in->ctx->job.id << 24 ^ in->ctx->job.links;
}

static const struct table_ops ops = {
	.kind = ROWS_LINKS,
	.what = "links",
	.one = "link",
	.col = columns,
	.ncol = sizeof(columns) / sizeof(columns[0]),
	.sort_by = links_first_sort,
	.names = links_names,
	.draw = links_draw_cell,
	.blank = links_blank,
	.moved = links_moved,
	.open = links_open_detail,
	.wanted = links_wanted,
	.version = links_version,
};

static struct table *links_table(void *own, const struct table_ops **out)
{
	struct links_ui *u = own;

	*out = &ops;
	return &u->table;
}

/* --- the view -------------------------------------------------------------------------------- */

/* Sorted by one of the figures that have a past, the past is that one's, else of
 * utilisation. */
static void links_follow_sort(struct links_ui *u, struct context *ctx)
{
	static const char *const fields[HISTORY_METRICS] = { "util_pct", "wait_pct",
							     "errors_per_min" };

	if (u->sorted_by == u->table.sort)
		return;
	u->sorted_by = u->table.sort;
	ctx->metric = HISTORY_UTIL;
	for (int m = 0; m < HISTORY_METRICS; m++)
		if (u->sorted_by && !strcmp(u->sorted_by->name, fields[m]))
			ctx->metric = m;
}

/* Another fabric renumbers its channels; a channel chosen elsewhere takes the cursor along. */
static void links_follow(struct links_ui *u, struct context *ctx, const struct state *s)
{
	const struct table_in in = { u, ctx, s };
	const struct rows rows = { ROWS_LINKS, s, &ctx->summary };
	uint32_t chan = ctx->chan;

	if (u->fabric != s->fabric) {
		fabric_put(u->fabric);
		u->fabric = fabric_get(s->fabric);
		u->shared_chan = FAB_NONE;
	}
	table_follow(&u->table, &ops, &in);
	links_follow_sort(u, ctx);
	if (chan == FAB_NONE || chan == u->shared_chan)
		return;
	u->shared_chan = chan;
	table_select(&u->table, table_key(&rows, chan));
}

/* Its name, and the port that it waits for, which may be one to a host and so in no row. */
static const char *links_rule(char *buf, size_t len, const struct context *ctx,
			      const struct state *s, uint32_t chan)
{
	const struct congestion *g = &ctx->summary.congestion;
	const struct fabric *f = s->fabric;
	char name[256], cause[256];
	uint32_t port, sw;

	chan_label(name, sizeof(name), f, chan);
	snprintf(buf, len, "%s", name);
	if (!g->n || g->of_chan[chan] == FAB_NONE)
		return buf;
	port = g->finding[g->of_chan[chan]].port;
	sw = fabric_port_switch(f, port);
	if (port != chan_fabric_port(f, chan))
		snprintf(buf, len, "%s, waits for %s", name,
			 port_label(cause, sizeof(cause), f, sw, port - f->port_off[sw]));
	return buf;
}

static void links_draw(void *own, struct context *ctx, struct canvas *c, struct rect r,
		       const struct state *s)
{
	struct links_ui *u = own;
	const struct table_in in = { own, ctx, s };
	int below = list_detail_lines(r.h, 1 + CHAN_DETAIL_LINES);
	struct rect rows = { r.x, r.y, r.w, r.h - below };
	struct rect detail = { r.x, r.y + r.h - below + 1, r.w, below - 1 };
	char label[540], title[64] = "Links", id[JOB_ID_LEN];
	uint32_t chan;

	if (!s->fabric) {
		canvas_rule(c, r, 0, "Links");
		canvas_text(c, r, 1, 2, ROLE_DIM, "no fabric yet");
		return;
	}
	links_follow(u, ctx, s);
	chan = table_cursor(&u->table);
	if (u->open && chan != FAB_NONE) {
		link_detail_draw(ctx, s, c, r, chan);
		return;
	}
	if (ctx->job.id)
		snprintf(title, sizeof(title), "Links of job %s",
			 jobset_id_text(id, ctx->summary.jobs, ctx->job.id));
	table_draw(&u->table, &ops, &in, c, rows, title);
	if (!below)
		return;
	chan = table_cursor(&u->table);
	canvas_rule(c, r, r.h - below,
		    chan == FAB_NONE ? NULL : links_rule(label, sizeof(label), ctx, s, chan));
	if (chan != FAB_NONE)
		chan_detail_draw(ctx, s, c, detail, chan);
}

/* Requests for the table close the page of a link. */
static bool links_of_the_table(const struct input *in)
{
	switch (in->req) {
	case REQ_SORT:
	case REQ_REVERSE:
	case REQ_FILTER:
	case REQ_FIND:
	case REQ_PROBLEMS:
	case REQ_TAGGED:
	case REQ_COLUMNS:
	case REQ_COLUMN_MENU:
		return true;
	default:
		return false;
	}
}

static bool links_input(void *own, struct context *ctx, const struct input *in,
			const struct state *s, struct request *out)
{
	struct links_ui *u = own;
	const struct table_in at = { own, ctx, s };

	(void)out;
	if (!s->fabric)
		return false;
	links_follow(u, ctx, s);
	if (in->req == REQ_BACK && u->open) {
		u->open = false;
		return true;
	}
	if (u->open && in->req == REQ_CLICK)
		return true; /* the rows are not there to be hit */
	if (links_of_the_table(in))
		u->open = false;
	if (in->req == REQ_METRIC) {
		context_choose_metric(ctx, in);
		return true;
	}
	if (in->req != REQ_ENTER || table_cursor(&u->table) == FAB_NONE)
		return false;
	if (u->open) {
		u->open = false;
		context_goto(ctx, VIEW_HEATMAP);
	} else {
		links_open_detail(&at, table_cursor(&u->table));
	}
	return true;
}

/* The page of one link has its own words. */
static const char *links_label(const void *own, const struct binding *b)
{
	const struct links_ui *u = own;
	const struct input in = { .req = b->req };

	if (!u->open)
		return b->label;
	switch (b->req) {
	case REQ_DOWN:
		return "next";
	case REQ_ENTER:
		return "heatmap";
	case REQ_BACK:
		return "table";
	default:
		return links_of_the_table(&in) ? NULL : b->label;
	}
}

static const char *links_inside(const void *own)
{
	return ((const struct links_ui *)own)->open ? "" : NULL; /* by the label of the key */
}

static void links_context(const void *own, const struct state *s, char *buf, size_t len)
{
	const struct links_ui *u = own;
	const struct table *t = &u->table;

	(void)s;
	if (u->open && t->nrow)
		snprintf(buf, len, "link %u of %u in the table", t->list.cursor + 1, t->nrow);
	else
		table_context(t, &ops, buf, len);
}

const struct view view_links = {
	.size = sizeof(struct links_ui),
	.done = links_done,
	.draw = links_draw,
	.input = links_input,
	.context = links_context,
	.label = links_label,
	.inside = links_inside,
	.table = links_table,
};
