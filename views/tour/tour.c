/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/tour/tour.h"

#include "engines/verify/verify.h"
#include "views/data/state/key_hint.h"

#include <stdio.h>

struct tour_at {
	const struct context *ctx;
	const struct state *s;
	enum req req;
};

/* Where it is taken, what is said, and whether it is done: by its view, or by done(). */
struct tour_step {
	enum view_id view;
	const char *title, *text;
	enum view_id to; /* with done NULL */
	bool (*done)(const struct tour_at *at);
};

static bool tour_job_marked(const struct tour_at *at)
{
	return at->ctx->job.id != 0;
}

static bool tour_planned(const struct tour_at *at)
{
	const struct plan_preview *x = state_plan(at->s);

	return state_preview_ready(at->s) && x->tables && x->verdict && verdict_ok(x->verdict);
}

static bool tour_impact_seen(const struct tour_at *at)
{
	return at->ctx->view == VIEW_PREVIEW && at->req == REQ_IMPACT;
}

static bool tour_taken_over(const struct tour_at *at)
{
	return at->ctx->view == VIEW_APPLY && at->s->apply.state != APPLY_NONE &&
	       at->s->apply.state != APPLY_ORDERING;
}

static bool tour_started(const struct tour_at *at)
{
	enum apply_state s = at->s->apply.state;

	return s == APPLY_RUNNING || s == APPLY_CONFIRM || s == APPLY_KEPT;
}

static bool tour_written(const struct tour_at *at)
{
	return at->s->apply.state == APPLY_CONFIRM || at->s->apply.state == APPLY_KEPT;
}

static bool tour_confirmed(const struct tour_at *at)
{
	return at->s->apply.state == APPLY_KEPT;
}

static bool tour_measured(const struct tour_at *at)
{
	return at->s->apply.measured || at->ctx->view == VIEW_AUDIT;
}

static bool tour_never(const struct tour_at *at)
{
	(void)at;
	return false;
}

/* clang-format off */
static const struct tour_step tour_steps[] = {
	{ VIEW_OVERVIEW, "the verdict",
	  "The line below the tabs says what is wrong, which jobs pay for it, and the key that helps. "
	  "Press 5: the jobs.",
	  VIEW_JOBS, NULL },
	{ VIEW_JOBS, "the jobs",
	  "The first one suffers most: 'slowdown' is how many times as long it takes as alone. Enter marks "
	  "its links in all views.",
	  0, tour_job_marked },
	{ VIEW_JOBS, "its links", "Press 2: the heatmap, in which each cell is a cable.",
	  VIEW_HEATMAP, NULL },
	{ VIEW_HEATMAP, "the heatmap",
	  "Cells of this job have levels, all others a '. Some of its links are full, and beside them "
	  "are free ones. Press 3: the links.",
	  VIEW_LINKS, NULL },
	{ VIEW_LINKS, "the links",
	  "The same as a table, the most congested first; {sort} sorts, {filter} filters. Press 6: engines "
	  "that compute another routing.",
	  VIEW_PREVIEW, NULL },
	{ VIEW_PREVIEW, "a plan",
	  "Go to sar with Up and Down, then press Enter: it computes paths for the jobs that run now. "
	  "Nothing in the fabric changes.",
	  0, tour_planned },
	{ VIEW_PREVIEW, "now and then",
	  "Metrics of the routing now and of the plan, side by side, with the change. Press {impact}: "
	  "what each job gains.",
	  0, tour_impact_seen },
	{ VIEW_PREVIEW, "the jobs and the plan",
	  "Each job's time, now > with the plan. Press {prepare}: it takes the plan to view 7; still "
	  "nothing is written.",
	  0, tour_taken_over },
	{ VIEW_APPLY, "the update",
	  "What would be written, in which order, and who waits during it. Press Enter, type the name that "
	  "is asked for, and Enter again.",
	  0, tour_started },
	{ VIEW_APPLY, "writing",
	  "Each block is written and read back, wave by wave, in an order in which no packet gets lost.",
	  0, tour_written },
	{ VIEW_APPLY, "your answer",
	  "It is written, not yet kept: without an answer it is rolled back at the deadline. Press Enter, "
	  "type the name again, and Enter.",
	  0, tour_confirmed },
	{ VIEW_APPLY, "the effect",
	  "Confirmed. Now the traffic of the jobs is measured, as long as before: wait for the line "
	  "'Effect', or press 9.",
	  0, tour_measured },
	{ VIEW_APPLY, "the report",
	  "Effect: what the jobs got before and get now, beside what was predicted. Press 9: the record of "
	  "all that you did.",
	  VIEW_AUDIT, NULL },
	{ VIEW_AUDIT, "the record",
	  "'audit export --report' makes a page of it. That was the tour: {help} has all keys, {command} "
	  "takes commands. Esc ends it.",
	  0, tour_never },
};
/* clang-format on */

#define TOUR_STEPS (sizeof(tour_steps) / sizeof(tour_steps[0]))

enum { TOUR_PLAN = 5, TOUR_UPDATE = 8, TOUR_CONFIRM = 10 };

void tour_begin(struct tour *t)
{
	*t = (struct tour){ .on = true };
}

static bool tour_done(const struct tour_step *step, const struct tour_at *at)
{
	return step->done ? step->done(at) : at->ctx->view == step->to;
}

/* What was begun and did not last: back to where plans are made. */
static bool tour_failed(const struct tour *t, const struct state *s)
{
	if (t->step < TOUR_UPDATE || t->step > TOUR_CONFIRM)
		return false;
	switch (s->apply.state) {
	case APPLY_NONE:
	case APPLY_ROLLED_BACK:
	case APPLY_FAILED:
	case APPLY_REFUSED:
	case APPLY_INSTALLED:
	case APPLY_SUPERSEDED:
	case APPLY_FABRIC_CHANGED:
		return true;
	default:
		return false;
	}
}

void tour_follow(struct tour *t, const struct context *ctx, const struct state *s, enum req req)
{
	const struct tour_at at = { ctx, s, req };

	if (!t->on)
		return;
	if (tour_failed(t, s))
		t->step = TOUR_PLAN + 1;
	/* a plan that was discarded, or computed again */
	if (t->step > TOUR_PLAN && t->step < TOUR_UPDATE && !tour_planned(&at))
		t->step = TOUR_PLAN;
	while (t->step + 1 < TOUR_STEPS && tour_done(&tour_steps[t->step], &at))
		t->step++;
}

void tour_draw(const struct tour *t, const struct context *ctx, const struct state *s,
	       struct canvas *c, struct rect r)
{
	const struct tour_step *step = &tour_steps[t->step];
	struct rect text = { r.x, r.y + 1, r.w - 1, TOUR_ROWS - 1 };
	char title[100], words[KEY_HINT_TEXT];

	snprintf(title, sizeof(title), "Tour %u of %zu: %s (Esc: leave)", t->step + 1, TOUR_STEPS,
		 step->title);
	canvas_fill(c, (struct rect){ r.x, r.y, r.w, TOUR_ROWS }, ROLE_TEXT, ' ');
	canvas_rule(c, r, 0, title);
	if (ctx->view != step->view)
		canvas_textf(c, text, 1, 0, ROLE_KEY, "The tour continues in view %d: press %d.",
			     (int)step->view, (int)step->view);
	else if (step->view == VIEW_PREVIEW && s->preview.state == PREVIEW_RUNNING)
		canvas_text(c, text, 1, 0, ROLE_KEY, "It is being computed.");
	else
		canvas_wrap(c, text, 1, 0, ROLE_KEY,
			    key_hint_text(words, sizeof(words), step->text));
}
