/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of an option, tried one after the other: results without plans. */
#include "console/app/app_priv.h"

#include "fabric/base/message/plural.h"
#include "views/data/state/option_values.h"

#include <errno.h>
#include <stdio.h>

/* As it will be installed from, and as results are held against each other. */
static const struct tables *app_trial_from(const struct app *a)
{
	return a->state.tables && tables_know_vls(a->state.tables) ? a->state.tables : NULL;
}

void app_trial_follow(struct app *a)
{
	if (!option_tries_fresh(&a->tries, a->state.jobs, app_trial_from(a), a->state.fabric))
		option_tries_clear(&a->tries);
}

bool app_trial_on(const struct app *a)
{
	return a->trial.on;
}

void app_trial_end(struct app *a)
{
	struct state_preview *p = &a->state.preview;

	if (!a->trial.on)
		return;
	a->trial.on = false;
	p->trial.on = false;
	p->engine = a->trial.was_engine;
	p->state = a->trial.was;
}

bool app_trial_next(struct app *a, struct preview_options *out)
{
	struct state_preview *p = &a->state.preview;

	if (p->trial.at == p->trial.n) {
		app_trial_end(a);
		shell_say(a->shell, "%u value%s of %s tried", p->trial.n, plural(p->trial.n),
			  param_of(p->trial.id)->label);
		return false;
	}
	*out = a->trial.options;
	option_values_set(out, param_of(p->trial.id), a->trial.value[p->trial.at]);
	p->state = a->trial.was;
	return true;
}

static bool app_trial_queue(struct app *a, const struct request *r)
{
	struct state_preview *p = &a->state.preview;
	const struct param *param = param_of(r->param);
	uint64_t all[OPTION_VALUES];
	uint32_t n = option_values(all, param, &r->options, a->state.fabric);

	p->trial.n = p->trial.at = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct preview_options o = r->options;

		option_values_set(&o, param, all[i]);
		if (!option_result_find(a->tries.list, a->tries.n, r->engine, &o))
			a->trial.value[p->trial.n++] = all[i];
	}
	if (!n)
		shell_say(a->shell, "%s has no values to be tried", param->label);
	else if (!p->trial.n)
		shell_say(a->shell, "all values of %s are known", param->label);
	return p->trial.n > 0;
}

bool app_trial_begin(struct app *a, const struct request *r)
{
	struct state_preview *p = &a->state.preview;

	app_trial_follow(a);
	if (!app_trial_queue(a, r))
		return false;
	a->trial.on = p->trial.on = true;
	a->trial.was = p->state;
	a->trial.was_engine = p->engine;
	a->trial.options = r->options;
	p->trial.engine = r->engine;
	p->trial.id = r->param;
	return true;
}

bool app_trial_take(struct app *a, const struct msg *msg)
{
	struct state_preview *p = &a->state.preview;
	struct plan_preview x = {
		.engine = p->trial.engine,
		.options = a->asked,
		.from = msg->from,
		.jobs = msg->jobs,
		.after = msg->after,
		.time_plan = msg->time_plan,
		.messages = &msg->messages,
		.diff = msg->diff,
	};

	if (msg->type == MSG_PREVIEW_FAILED && msg->rc == -ECANCELED) {
		app_trial_end(a);
		shell_say(a->shell, "%u of %u values tried", p->trial.at, p->trial.n);
		return false;
	}
	if (msg->type == MSG_PREVIEW_FAILED) {
		x.jobs = a->state.jobs;
		x.from = app_trial_from(a);
	}
	option_tries_take(&a->tries, &x, a->state.fabric);
	a->tries.list[a->tries.n - 1].failed = msg->type == MSG_PREVIEW_FAILED;
	p->trial.at++;
	return true;
}
