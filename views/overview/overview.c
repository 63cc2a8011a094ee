/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The overview: the fabric in figures, its tiers, hot links, problems, jobs, last events; where
 * there is room, a heatmap of all of it. */
#include "fabric/base/plural.h"
#include "views/data/chan_text.h"
#include "views/data/view.h"
#include "views/events/events.h"
#include "views/heatmap/heat_small.h"
#include "views/links/chan_detail.h"
#include "views/overview/overview_panes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDE 140 /* there is room for all about the selected link */

enum pane { PANE_HOT, PANE_PROBLEMS, PANE_JOBS, PANE_COUNT };

struct overview_ui {
	int pane;
	struct list list[PANE_COUNT];
	struct rect at[PANE_COUNT]; /* as drawn last, for the mouse */
	struct heat_small heat;
};

struct overview_layout {
	struct rect fabric, tiers, hot, problems, jobs, heat, events;
	int sel; /* line of the link under the cursor; -1: no room */
};

static void overview_done(void *own)
{
	struct overview_ui *u = own;

	heat_small_done(&u->heat);
}

static int overview_at_least(int v, int least)
{
	return v > least ? v : least;
}

/* Two columns below the head: lists at the left, the heatmap and jobs at the right. */
static struct overview_layout overview_roomy(struct rect r, uint32_t ntier)
{
	int top = overview_at_least((int)ntier + 3, 8), left = r.w * 3 / 5, half = r.w * 9 / 20;
	int events = overview_at_least((r.h - top) / 5, 6), mid = r.h - top - events - 2;
	struct overview_layout l;
	int y = r.y + top, hot = mid * 3 / 5;

	l.fabric = (struct rect){ r.x, r.y, half - 1, top };
	l.tiers = (struct rect){ r.x + half, r.y, r.w - half, top };
	l.hot = (struct rect){ r.x, y, left - 1, hot };
	l.problems = (struct rect){ r.x, y + hot, left - 1, mid - hot };
	l.heat = (struct rect){ r.x + left, y, r.w - left, hot };
	l.jobs = (struct rect){ r.x + left, y + hot, r.w - left, mid - hot };
	l.events = (struct rect){ r.x, y + mid, r.w, events };
	l.sel = r.h - 2;
	return l;
}

static struct overview_layout overview_layout(struct rect r, uint32_t ntier)
{
	int half = r.w * 9 / 20, top = 8, rest = r.h - top - 1;
	int hot = rest * 2 / 5, mid = rest / 3, y = r.y;
	struct overview_layout l = { .sel = -1 };

	if (r.w >= 160 && r.h >= 40)
		return overview_roomy(r, ntier);
	if (r.h >= 26) {
		l.sel = r.h - 2;
		rest--;
	}
	if (hot < 5)
		hot = 5;
	l.fabric = (struct rect){ r.x, y, half - 1, top };
	l.tiers = (struct rect){ r.x + half, y, r.w - half, top };
	y += top;
	l.hot = (struct rect){ r.x, y, r.w, hot };
	y += hot;
	l.problems = (struct rect){ r.x, y, half - 1, mid };
	l.jobs = (struct rect){ r.x + half, y, r.w - half, mid };
	y += mid;
	l.events = (struct rect){ r.x, y, r.w, r.y + 8 + rest - y };
	return l;
}

static void overview_draw_absence(struct canvas *c, struct rect r, const struct state *s)
{
	canvas_rule(c, r, 0, "Fabric");
	if (s->mode == RUN_LOST) {
		canvas_wrap(c, r, 1, 2, ROLE_BAD, s->lost_why);
	} else if (s->poll.preparing) {
		canvas_textf(c, r, 1, 2, ROLE_TEXT,
			     "making the simulated fabric and its first routes: %s", s->source);
	} else if (s->poll.discovering) {
		canvas_textf(c, r, 1, 2, ROLE_TEXT,
			     "discovering the fabric: %u switch%s and %u host%s so far",
			     s->poll.found_sw, plural_es(s->poll.found_sw), s->poll.found_ca,
			     plural(s->poll.found_ca));
		canvas_text(c, r, 1, 3, ROLE_DIM, s->poll.pace);
	} else {
		canvas_text(c, r, 1, 2, ROLE_TEXT, "no fabric yet");
	}
}

static void overview_draw_events(struct canvas *c, struct rect r, const struct state *s)
{
	uint32_t n = s->events ? events_count(s->events) : 0;

	canvas_rule(c, r, 0, "Events (8: all)");
	if (!n)
		canvas_text(c, r, 2, 1, ROLE_DIM, "none yet");
	for (uint32_t i = 0; i < n && (int)i < r.h - 1; i++)
		event_draw(c, r, (int)i + 1, events_get(s->events, i));
}

static void overview_draw_auto(struct canvas *c, struct rect r, const struct state *s)
{
	const struct state_auto *a = &s->automatic;
	char age[FIGURE_LEN], text[sizeof(a->text)];
	int x = canvas_text(c, r, 1, r.h - 1, ROLE_LABEL, "Auto: ");

	if (isfinite(a->next_s))
		x = canvas_textf(c, r, x, r.h - 1, ROLE_TEXT, "looks in %s; ",
				 figure_age(age, a->next_s));
	else
		x = canvas_text(c, r, x, r.h - 1, ROLE_TEXT, "at work; ");
	canvas_text(c, r, x, r.h - 1, a->alert ? ROLE_WARN : ROLE_TEXT,
		    text_shorten(text, sizeof(text), a->text, r.w - x - 1));
}

static void overview_draw_hint(struct canvas *c, struct rect r)
{
	int x = canvas_text(c, r, 1, r.h - 1, ROLE_LABEL, "To change the routing: ");

	x = canvas_text(c, r, x, r.h - 1, ROLE_KEY, "6");
	canvas_text(c, r, x, r.h - 1, ROLE_LABEL,
		    " engines: choose, Space or Enter computes a preview");
}

/* The channel under the cursor, FAB_NONE when there is none. */
static uint32_t overview_cursor_chan(const struct overview_ui *u, const struct context *ctx,
				     const struct state *s)
{
	const struct fabric_summary *v = &ctx->summary;
	uint32_t i = u->list[u->pane].cursor, nhot;
	const uint32_t *hot = overview_hot(ctx, &nhot);

	if (u->pane == PANE_HOT && i < nhot)
		return hot[i];
	if (u->pane == PANE_PROBLEMS && i < v->nproblem)
		return fabric_port(s->fabric, v->problem_sw[i], v->problem_port[i])->chan;
	return FAB_NONE;
}

/* To whom most of its routes lead. */
static void overview_draw_dests(const struct state *s, struct canvas *c, struct rect r, int x,
				int y, uint32_t chan)
{
	const struct chan_dest_list *k = state_chan_dests(s, chan);

	if (k && k->n)
		x = canvas_text(c, r, x, y, ROLE_DIM, "  top dst");
	for (uint32_t i = 0; k && i < k->n; i++) {
		const char *name = s->fabric->term_name[k->term[i]];

		if (x + 1 + text_width(name) >= r.w)
			break;
		x = canvas_textf(c, r, x, y, ROLE_TEXT, " %s", name);
	}
}

static void overview_draw_selected(const struct overview_ui *u, const struct context *ctx,
				   struct canvas *c, struct rect r, int y, const struct state *s)
{
	uint32_t chan = overview_cursor_chan(u, ctx, s);
	const struct port_rate *p;
	const struct port *hw;
	char label[256], tx[FIGURE_LEN], rx[FIGURE_LEN], wait[FIGURE_LEN], jobs[200];
	int x = canvas_text(c, r, 1, y, ROLE_LABEL, "sel ");

	if (chan == FAB_NONE)
		chan = ctx->chan;
	if (chan == FAB_NONE) {
		canvas_text(c, r, x, y, ROLE_DIM, "no link");
		return;
	}
	hw = &s->fabric->port[chan_fabric_port(s->fabric, chan)];
	p = state_rate(s, chan_fabric_port(s->fabric, chan));
	x = canvas_textf(c, r, x, y, ROLE_TEXT, "%s  ",
			 chan_label(label, sizeof(label), s->fabric, chan));
	if (hw->width && hw->speed[0])
		x = canvas_textf(c, r, x, y, ROLE_DIM, "%ux%.6s  ", hw->width, hw->speed);
	x = canvas_textf(c, r, x, y, ROLE_TEXT, "tx %s rx %s %s  wait %s%%  ",
			 figure_rate(tx, p ? p->tx_Bps : NAN, ctx->bits),
			 figure_rate(rx, p ? p->rx_Bps : NAN, ctx->bits),
			 ctx->bits ? "Gb/s" : "GB/s", figure_pct(wait, p ? p->wait_pct : NAN));
	if (chan_jobs_text(jobs, sizeof(jobs), s, chan, r.w - x - 6 - (r.w >= WIDE ? 40 : 0))[0])
		x = canvas_textf(c, r, x, y, ROLE_TEXT, "jobs %s", jobs);
	if (r.w >= WIDE)
		overview_draw_dests(s, c, r, x, y, chan);
}

static void overview_draw_panes(struct overview_ui *u, const struct context *ctx, struct canvas *c,
				const struct overview_layout *l, const struct state *s)
{
	u->at[PANE_HOT] = l->hot;
	u->at[PANE_PROBLEMS] = l->problems;
	u->at[PANE_JOBS] = l->jobs;
	pane_hot(&u->list[PANE_HOT], u->pane == PANE_HOT, ctx, c, l->hot, s);
	pane_problems(&u->list[PANE_PROBLEMS], u->pane == PANE_PROBLEMS, ctx, c, l->problems, s);
	pane_jobs(&u->list[PANE_JOBS], u->pane == PANE_JOBS, ctx, c, l->jobs, s);
}

static void overview_draw(void *own, struct context *ctx, struct canvas *c, struct rect r,
			  const struct state *s)
{
	struct overview_ui *u = own;
	const struct fabric_summary *v = &ctx->summary;
	struct overview_layout l = overview_layout(r, v->ntier);

	if (!s->fabric) {
		overview_draw_absence(c, r, s);
		overview_draw_events(c, l.events, s);
		return;
	}
	pane_fabric(c, l.fabric, s, v);
	pane_tiers(ctx, c, l.tiers, v);
	overview_draw_panes(u, ctx, c, &l, s);
	if (l.heat.h)
		heat_small_draw(&u->heat, ctx, c, l.heat, s);
	overview_draw_events(c, l.events, s);
	if (l.sel >= 0)
		overview_draw_selected(u, ctx, c, r, l.sel, s);
	if (s->automatic.on)
		overview_draw_auto(c, r, s);
	else
		overview_draw_hint(c, r);
}

static uint32_t overview_pane_rows(const struct overview_ui *u, const struct context *ctx)
{
	const struct fabric_summary *v = &ctx->summary;
	uint32_t n;

	if (u->pane == PANE_HOT) {
		overview_hot(ctx, &n);
		return n;
	}
	if (u->pane == PANE_PROBLEMS)
		return v->nproblem;
	return v->jobs ? v->jobs->njob : 0;
}

static uint32_t overview_job_at(const struct fabric_summary *v, uint32_t row)
{
	return v->by_traffic ? v->by_traffic[row] : row;
}

/* A job is marked as Enter in its own view does, and shown there. */
static void overview_open_job(struct context *ctx, const struct fabric_summary *v, uint32_t row)
{
	context_select_job(ctx, v->jobs->jobs[overview_job_at(v, row)].id);
	context_goto(ctx, VIEW_JOBS);
}

static void overview_open_row(const struct overview_ui *u, struct context *ctx,
			      const struct state *s)
{
	const struct fabric_summary *v = &ctx->summary;
	uint32_t i = u->list[u->pane].cursor, chan;

	if (i >= overview_pane_rows(u, ctx)) {
		context_say(ctx, "nothing is in this pane to be opened; Tab goes to the next");
		return;
	}
	if (u->pane == PANE_JOBS) {
		overview_open_job(ctx, v, i);
		return;
	}
	chan = overview_cursor_chan(u, ctx, s);
	if (chan == FAB_NONE) {
		ctx->sw = v->problem_sw[i];
		context_goto(ctx, VIEW_SWITCHES);
		return;
	}
	ctx->chan = chan;
	context_goto(ctx, VIEW_LINKS);
}

/* The pane under the mouse, and the row in it; a row clicked again is opened. */
static bool overview_click(struct overview_ui *u, struct context *ctx, const struct input *in,
			   const struct state *s)
{
	for (int k = 0; k < PANE_COUNT; k++) {
		struct rect r = u->at[k];
		int y = in->y - r.y - (k == PANE_HOT ? 2 : 1);
		uint32_t row = u->list[k].top + (uint32_t)(y < 0 ? 0 : y);
		bool again = u->pane == k && u->list[k].cursor == row;

		if (in->x < r.x || in->x >= r.x + r.w || in->y < r.y || in->y >= r.y + r.h)
			continue;
		u->pane = k;
		if (y < 0 || row >= overview_pane_rows(u, ctx))
			return true;
		u->list[k].cursor = row;
		if (again)
			overview_open_row(u, ctx, s);
		return true;
	}
	return false;
}

static bool overview_input(void *own, struct context *ctx, const struct input *in,
			   const struct state *s, struct request *out)
{
	struct overview_ui *u = own;

	(void)out;
	if (in->req == REQ_PANE) {
		u->pane = (u->pane + 1) % PANE_COUNT;
		return true;
	}
	if (!s->fabric)
		return false;
	switch (in->req) {
	case REQ_METRIC:
		if (context_choose_metric(ctx, in))
			u->list[PANE_HOT].cursor = 0;
		return true;
	case REQ_ENTER:
		overview_open_row(u, ctx, s);
		return true;
	case REQ_FILTER:
	case REQ_FIND:
	case REQ_SORT: /* panes are the head of a table */
		context_goto(ctx, u->pane == PANE_JOBS ? VIEW_JOBS : VIEW_LINKS);
		return false;
	case REQ_CLICK:
		return overview_click(u, ctx, in, s);
	case REQ_WHEEL_UP:
	case REQ_WHEEL_DOWN:
		for (int i = 0; i < 3; i++)
			list_move(&u->list[u->pane], in->req == REQ_WHEEL_UP ? REQ_UP : REQ_DOWN,
				  overview_pane_rows(u, ctx));
		return true;
	default:
		return list_move(&u->list[u->pane], in->req, overview_pane_rows(u, ctx));
	}
}

static void overview_context(const void *own, const struct state *s, char *buf, size_t len)
{
	(void)own;
	snprintf(buf, len, "source: %s", s->source[0] ? s->source : "-");
}

const struct view view_overview = {
	.size = sizeof(struct overview_ui),
	.done = overview_done,
	.draw = overview_draw,
	.input = overview_input,
	.context = overview_context,
};
