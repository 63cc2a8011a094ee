/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --auto in the console: previews and updates as the operator's, asked for by auto_policy. */
#include "console/app/app_priv.h"

#include "console/session/auto_propose.h"
#include "fabric/base/clock.h"
#include "fabric/format/native/limits_text.h"
#include "fabric/format/native/pin_text.h"
#include "fabric/jobs/filter.h"
#include "fabric/update/journal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t app_auto_now_s(void)
{
	return (uint64_t)clock_s();
}

/* The same again is no event. */
static void app_auto_say(struct app *a, enum auto_act act)
{
	struct state_auto *s = &a->state.automatic;
	const char *why = a->automatic.policy.why;

	s->alert = act == AUTO_PROPOSE;
	if (!strcmp(s->text, why))
		return;
	snprintf(s->text, sizeof(s->text), "%s", why);
	log_add(act == AUTO_PROPOSE ? LOG_WARN : LOG_INFO, "auto", "%s", why);
	a->dirty = true;
}

void app_auto_start(struct app *a)
{
	struct auto_limits limits;

	a->state.automatic.on = a->opts.automatic.on;
	auto_opts_limits(&limits, &a->opts.automatic, a->opts.rw);
	auto_policy_init(&a->automatic.policy, &limits, app_auto_now_s());
}

/* --- what is there ----------------------------------------------------------------------- */

/* Also of other processes; what is simulated has none. */
static bool app_auto_journal_open_somewhere(const struct app *a)
{
	struct txn_info *list = NULL;
	uint32_t n = 0;
	bool open = false;

	if (a->demo || journal_list(&list, &n, journal_base(a->opts.state_dir), NULL))
		return false;
	for (uint32_t i = 0; i < n; i++)
		open = open || (!list[i].broken[0] && !txn_state_final(list[i].state));
	free(list);
	return open;
}

/* An operator's plan, or an update; a plan of our own that nobody took up gives way. */
static bool app_auto_update_open(const struct app *a)
{
	enum apply_state s = a->state.apply.state;
	bool ours = a->automatic.order && a->order_serial == a->automatic.order;

	if (app_updating(a) || s == APPLY_JOURNAL || s == APPLY_INCOMPLETE)
		return true;
	if ((s == APPLY_ORDERING || s == APPLY_READY) && !ours)
		return true;
	return app_auto_journal_open_somewhere(a);
}

static const struct jobset *app_auto_counted_jobs(const struct app *a)
{
	struct job_filter filter = { .min_age_s = a->opts.automatic.min_age_s };

	return job_filter_apply(&filter, a->jobs, a->fabric, time(NULL));
}

static void app_auto_compare(struct auto_look *in, const struct app *a,
			     const struct jobset *counted)
{
	const struct app_auto *u = &a->automatic;
	struct job_change c;

	in->njobs = counted->nmulti;
	in->fabric_changed = !digest_equal(&u->fingerprint, &a->fabric->fingerprint);
	if (in->fabric_changed)
		return;
	job_change(&c, u->routed_for, counted);
	in->changed = c.changed;
	in->started = c.started;
	in->ended = c.ended;
}

/* --- what is done ------------------------------------------------------------------------ */

static void app_auto_failed(struct app *a, const char *what)
{
	a->automatic.stage = STAGE_IDLE;
	auto_policy_failed(&a->automatic.policy, app_auto_now_s(), what);
	app_auto_say(a, AUTO_WAIT);
}

/* Jobs that have ended are pinned no longer. */
static void app_auto_pin_now(const struct app *a, struct preview_options *o)
{
	char *now;

	if (!a->opts.automatic.pin)
		return;
	now = pin_text_of_now(a->opts.automatic.pin, a->jobs);
	snprintf(o->text[PARAM_PIN], PATH_TEXT, "%s", now);
	free(now);
}

/* What is taken down is away for a while; names that are there may be longer than those given. */
static void app_auto_exclude_now(const struct app *a, struct preview_options *o)
{
	const struct limits_missing gone = { auto_exclude_gone, NULL };
	const char *text = a->opts.automatic.exclude;
	struct route_limits *l = NULL;

	if (!text)
		return;
	if (!route_limits_exclude_there(&l, a->fabric, text, &gone, NULL) &&
	    strlen(l->exclude_text) < PATH_TEXT)
		text = l->exclude_text;
	snprintf(o->text[PARAM_EXCLUDE], PATH_TEXT, "%s", text);
	route_limits_free(l);
}

static void app_auto_compute(struct app *a, const struct jobset *counted)
{
	const struct engine_spec *spec = &a->opts.automatic.engine;
	const struct state_preview *p = &a->state.preview;
	struct preview_options o = { .params = { .seed = a->opts.seed,
						 .job_nodes_min = a->opts.automatic.job_nodes_min,
						 .escape = a->opts.automatic.escape ||
							   a->tables->escape } };
	struct err err = { "" };
	struct app_auto *u = &a->automatic;
	uint32_t i = 0;

	jobset_put(u->routed_for);
	u->routed_for = jobset_get(counted);
	u->fingerprint = a->fabric->fingerprint;
	while (i < p->nengines && p->engines[i].engine != spec->engine)
		i++;
	if (i == p->nengines || !p->engines[i].suits) {
		app_auto_failed(a, i == p->nengines ? "no such engine" : p->engines[i].why);
		return;
	}
	app_auto_pin_now(a, &o);
	app_auto_exclude_now(a, &o);
	engine_spec_apply(spec, &o.params);
	if (a->tables->escape &&
	    !o.params.vls) /* escape LIDs are on the last: they must stay there */
		o.params.vls = a->tables->vls;
	if (app_preview(a, i, &o, &err)) {
		app_auto_failed(a, err.text);
		return;
	}
	u->preview = a->preview_serial;
	u->stage = STAGE_PREVIEW;
}

static void app_auto_look(struct app *a)
{
	struct auto_look in = { .known = a->jobs && a->state.jobs_source.state == JOBS_OK };
	const struct jobset *counted = NULL;
	enum auto_act act;

	if (in.known) {
		counted = app_auto_counted_jobs(a);
		app_auto_compare(&in, a, counted);
		in.busy = app_auto_update_open(a);
	}
	act = auto_policy_look(&a->automatic.policy, app_auto_now_s(), &in);
	if (act != AUTO_WAIT || !a->state.automatic.alert) /* a proposal stands until the next */
		app_auto_say(a, act);
	if (act == AUTO_COMPUTE)
		app_auto_compute(a, counted);
	jobset_put(counted);
}

static void app_auto_proposal(struct auto_proposal *out, const struct app *a)
{
	const struct state_preview *p = &a->state.preview;

	*out = (struct auto_proposal){
		.sound = verdict_ok(p->verdict),
		.why_not = "the tables did not pass the checks",
		.before = p->before ? p->before->eff_efi_max : 0,
		.after = p->after->eff_efi_max,
		.blocks = p->diff ? p->diff->nblocks + p->diff->nsl2vl : 0,
	};
}

/* Finished: is it worth a plan? */
static void app_auto_judge_preview(struct app *a)
{
	struct app_auto *u = &a->automatic;
	struct auto_proposal in;
	enum auto_act act;

	app_auto_proposal(&in, a);
	in.busy = app_auto_update_open(a);
	act = auto_policy_judge(&u->policy, app_auto_now_s(), &in);
	u->stage = STAGE_IDLE;
	if (act != AUTO_APPLY) {
		app_auto_say(a, act);
		return;
	}
	app_prepare_update(a);
	if (a->state.apply.state != APPLY_ORDERING && a->state.apply.state != APPLY_READY) {
		app_auto_failed(a, a->state.apply.result);
		return;
	}
	u->order = a->order_serial;
	u->stage = STAGE_ORDER;
}

static void app_auto_watch_preview(struct app *a)
{
	const struct state_preview *p = &a->state.preview;

	if (a->preview_serial != a->automatic.preview || p->state == PREVIEW_CANCELLED)
		app_auto_failed(a, "another preview took its place, or it was stopped");
	else if (p->state == PREVIEW_FAILED)
		app_auto_failed(a, p->error);
	else if (p->state == PREVIEW_DONE)
		app_auto_judge_preview(a);
}

/* It is known now who has to drain.  The plan stays there for an operator where it is not written;
 * who has agents is not known here. */
static void app_auto_judge_plan(struct app *a)
{
	struct app_auto *u = &a->automatic;
	struct auto_proposal in;
	enum auto_act act;

	app_auto_proposal(&in, a);
	in.drain = drain_needed(&a->plan->drain);
	in.busy = app_updating(a) || app_auto_journal_open_somewhere(a);
	act = auto_policy_judge(&u->policy, app_auto_now_s(), &in);
	u->stage = STAGE_IDLE;
	app_auto_say(a, act);
	if (act != AUTO_APPLY)
		return;
	app_begin_update(a);
	u->confirmed = false;
	u->stage = STAGE_UPDATE;
}

static void app_auto_watch_order(struct app *a)
{
	if (a->order_serial != a->automatic.order)
		app_auto_failed(a, "an operator put the plan away");
	else if (a->state.apply.state == APPLY_READY && a->plan)
		app_auto_judge_plan(a);
	else if (a->state.apply.state != APPLY_ORDERING)
		app_auto_failed(a, a->state.apply.result);
}

static void app_auto_keep_when_quiet(struct app *a)
{
	double since;

	pthread_mutex_lock(&a->events_lock);
	since = fmax(a->confirm_at, a->watch_at);
	pthread_mutex_unlock(&a->events_lock);
	if (a->automatic.confirmed || clock_s() - since < a->opts.automatic.confirm_s)
		return;
	a->automatic.confirmed = true;
	log_add(LOG_INFO, "auto", "nothing was found for %u s: confirms",
		a->opts.automatic.confirm_s);
	update_thread_confirm(a->update);
}

static void app_auto_ended(struct app *a, enum auto_end end)
{
	a->automatic.stage = STAGE_IDLE;
	auto_policy_ended(&a->automatic.policy, app_auto_now_s(), end, a->state.apply.result);
	app_auto_say(a, AUTO_WAIT);
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
		app_auto_ended(a, AUTO_SUPERSEDED);
		break;
	case APPLY_REFUSED:
	case APPLY_NONE:
	case APPLY_JOURNAL:
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
	bool ready = a->state.mode == RUN_LIVE && !a->lost && a->fabric && a->tables &&
		     tables_know_vls(a->tables);

	if (!a->opts.automatic.on)
		return;
	switch (u->stage) {
	case STAGE_IDLE:
		if (ready && a->state.preview.state != PREVIEW_RUNNING &&
		    a->state.jobs_source.state != JOBS_WAITING &&
		    auto_policy_due(&u->policy, app_auto_now_s()))
			app_auto_look(a);
		break;
	case STAGE_PREVIEW:
		app_auto_watch_preview(a);
		break;
	case STAGE_ORDER:
		app_auto_watch_order(a);
		break;
	case STAGE_UPDATE:
		app_auto_watch_update(a);
		break;
	}
	a->state.automatic.next_s =
		u->stage == STAGE_IDLE ? fmax(0, (double)u->policy.next_s - clock_s()) : NAN;
}

static void app_auto_end(struct app *a)
{
	jobset_put(a->automatic.routed_for);
}

const struct app_part app_auto_part = { .end = app_auto_end };
