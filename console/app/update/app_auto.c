/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --auto in the console: auto_mode, whose previews and updates are shown as the operator's are. */
#include "console/app/app_priv.h"

#include "fabric/base/memory/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A plan that waits for somebody stays on the screen until it is computed again. */
static void app_auto_say(void *ctx, enum auto_act act, const char *why)
{
	struct app *a = ctx;
	struct state_auto *s = &a->state.automatic;

	if (act == AUTO_WAIT && a->automatic.mode.proposed)
		return;
	s->alert = act == AUTO_PROPOSE;
	if (!strcmp(s->text, why))
		return;
	snprintf(s->text, sizeof(s->text), "%s", why);
	log_add(act == AUTO_PROPOSE ? LOG_WARN : LOG_INFO, "auto", "%s", why);
	a->dirty = true;
}

void app_auto_start(struct app *a)
{
	a->state.automatic.on = a->opts.automatic.on;
	a->automatic.mode = (struct auto_mode){ .opts = &a->opts.automatic,
						.params = a->opts.params,
						.record = &a->record,
						.say = app_auto_say,
						.ctx = a };
	auto_mode_start(&a->automatic.mode, a->opts.rw);
}

static void app_auto_failed(struct app *a, const char *what)
{
	a->automatic.stage = STAGE_IDLE;
	auto_mode_failed(&a->automatic.mode, what);
}

static void app_auto_ended(struct app *a, enum auto_end end)
{
	const struct state_apply *s = &a->state.apply;

	a->automatic.stage = STAGE_IDLE;
	if (end == AUTO_KEPT && a->applied &&
	    !tables_check_fabric(a->applied, a->state.fabric, NULL))
		auto_mode_confirmed(&a->automatic.mode, a->state.fabric, a->applied);
	auto_mode_ended(&a->automatic.mode, end, s->txn, s->result);
}

/* An operator's plan, or an update. */
static bool app_auto_update_open(const struct app *a)
{
	enum apply_state s = a->state.apply.state;

	return app_updating(a) || s == APPLY_JOURNAL || s == APPLY_INCOMPLETE ||
	       s == APPLY_ORDERING || s == APPLY_READY;
}

/* --- a plan -------------------------------------------------------------------------- */

/* As the form of previews would have them; a list that is too long for it is not cut. */
static void app_auto_show_options(struct preview_options *o, const struct route_inputs *in,
				  const struct auto_opts *how)
{
	const struct route_limits *l = in->params.limits;
	const char *pin = l && l->pin_text ? l->pin_text : "";
	const char *exclude = l && l->exclude_text ? l->exclude_text : "";

	*o = (struct preview_options){ .params = in->params };
	o->params.roots = NULL;
	o->params.limits = NULL;
	snprintf(o->text[PARAM_PIN], PATH_TEXT, "%s", strlen(pin) < PATH_TEXT ? pin : how->pin);
	snprintf(o->text[PARAM_EXCLUDE], PATH_TEXT, "%s",
		 strlen(exclude) < PATH_TEXT ? exclude : how->exclude);
}

static void app_auto_compute(struct app *a, const struct auto_seen *seen)
{
	const struct state_preview *p = &a->state.preview;
	const struct auto_opts *how = &a->opts.automatic;
	struct app_auto *u = &a->automatic;
	struct auto_agents who =
		auto_mode_agents(&u->mode, a->opts.live.socket, a->opts.live.agents_key);
	struct preview_options o;
	struct route_inputs in;
	struct err err = { "" };
	uint32_t i = 0;

	while (i < p->nengines && p->engines[i].engine != how->engine.engine)
		i++;
	if (i == p->nengines) {
		app_auto_failed(a, "unknown engine");
		return;
	}
	if (auto_mode_inputs(&in, &u->mode, seen, &err)) {
		app_auto_failed(a, err.text);
	} else {
		app_auto_show_options(&o, &in, how);
		app_preview_propose(a, i, &o, &in, &who);
		u->preview = a->preview_serial;
		u->stage = STAGE_PREVIEW;
	}
	route_inputs_drop(&in);
}

static bool app_auto_may_look(const struct app *a)
{
	return a->state.mode == RUN_LIVE && !a->lost && a->state.fabric && a->state.tables &&
	       tables_know_vls(a->state.tables) && a->state.preview.state != PREVIEW_RUNNING &&
	       a->state.jobs_source.state != JOBS_WAITING && auto_mode_due(&a->automatic.mode);
}

/* The update that was last; of the demo's, which keeps no journals, the console knows only its own.
 */
static const char *app_auto_newest(const struct app *a, const struct auto_journals *found)
{
	const struct auto_mode *m = &a->automatic.mode;

	if (!a->demo)
		return found->newest;
	return a->applied == m->kept ? m->kept_txn : "";
}

static void app_auto_look(struct app *a, const struct auto_journals *found)
{
	struct auto_seen seen = { .known = a->state.jobs && !a->state.sm.lost &&
					   a->state.jobs_source.state == JOBS_OK };

	a->automatic.stage = STAGE_IDLE;
	if (!app_auto_may_look(a)) /* any more */
		return;
	if (seen.known) {
		seen.busy = found->open || app_auto_update_open(a);
		seen.newest = app_auto_newest(a, found);
		seen.f = a->state.fabric;
		seen.installed = a->state.tables;
		seen.jobs = a->state.jobs;
		seen.sm = app_sm_pin(a);
		seen.plugin = a->state.sm.requested[0] != '\0';
	}
	if (auto_mode_look(&a->automatic.mode, &seen) == AUTO_COMPUTE)
		app_auto_compute(a, &seen);
}

/* As the operator's A and the name of the fabric do. */
static void app_auto_apply(struct app *a)
{
	app_prepare_update(a);
	if (a->state.apply.state != APPLY_READY || !a->plan) {
		app_auto_ended(a, AUTO_REFUSED);
		return;
	}
	app_begin_update(a);
	a->automatic.confirmed = false;
	a->automatic.stage = STAGE_UPDATE;
}

/* journal: another process updates, or has left an update unfinished. */
static void app_auto_judge(struct app *a, bool journal)
{
	uint32_t at = app_plan_find(a, a->automatic.preview);
	struct auto_plan p;
	const struct msg *msg;

	if (at == PLANS_MAX) {
		app_auto_failed(a, "the plan was discarded");
		return;
	}
	a->state.preview.at = at;
	msg = a->kept[at];
	p = msg->automatic;
	p.why_not = msg->text;
	p.busy = journal || app_auto_update_open(a);
	a->automatic.stage = STAGE_IDLE;
	if (auto_mode_judge(&a->automatic.mode, &p) == AUTO_APPLY)
		app_auto_apply(a);
}

/* --- what other processes do, of which a thread reads the journals ------------------------ */

struct seeking_updates {
	const char *state_dir; /* the console's, which outlives it */
	struct auto_journals found;
};

static int app_auto_seek_run(void *ctx, struct err *err)
{
	struct seeking_updates *s = ctx;

	(void)err;
	auto_mode_journals(&s->found, s->state_dir);
	return 0;
}

static void app_auto_sought(struct app *a, const struct auto_journals *found)
{
	if (a->automatic.stage == STAGE_LOOK)
		app_auto_look(a, found);
	else
		app_auto_judge(a, found->open);
}

static void app_auto_seek_done(void *owner, void *ctx)
{
	const struct seeking_updates *s = ctx;

	app_auto_sought(owner, &s->found);
}

static const struct file_work_ops app_auto_seek = {
	.what = "journals",
	.run = app_auto_seek_run,
	.done = app_auto_seek_done,
	.free = free,
};

/* What is simulated has no other processes. */
static void app_auto_begin(struct app *a, enum auto_stage stage)
{
	static const struct auto_journals none = { .open = false };
	struct seeking_updates *s;

	a->automatic.stage = stage;
	if (a->demo) {
		app_auto_sought(a, &none);
		return;
	}
	s = xcalloc(1, sizeof(*s));
	s->state_dir = a->opts.live.state_dir;
	if (app_files_start(a, &app_auto_seek, s))
		app_auto_failed(a, "the journals of updates cannot be read");
}

static void app_auto_watch_preview(struct app *a)
{
	const struct state_preview *p = &a->state.preview;

	if (a->preview_serial != a->automatic.preview || p->state == PREVIEW_CANCELLED)
		app_auto_failed(a, "it was stopped, or another plan was computed instead");
	else if (p->state == PREVIEW_FAILED)
		app_auto_failed(a, p->error);
	else if (p->state != PREVIEW_RUNNING)
		app_auto_begin(a, STAGE_JUDGE);
}

/* --- its update -------------------------------------------------------------------------- */

static void app_auto_keep_when_quiet(struct app *a)
{
	if (a->automatic.confirmed ||
	    update_thread_quiet_s(a->update) < a->opts.automatic.confirm_s)
		return;
	a->automatic.confirmed = true;
	log_add(LOG_INFO, "auto", "no watch condition failed for %u s: confirming",
		a->opts.automatic.confirm_s);
	update_thread_confirm(a->update);
}

static void app_auto_watch_update(struct app *a)
{
	switch (a->state.apply.state) {
	case APPLY_CONFIRM:
		app_auto_keep_when_quiet(a);
		break;
	case APPLY_KEPT:
		app_auto_ended(a, AUTO_KEPT);
		break;
	case APPLY_ROLLED_BACK:
	case APPLY_FAILED:
		app_auto_ended(a, AUTO_ROLLED_BACK);
		break;
	case APPLY_INCOMPLETE:
		app_auto_ended(a, AUTO_INCOMPLETE);
		break;
	case APPLY_SUPERSEDED:
	case APPLY_FABRIC_CHANGED:
		app_auto_ended(a, AUTO_SUPERSEDED);
		break;
	case APPLY_REFUSED:
	case APPLY_NONE:
	case APPLY_JOURNAL:
	case APPLY_INSTALLED:
		app_auto_ended(a, AUTO_REFUSED);
		break;
	default:
		break;
	}
}

/* An update goes on whatever the screen shows; a look needs what is there now. */
void app_auto_tick(struct app *a)
{
	struct app_auto *u = &a->automatic;

	if (!a->opts.automatic.on)
		return;
	switch (u->stage) {
	case STAGE_IDLE:
		if (app_auto_may_look(a))
			app_auto_begin(a, STAGE_LOOK);
		break;
	case STAGE_LOOK:
	case STAGE_JUDGE:
		break;
	case STAGE_PREVIEW:
		app_auto_watch_preview(a);
		break;
	case STAGE_UPDATE:
		app_auto_watch_update(a);
		break;
	}
	a->state.automatic.next_s = u->stage <= STAGE_LOOK ? auto_mode_next_s(&u->mode) : NAN;
}

static void app_auto_end(struct app *a)
{
	auto_mode_end(&a->automatic.mode);
}

const struct app_part app_auto_part = { .end = app_auto_end };
