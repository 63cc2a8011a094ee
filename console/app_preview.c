/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Previews: asked of the worker, and whether what came is still true. */
#include "console/app_priv.h"

#include "fabric/base/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void app_preview(struct app *a, uint32_t engine, const struct engine_params *params)
{
	struct state_preview *p = &a->state.preview;
	const struct engine *e = p->engines[engine].engine;

	msg_drop(a->preview);
	a->preview = NULL;
	p->tables = NULL;
	p->jobs = NULL;
	p->before = p->after = NULL;
	p->verdict = NULL;
	p->diff = NULL;
	p->notes = NULL;
	p->error[0] = p->stale[0] = p->step[0] = '\0';
	p->state = PREVIEW_RUNNING;
	p->engine = engine;
	p->vls = params->vls;
	p->seed = params->seed;
	p->fraction = p->eta_s = NAN;
	a->preview_start = a->step_start = clock_s();
	app_record_action(a, "preview", e->name);
	worker_preview(a->worker, a->fabric, a->tables, a->jobs, e, params, ++a->preview_serial);
}

void app_preview_start(struct app *a, const struct request *r)
{
	const struct state_preview *p = &a->state.preview;
	struct engine_params params = {
		.vls = r->vls,
		.seed = r->seed,
		.sar_method = r->method,
	};

	if (!a->fabric || r->engine >= p->nengines)
		ui_say(a->ui, "the fabric is not known yet");
	else if (!p->engines[r->engine].suits)
		ui_say(a->ui, "%s", p->engines[r->engine].why);
	else
		app_preview(a, r->engine, &params);
}

void app_stale(struct app *a)
{
	struct state_preview *p = &a->state.preview;
	struct tdiff *d;

	if (p->state != PREVIEW_DONE || !a->preview || !a->fabric)
		return;
	p->stale[0] = '\0';
	if (!jobset_same(a->jobs, p->jobs)) {
		snprintf(p->stale, sizeof(p->stale), "the multi-switch jobs changed since");
		return;
	}
	if (!a->tables || !p->before)
		return;
	d = tdiff_new(a->fabric, a->tables, p->tables);
	if (p->diff && (d->nblocks != p->diff->nblocks || d->entries != p->diff->entries))
		snprintf(p->stale, sizeof(p->stale), "the installed tables changed since");
	tdiff_free(d);
}

void app_preview_drop(struct app *a)
{
	worker_cancel(a->worker);
	a->preview_serial++;
	msg_drop(a->preview);
	a->preview = NULL;
	a->state.preview.state = PREVIEW_IDLE;
	a->state.preview.tables = NULL;
	a->state.preview.jobs = NULL;
	a->state.preview.before = a->state.preview.after = NULL;
	a->state.preview.verdict = NULL;
	a->state.preview.diff = NULL;
	a->state.preview.notes = NULL;
}

bool app_take_preview(struct app *a, struct msg *msg)
{
	struct state_preview *p = &a->state.preview;

	if (msg->total != a->preview_serial || p->state != PREVIEW_RUNNING)
		return false;
	p->seconds = msg->seconds;
	if (msg->type == MSG_PREVIEW_FAILED) {
		p->state = msg->rc == -ECANCELED ? PREVIEW_CANCELLED : PREVIEW_FAILED;
		snprintf(p->error, sizeof(p->error), "%s", msg->text);
		if (msg->rc != -ECANCELED)
			log_add(LOG_WARN, "preview", "%s", msg->text);
		return false;
	}
	msg_drop(a->preview);
	a->preview = msg;
	p->state = PREVIEW_DONE;
	p->tables = msg->tables;
	p->jobs = msg->jobs;
	p->before = msg->before;
	p->after = msg->after;
	p->verdict = msg->verdict;
	p->diff = msg->diff;
	p->notes = &msg->notes;
	p->forecasting = true;
	p->now = p->plan = (struct forecast){ .known = false };
	p->stale[0] = '\0';
	if (msg->before)
		log_add(LOG_INFO, "preview",
			"%s: job EFI max %lu -> %lu (>= %lu), computed in %.2f s",
			msg->tables->engine, (unsigned long)msg->before->eff_efi_max,
			(unsigned long)msg->after->eff_efi_max,
			(unsigned long)msg->after->eff_efi_bound, msg->seconds);
	app_stale(a);
	return true;
}

void app_take_forecast(struct app *a, const struct msg *msg)
{
	struct state_preview *p = &a->state.preview;

	if (msg->total != a->preview_serial || p->state != PREVIEW_DONE)
		return;
	p->forecasting = false;
	p->now = msg->now;
	p->plan = msg->plan;
}

void app_take_step(struct app *a, const struct msg *msg)
{
	struct state_preview *p = &a->state.preview;

	if (strcmp(p->step, msg->step)) {
		snprintf(p->step, sizeof(p->step), "%s", msg->step);
		a->step_start = clock_s();
	}
	p->fraction = msg->total ? (double)msg->done / (double)msg->total : NAN;
	p->eta_s = NAN;
	if (p->fraction > 0.02)
		p->eta_s = (clock_s() - a->step_start) * (1 - p->fraction) / p->fraction;
}
