/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far the worker is with what it does, which any view tells, and that it is ended. */
#include "console/app/app_priv.h"

#include "console/lib/progress_line.h"
#include "fabric/base/clock.h"

#include <stdio.h>
#include <string.h>

#define PATIENCE_S 0.5 /* before there is a word of it */

static void app_preview_say_what(struct app *a, const struct msg *msg)
{
	const struct state_preview *p = &a->state.preview;
	struct app_work *w = &a->work;

	if (msg->type == MSG_WORK_STEP && p->engine < p->nengines)
		snprintf(w->what, sizeof(w->what), "preview by %.30s",
			 p->engines[p->engine].engine->name);
	else
		snprintf(w->what, sizeof(w->what), "%.47s", msg->text);
}

static void app_preview_copy_words(struct app *a, const struct msg *msg, double now)
{
	const struct app_work *w = &a->work;
	struct state *s = &a->state;

	if (msg->type == MSG_METRICS_STEP)
		snprintf(s->metrics_step, sizeof(s->metrics_step), "%.47s", w->words);
	if (msg->type != MSG_ORDER_STEP && msg->type != MSG_COST_STEP)
		return;
	snprintf(s->ordering.words, sizeof(s->ordering.words), "%s", w->words);
	s->ordering.most_s = progress_most_s(msg->work, msg->most, now - w->counted);
	s->ordering.about_s = progress_about_s(msg->last, msg->done, msg->total, now - w->since);
}

/* Some steps come several times: each time from 0. */
void app_work_step(struct app *a, const struct msg *msg)
{
	struct app_work *w = &a->work;
	double now = clock_s();
	int n = 0;

	if (!w->on || w->type != msg->type)
		*w = (struct app_work){ .on = true, .type = msg->type, .begun = now };
	if (!w->step || strcmp(w->step, msg->step) != 0 || msg->done < w->done)
		w->since = now;
	if (!msg->work)
		w->counted = now;
	w->step = msg->step;
	w->done = msg->done;
	app_preview_say_what(a, msg);
	if (msg->parts > 1)
		n = snprintf(w->words, sizeof(w->words), "%u of %u, ", msg->part, msg->parts);
	progress_words(w->words + n, sizeof(w->words) - (size_t)n, msg->step, msg->done, msg->total,
		       now - w->since);
	app_preview_copy_words(a, msg, now);
}

void app_work_end(struct app *a, enum msg_type type)
{
	switch (type) {
	case MSG_METRICS:
	case MSG_USAGE:
	case MSG_PREVIEW:
	case MSG_PREVIEW_FAILED:
	case MSG_FORECAST:
	case MSG_TRAFFIC:
	case MSG_COST:
	case MSG_ORDERED:
		a->work.on = false;
		break;
	default:
		break;
	}
}

void app_work_refresh(struct app *a)
{
	const struct app_work *w = &a->work;
	char *text = a->state.work;

	text[0] = '\0';
	if (w->on && clock_s() - w->begun > PATIENCE_S)
		snprintf(text, sizeof(a->state.work), "%s: %s", w->what, w->words);
}

/* The order of a proposal's writes, whichever is selected, or of a way back. */
static void app_preview_stop_order(struct app *a)
{
	struct state_preview *p = &a->state.preview;

	if (a->work.type == MSG_ORDER_STEP) {
		app_update_close(a);
		return;
	}
	for (uint32_t i = 0; i < p->n; i++)
		if (a->kept[i].serial == a->cost_serial)
			state_preview_select(p, i);
	app_order_stop(a);
}

void app_work_stop(struct app *a)
{
	const struct app_work *w = &a->work;

	if (a->state.preview.state == PREVIEW_RUNNING && (!w->on || w->type == MSG_WORK_STEP)) {
		app_preview_cancel(a);
		shell_say(a->shell, "the preview is ended; nothing was changed");
		return;
	}
	if (!w->on) {
		shell_say(a->shell, "nothing is being computed");
		return;
	}
	app_record_action(a, "compute.stop", w->what);
	shell_say(a->shell, "%s: ended%s", w->what,
		  w->type == MSG_ORDER_STEP  ? ""
		  : w->type == MSG_COST_STEP ? "; A begins again in 6"
					     : "; F5 begins again");
	if (w->type == MSG_ORDER_STEP || w->type == MSG_COST_STEP) {
		app_preview_stop_order(a);
		return;
	}
	if (a->forecast_serial && !strcmp(w->what, "forecast")) {
		app_forecast_stop(a);
		return;
	}
	a->figures_ended = true;
	worker_cancel_background(a->worker);
}

void app_work_again(struct app *a)
{
	if (a->figures_ended)
		app_want_metrics(a);
	app_forecasts_again(a);
}
