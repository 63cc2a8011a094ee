/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Engines and preview: choose one, compute, compare several, and read what would change; nothing
 * does. */
#include "views/canvas/list.h"
#include "views/data/hint_click.h"
#include "views/data/state/key_hint.h"
#include "views/preview/preview_changes.h"
#include "views/preview/preview_cost.h"
#include "views/preview/preview_form.h"
#include "views/preview/preview_idle.h"
#include "views/preview/preview_menu.h"
#include "views/preview/preview_table.h"
#include "views/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum page { PAGE_FIGURES, PAGE_COST, PAGE_LINKS, PAGE_JOBS, PAGE_DIFF, PAGES };

struct preview_layout {
	struct rect menu, table, cost, page; /* w 0: not shown */
	bool tall;
};

struct preview_ui {
	struct list list;
	bool moved;   /* the cursor, by hand */
	bool chosen;  /* it was put on the first engine that suits */
	bool repairs; /* then paths were missing */
	struct preview_form form;
	enum page page;
	struct list jobs, diff;
	struct preview_layout drawn; /* last, for the mouse */
};

/* Too narrow for engines and figures side by side. */
static bool preview_narrow(struct rect r)
{
	return r.w < 60;
}

/* A low screen shows one page at a time, a higher one the figures above those that are lists, a
 * wide and high one the cost beside them. */
static struct preview_layout preview_layout(struct rect r, enum page page)
{
	int left = r.w >= 140 ? 56 : r.w >= 100 ? 42 : preview_narrow(r) ? 0 : 30;
	struct rect right = { r.x + left, r.y, r.w - left, r.h };
	struct preview_layout l = { .menu = { r.x, r.y, left - 1, r.h }, .tall = r.h >= 40 };
	int top = l.tall ? PREVIEW_TABLE_TALL + 1 : PREVIEW_TABLE_LINES;

	if (page == PAGE_FIGURES && !l.tall) {
		l.table = right;
		return l;
	}
	if (r.h < top + 8 || (page == PAGE_COST && !l.tall)) {
		l.page = right;
		return l;
	}
	l.table = (struct rect){ right.x, right.y, right.w, top };
	l.page = (struct rect){ right.x, right.y + top, right.w, right.h - top };
	if (right.w >= 130) {
		l.table.w = 73;
		l.cost = (struct rect){ right.x + 73, right.y, right.w - 73, top };
	}
	return l;
}

/* The cursor begins on what repairs where that is needed, else on an engine that knows the jobs
 * (other jobs are what it goes on for, if it is in use), or at least is not in use already. */
static void preview_first_suiting(struct preview_ui *u, const struct state *s)
{
	const char *now = s->tables ? s->tables->engine : "";
	bool broken = preview_menu_repairs(s);
	int best = 0;

	u->chosen = u->chosen && u->repairs == broken;
	if (u->moved || u->chosen || !s->preview.nengines)
		return;
	u->chosen = true;
	u->repairs = broken;
	for (uint32_t i = 0; i < s->preview.nengines; i++) {
		const struct engine_choice *e = preview_choice(s, i);
		int worth = !e->suits					   ? 0
			    : broken && !strcmp(e->engine->name, "repair") ? 3
			    : s->jobs && e->engine->uses_jobs		   ? 2
			    : strcmp(e->engine->name, now) != 0		   ? 1
									   : 0;

		if (worth <= best)
			continue;
		best = worth;
		u->list.cursor = i;
	}
}

static void preview_draw_running(const struct state *s, struct canvas *c, struct rect r)
{
	const struct state_preview *p = &s->preview;
	const struct engine_choice *e = preview_choice(s, p->engine);
	char took[FIGURE_LEN], eta[FIGURE_LEN], rate[FIGURE_LEN];
	int x;

	canvas_rule(c, r, 0, "Computing");
	x = canvas_textf(c, r, 1, 2, ROLE_TEXT, "%s: %s", e ? e->engine->name : "?",
			 p->step[0] ? p->step : "starting");
	if (p->parts && p->step[0])
		canvas_textf(c, r, x, 2, ROLE_DIM, ", part %u of %u", p->part, p->parts);
	canvas_bar(c, r, 1, 3, r.w - 10, ROLE_GOOD, p->fraction, 0);
	if (isfinite(p->fraction))
		canvas_rightf(c, r, r.w - 2, 3, ROLE_TEXT, "%3.0f%%", p->fraction * 100);
	x = canvas_textf(c, r, 1, 4, ROLE_TEXT, "elapsed %s", figure_age(took, p->elapsed_s));
	if (isfinite(p->eta_s))
		canvas_textf(c, r, x, 4, ROLE_TEXT, "  about %s left in this step",
			     figure_age(eta, p->eta_s));
	if (isfinite(p->rate))
		canvas_textf(c, r, 1, 5, ROLE_DIM, "%s of %s, %s/s",
			     figure_short(took, p->step_done), figure_short(eta, p->step_total),
			     figure_short(rate, (uint64_t)p->rate));
	x = hint_click_draw(c, r, 1, 7, "cancel");
	canvas_text(c, r, x + 1, 7, ROLE_TEXT, "cancels; either way the fabric stays unchanged");
}

/* Instead of figures, while there are none. */
static void preview_draw_without(const struct state *s, struct canvas *c, struct rect r)
{
	const struct state_preview *p = &s->preview;
	const struct engine_choice *e = preview_choice(s, p->engine);
	char took[FIGURE_LEN], title[128];

	switch (p->state) {
	case PREVIEW_RUNNING:
		preview_draw_running(s, c, r);
		return;
	case PREVIEW_FAILED:
		snprintf(title, sizeof(title), "%s failed", e ? e->engine->name : "Engine");
		canvas_rule(c, r, 0, title);
		canvas_wrap(c, (struct rect){ r.x, r.y, r.w - 1, r.h }, 1, 2, ROLE_BAD, p->error);
		return;
	case PREVIEW_CANCELLED:
		canvas_rule(c, r, 0, "Cancelled");
		canvas_textf(c, r, 1, 2, ROLE_TEXT, "after %s; nothing was changed",
			     figure_age(took, p->elapsed_s));
		return;
	default:
		preview_idle_draw(s, c, r);
	}
}

/* Whether it may be done goes before what the engine has to say. */
static void preview_draw_cost(const struct state *s, struct canvas *c, struct rect r)
{
	int y = preview_cost_draw(s, c, r, 0), last = r.h - PREVIEW_CHECKS_LINES;

	if (y > last) /* cut short: the checks are not */
		y = last;
	canvas_fill(c, (struct rect){ r.x, r.y + y, r.w, r.h - y }, ROLE_TEXT, ' ');
	canvas_rule(c, r, y, "Checks");
	preview_notes_draw(s, c, r, preview_checks_draw(s, c, r, y + 1));
}

static void preview_draw_figures(const struct state *s, struct canvas *c,
				 const struct preview_layout *l)
{
	struct rect r = l->table;
	int y = preview_table_draw(s, c, r, l->tall);
	char brief[120];

	if (l->cost.w) {
		preview_draw_cost(s, c, l->cost);
	} else if (!l->page.w) {
		canvas_rule(c, r, y, preview_cost_brief(brief, sizeof(brief), s));
		y = preview_checks_draw(s, c, r, y + 1);
		preview_facts_draw(s, c, r, y);
	}
}

static void preview_draw_links(const struct state *s, struct canvas *c, struct rect r)
{
	int half = r.w / 2, h = r.h > 20 ? 9 : r.h / 2;

	if (r.w >= 100) {
		preview_histogram_draw(s, c, (struct rect){ r.x, r.y, half - 1, r.h });
		preview_worst_draw(s, c, (struct rect){ r.x + half, r.y, r.w - half, r.h });
		return;
	}
	preview_histogram_draw(s, c, (struct rect){ r.x, r.y, r.w, h });
	preview_worst_draw(s, c, (struct rect){ r.x, r.y + h, r.w, r.h - h });
}

static void preview_draw_page(struct preview_ui *u, const struct state *s, struct canvas *c,
			      const struct preview_layout *l)
{
	struct rect r = l->page;

	switch (u->page) {
	case PAGE_FIGURES:
		if (l->cost.w) { /* which is shown beside the figures */
			preview_draw_links(s, c, r);
			return;
		}
		/* fall through */
	case PAGE_COST:
		preview_draw_cost(s, c, r);
		return;
	case PAGE_LINKS:
		preview_draw_links(s, c, r);
		return;
	case PAGE_JOBS:
		preview_jobs_draw(&u->jobs, s, c, r);
		return;
	default:
		preview_diff_draw(&u->diff, s, c, r);
	}
}

static void preview_draw(void *own, struct context *ctx, struct canvas *c, struct rect r,
			 const struct state *s)
{
	struct preview_ui *u = own;
	struct preview_layout l = preview_layout(r, u->page);
	struct rect right = { l.menu.x + l.menu.w + 1, r.y, r.w - l.menu.w - 1, r.h };

	preview_first_suiting(u, s);
	if (preview_narrow(r) && !u->form.open && !state_preview_ready(s) &&
	    s->preview.state == PREVIEW_IDLE) {
		preview_menu_draw(&u->list, &ctx->options, s, c, r,
				  false); /* there is room for one of both */
		u->drawn = (struct preview_layout){ .menu = r };
		return;
	}
	u->drawn = l;
	if (!preview_narrow(r))
		preview_menu_draw(&u->list, &ctx->options, s, c, l.menu, !u->form.open);
	if (u->form.open) {
		preview_form_draw(&u->form, ctx, s, c, right, u->list.cursor);
		return;
	}
	if (!state_preview_ready(s)) {
		preview_draw_without(s, c, right);
		return;
	}
	if (l.table.w)
		preview_draw_figures(s, c, &l);
	if (l.page.w)
		preview_draw_page(u, s, c, &l);
}

static void preview_start(const struct preview_ui *u, struct context *ctx, const struct state *s,
			  struct request *out)
{
	const struct engine_choice *e = preview_choice(s, u->list.cursor);

	if (!e) {
		context_say(ctx, "no fabric yet");
	} else if (s->preview.state == PREVIEW_RUNNING) {
		context_say(ctx, "one computation at a time: %s cancels the running one",
			    key_hint("cancel"));
	} else if (!e->suits) {
		context_say(ctx, "%s cannot route this fabric: %.*s", e->engine->name,
			    engine_choice_reason(e), e->why);
	} else {
		out->type = REQ_PREVIEW_START;
		out->engine = u->list.cursor;
		out->options = ctx->options;
	}
}

static void preview_again(struct context *ctx, const struct state *s, struct request *out)
{
	const struct plan_preview *x = state_plan(s);

	if (!state_preview_ready(s)) {
		context_say(ctx, "nothing computed yet: %s computes a preview", key_hint("tag"));
	} else if (s->preview.state == PREVIEW_RUNNING) {
		context_say(ctx, "one computation at a time: %s cancels the running one",
			    key_hint("cancel"));
	} else {
		out->type = REQ_PREVIEW_START;
		out->engine = x->engine;
		out->options = x->options;
	}
}

static void preview_to_apply(struct context *ctx, const struct state *s, struct request *out)
{
	const struct plan_preview *p = state_plan(s);

	if (!p->tables)
		context_say(ctx, "nothing to apply: compute a preview first");
	else if (p->stale[0])
		context_say(ctx, "stale: %s; %s computes it again", p->stale, key_hint("again"));
	else if (!p->verdict || !verdict_ok(p->verdict))
		context_say(ctx, "the plan did not pass the checks: it cannot be applied");
	else
		out->type = REQ_APPLY_PREPARE;
	if (out->type)
		context_goto(ctx, VIEW_APPLY);
}

static void preview_compare(struct context *ctx, const struct state *s)
{
	if (!state_plan(s)->before) {
		context_say(ctx, "nothing to compare: compute a preview first");
		return;
	}
	ctx->compare = true;
	context_goto(ctx, VIEW_HEATMAP);
}

/* x: what is computed or looked for, else the plan that is looked at. */
static void preview_put_away(struct context *ctx, const struct state *s, struct request *out)
{
	const struct plan_preview *x = state_plan(s);

	if (s->preview.state == PREVIEW_RUNNING) {
		out->type = REQ_PREVIEW_CANCEL;
	} else if (s->preview.n && (x->forecasting || (x->order == ORDER_WAITS && !x->stale[0]))) {
		out->type = REQ_PREVIEW_CANCEL;
	} else if (s->preview.n) {
		out->type = REQ_PLAN_REMOVE;
		out->plan = s->preview.at;
	} else {
		context_say(ctx, "nothing is being computed");
	}
}

static void preview_select_next(struct preview_ui *u, const struct state *s, int by,
				struct request *out)
{
	const struct state_preview *p = &s->preview;

	if (!p->n)
		return;
	out->type = REQ_PLAN_SELECT;
	out->plan = (p->at + p->n + (uint32_t)by) % p->n;
	if (p->list[out->plan].engine < p->nengines) {
		u->list.cursor = p->list[out->plan].engine; /* what Space is about */
		u->moved = true;
	}
}

static void preview_show_page(struct preview_ui *u, struct context *ctx, const struct state *s,
			      enum page page)
{
	if (!state_preview_ready(s))
		context_say(ctx, "compute a preview first: %s", key_hint("tag"));
	else
		u->page = u->page == page ? PAGE_FIGURES : page;
}

/* In the command line, which completes names of files. */
static void preview_ask_file(struct context *ctx, struct request *out)
{
	out->type = REQ_COMMAND;
	snprintf(out->text, sizeof(out->text), "file %.250s", ctx->options.text[PARAM_TABLES]);
	context_say(ctx, "tables.ibr, opensm-lfts.dump, ibroute text, fdbs or a saved plan");
}

static void preview_ask_file_name(struct context *ctx, const struct state *s, struct request *out)
{
	const struct plan_preview *x = state_plan(s);

	if (x->order == ORDER_NONE) {
		context_say(ctx,
			    "there is no plan to save: compute a preview that passes the checks");
		return;
	}
	if (x->order != ORDER_FOUND) {
		if (x->order == ORDER_ENDED)
			out->type = REQ_ORDER_AGAIN;
		if (x->order == ORDER_ENDED)
			context_say(
				ctx,
				"searching for the write order again: %s saves the plan when it "
				"is found",
				key_hint("plan"));
		else if (x->order == ORDER_WAITS)
			context_say(ctx, "searching for the write order: %s stops the search",
				    key_hint("cancel"));
		else
			context_say(ctx, "%s", x->order_error);
		return;
	}
	out->type = REQ_COMMAND;
	snprintf(out->text, sizeof(out->text), "plan %s.plan", x->ordered->id);
}

/* Computes, or asks for the file of tables. */
static void preview_enter(struct preview_ui *u, struct context *ctx, const struct state *s,
			  struct request *out)
{
	const struct engine_choice *e = preview_choice(s, u->list.cursor);

	if (e && e->file)
		preview_ask_file(ctx, out);
	else
		preview_start(u, ctx, s, out);
}

/* ":file PATH": tables that somebody else has made. */
static void preview_take_file(struct preview_ui *u, struct context *ctx, const struct input *in,
			      const struct state *s, struct request *out)
{
	uint32_t i = 0;

	while (preview_choice(s, i) && !preview_choice(s, i)->file)
		i++;
	if (!preview_choice(s, i)) {
		context_say(ctx, "no fabric yet");
		return;
	}
	u->list.cursor = i;
	u->moved = true;
	u->form.open = false;
	snprintf(ctx->options.text[PARAM_TABLES], sizeof(ctx->options.text[PARAM_TABLES]), "%s",
		 in->text ? in->text : "");
	preview_start(u, ctx, s, out);
}

/* Up, down and the wheel move in the page where that is a list. */
static bool preview_move(struct preview_ui *u, const struct input *in, const struct state *s)
{
	struct list *l = &u->list;
	uint32_t n = s->preview.nengines;

	if (state_preview_ready(s) && u->page == PAGE_JOBS) {
		l = &u->jobs;
		n = preview_jobs_rows(s);
	} else if (state_preview_ready(s) && u->page == PAGE_DIFF) {
		l = &u->diff;
		n = preview_diff_rows(s);
	}
	return list_move(l, in->req, n) || list_wheel(l, in->req, n);
}

/* The row of a list below `head` lines of a pane that a click is on; n: none. */
static uint32_t preview_row_at(const struct list *l, uint32_t n, struct rect pane, int head,
			       const struct input *in)
{
	int y = in->y - pane.y - head;
	uint32_t row = l->top + (uint32_t)(y < 0 ? 0 : y);

	if (in->x < pane.x || in->x >= pane.x + pane.w || y < 0 || (uint32_t)y >= l->page)
		return n;
	return row < n ? row : n;
}

/* An engine is chosen, and clicked again computes, as Enter does; in pages the row is. */
static bool preview_click(struct preview_ui *u, struct context *ctx, const struct input *in,
			  const struct state *s, struct request *out)
{
	bool jobs = u->page == PAGE_JOBS;
	struct list *l = jobs ? &u->jobs : &u->diff;
	uint32_t n = s->preview.nengines;
	uint32_t row = preview_row_at(&u->list, n, u->drawn.menu, 1, in);

	if (row < n) {
		if (row == u->list.cursor)
			preview_enter(u, ctx, s, out);
		u->list.cursor = row;
		u->moved = true;
		return true;
	}
	if (!state_preview_ready(s) || !u->drawn.page.w || (!jobs && u->page != PAGE_DIFF))
		return false;
	n = jobs ? preview_jobs_rows(s) : preview_diff_rows(s);
	row = preview_row_at(l, n, u->drawn.page, jobs ? 2 : 1, in);
	if (row < n)
		l->cursor = row;
	return row < n;
}

static bool preview_input(void *own, struct context *ctx, const struct input *in,
			  const struct state *s, struct request *out)
{
	struct preview_ui *u = own;
	uint32_t was;

	if (u->form.open && preview_form_input(&u->form, ctx, in, s, u->list.cursor, out))
		return true;
	preview_first_suiting(u, s);
	was = u->list.cursor;
	if (preview_move(u, in, s)) {
		u->moved = u->moved || u->list.cursor != was;
		return true;
	}
	switch (in->req) {
	case REQ_SELECT:
	case REQ_ENTER:
		preview_enter(u, ctx, s, out);
		return true;
	case REQ_CLICK:
		return preview_click(u, ctx, in, s, out);
	case REQ_TABLES_FILE:
		preview_take_file(u, ctx, in, s, out);
		return true;
	case REQ_AGAIN:
		preview_again(ctx, s, out);
		return true;
	case REQ_OPTIONS:
		preview_form_open(&u->form);
		return true;
	case REQ_LEFT:
	case REQ_RIGHT:
		preview_select_next(u, s, in->req == REQ_LEFT ? -1 : 1, out);
		return true;
	case REQ_PANE:
		u->page = (u->page + 1) % PAGES;
		return true;
	case REQ_IMPACT:
		preview_show_page(u, ctx, s, PAGE_JOBS);
		return true;
	case REQ_DIFF:
		preview_show_page(u, ctx, s, PAGE_DIFF);
		return true;
	case REQ_BACK:
		if (u->page == PAGE_FIGURES)
			return false;
		u->page = PAGE_FIGURES;
		return true;
	case REQ_PLAN_SAVE:
		if (in->text) /* ":plan FILE" */
			return false;
		preview_ask_file_name(ctx, s, out);
		return true;
	case REQ_PREVIEW_CANCEL:
		preview_put_away(ctx, s, out);
		return true;
	case REQ_COMPARE:
		preview_compare(ctx, s);
		return true;
	case REQ_APPLY_PREPARE:
		preview_to_apply(ctx, s, out);
		return true;
	default:
		return false;
	}
}

static bool preview_typing(const void *own, const struct state *s)
{
	const struct preview_ui *u = own;

	(void)s;
	return u->form.open && u->form.typing;
}

static void preview_context(const void *own, const struct state *s, char *buf, size_t len)
{
	static const char *const pages[PAGES] = { "metrics", "cost", "links", "jobs", "diff" };
	const struct preview_ui *u = own;

	if (state_preview_ready(s))
		snprintf(buf, len, "page %d/%d %s (%s)  EFI counts paths, not traffic (%s)",
			 (int)u->page + 1, PAGES, pages[u->page], key_hint("pane"),
			 key_hint("help"));
	else
		snprintf(buf, len, "a preview changes nothing");
}

static const char *preview_inside(const void *own)
{
	return ((const struct preview_ui *)own)->page == PAGE_FIGURES ? NULL : "metrics";
}

const struct view view_preview = {
	.size = sizeof(struct preview_ui),
	.draw = preview_draw,
	.input = preview_input,
	.typing = preview_typing,
	.context = preview_context,
	.inside = preview_inside,
};
