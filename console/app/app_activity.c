/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far the worker is with what it does, which the last line tells in any view. */
#include "console/app/app_priv.h"

#include "console/io/progress_line.h"
#include "fabric/base/time/clock.h"

#include <stdio.h>
#include <string.h>

#define PATIENCE_S 0.5 /* before there is a word of it */

static void app_activity_name(struct app *a, const struct msg *msg)
{
	const struct state_preview *p = &a->state.preview;
	struct app_work *w = &a->work;

	if (msg->type == MSG_WORK_STEP && p->engine < p->nengines)
		snprintf(w->what, sizeof(w->what), "plan by %.30s",
			 p->engines[p->engine].engine->name);
	else
		snprintf(w->what, sizeof(w->what), "%.47s", msg->text);
}

static void app_activity_copy_words(struct app *a, const struct msg *msg, double now)
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

static bool app_activity_is_step(enum msg_type type)
{
	return type == MSG_WORK_STEP || type == MSG_METRICS_STEP || type == MSG_BACKGROUND_STEP ||
	       type == MSG_COST_STEP || type == MSG_ORDER_STEP;
}

/* Some steps come several times: each time from 0. */
static void app_activity_step(struct app *a, const struct msg *msg)
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
	app_activity_name(a, msg);
	if (msg->parts > 1)
		n = snprintf(w->words, sizeof(w->words), "%u of %u, ", msg->part, msg->parts);
	progress_words(w->words + n, sizeof(w->words) - (size_t)n, msg->step, msg->done, msg->total,
		       now - w->since);
	app_activity_copy_words(a, msg, now);
}

static void app_activity_end(struct app *a, enum msg_type type)
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

static void app_activity_refresh(struct app *a)
{
	const struct app_work *w = &a->work;
	char *text = a->state.work;

	text[0] = '\0';
	if (w->on && clock_s() - w->begun > PATIENCE_S)
		snprintf(text, sizeof(a->state.work), "%s: %s", w->what, w->words);
}

static void app_activity_hear(struct app *a, const struct app_news *n)
{
	if (n->type != NEWS_MESSAGE)
		return;
	app_activity_end(a, n->msg->type);
	if (app_activity_is_step(n->msg->type))
		app_activity_step(a, n->msg);
}

const struct app_part app_activity_part = {
	.hear = app_activity_hear,
	.refresh = app_activity_refresh,
};
