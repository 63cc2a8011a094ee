/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Previews: asked of the worker, kept side by side, and whether they are still true. */
#include "console/app/app_priv.h"

#include "console/config/user_path.h"
#include "console/input/load/load_demand.h"
#include "console/input/load/load_names.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "fabric/format/site/limits_text.h"
#include "fabric/format/site/pin_text.h"
#include "fabric/model/traffic/demand.h"
#include "fabric/plan/file/planfile.h"
#include "views/data/state/key_hint.h"
#include "views/data/state/preview_options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint32_t app_plan_find(const struct app *a, uint64_t serial)
{
	for (uint32_t i = 0; i < a->state.preview.n; i++)
		if (a->kept[i]->total == serial)
			return i;
	return PLANS_MAX;
}

/* That one; NULL: none. */
static struct plan_preview *app_preview_of(struct app *a, uint64_t serial)
{
	uint32_t at = app_plan_find(a, serial);

	return at < PLANS_MAX ? &a->state.preview.list[at] : NULL;
}

/* Its message is the caller's. */
static struct msg *app_preview_take_out(struct app *a, uint32_t at)
{
	struct state_preview *p = &a->state.preview;
	struct msg *msg = a->kept[at];

	if (a->forecast_serial == a->kept[at]->total)
		a->forecast_serial = 0; /* what comes is dropped */
	if (a->cost_serial == a->kept[at]->total) {
		worker_cancel_cost(a->worker);
		a->cost_serial = 0;
	}
	p->n--;
	memmove(a->kept + at, a->kept + at + 1, (p->n - at) * sizeof(*a->kept));
	memmove(p->list + at, p->list + at + 1, (p->n - at) * sizeof(*p->list));
	return msg;
}

static void app_preview_drop_kept(struct app *a, uint32_t at)
{
	msg_drop(app_preview_take_out(a, at));
}

/* --- asked ------------------------------------------------------------------------------- */

/* ~ becomes a folder.  What is no file but may be read for ever (a pipe, a terminal) is refused. */
static int app_preview_own_paths(struct preview_options *o, struct err *err)
{
	for (int i = 0; i < PARAM_TEXTS; i++) {
		char *path = o->text[i];
		struct stat st;

		if (param_of((enum param_id)i)->type != PARAM_FILE)
			continue;
		user_path_expand(path, PATH_TEXT);
		if (!strcmp(path, "-") ||
		    (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
			return err_set(err, -EINVAL, "%s is not a regular file", path);
	}
	return 0;
}

/* What the options name in files, which a thread of their own reads. */
struct preview_files {
	const struct fabric *fabric;
	uint32_t engine;
	struct preview_options asked, own; /* own: with whole paths, of the files that count */
	uint64_t *roots;
	size_t nroots;
	struct demand *demand;
};

static void app_preview_record_asked(struct app *a, const struct engine_choice *e,
				     const struct preview_options *o)
{
	char text[400], detail[PATH_TEXT + 440];

	preview_options_text(text, sizeof(text), o);
	snprintf(detail, sizeof(detail), "%s%s%s%s%s", e->engine->name, e->file ? " " : "",
		 e->file ? o->text[PARAM_TABLES] : "", text[0] ? " " : "", text);
	app_record_action(a, "preview", detail);
}

static void app_preview_begin(struct app *a, uint32_t engine, const struct preview_options *o)
{
	struct state_preview *p = &a->state.preview;

	a->preview_serial++;
	p->error[0] = p->step[0] = '\0';
	p->state = PREVIEW_RUNNING;
	p->engine = engine;
	p->fraction = p->eta_s = p->rate = NAN;
	p->step_done = p->step_total = 0;
	a->asked = *o;
	a->preview_start = a->step_start = clock_s();
}

void app_preview_propose(struct app *a, uint32_t engine, const struct preview_options *o,
			 const struct route_inputs *in, const struct auto_agents *who)
{
	app_preview_begin(a, engine, o);
	app_preview_record_asked(a, &a->state.preview.engines[engine], o);
	worker_propose(a->worker, in, who, a->preview_serial);
}

/* As a preview of tables that are there, which nobody has asked for by a key. */
static void app_preview_graft(struct app *a)
{
	const struct preview_options *o;
	struct route_inputs in;
	const struct fabric *was = app_graft_next(a, &in);
	uint32_t engine;

	if (!was)
		return;
	o = app_graft_options(a, &engine);
	app_preview_begin(a, engine, o);
	worker_graft(a->worker, &in, was, a->preview_serial);
	app_graft_asked(a);
}

/* 0, or -EINVAL with a sentence: of what is pinned or excluded. */
static int app_preview_ask(struct app *a, const struct preview_files *x, struct err *err)
{
	const struct preview_options *o = &x->own;
	struct state_preview *p = &a->state.preview;
	struct route_limits *limits = NULL;
	struct route_inputs in = {
		.f = a->state.fabric,
		.installed = a->state.tables && tables_know_vls(a->state.tables) ? a->state.tables
										 : NULL,
		.jobs = a->state.jobs,
		.demand = x->demand,
		.engine = p->engines[x->engine].engine,
		.params = o->params,
		.sm = app_sm_pin(a),
	};
	const char *pin = o->text[PARAM_PIN], *exclude = o->text[PARAM_EXCLUDE];
	int rc = pin[0] ? route_limits_pin(&limits, a->state.fabric, a->state.jobs, pin, err) : 0;

	if (!rc && exclude[0])
		rc = route_limits_exclude(&limits, a->state.fabric, exclude, err);
	if (rc)
		goto out;
	in.params.limits = limits;
	in.params.roots = x->roots;
	in.params.nroots = x->nroots;
	if (p->engines[x->engine].file)
		in.file = (struct route_file){ o->text[PARAM_TABLES], o->text[PARAM_TABLES_PATH_SL],
					       o->text[PARAM_TABLES_SL2VL] };
	app_preview_begin(a, x->engine, &x->asked);
	app_preview_record_asked(a, &p->engines[x->engine], o); /* with the paths that are read */
	worker_preview(a->worker, &in, a->preview_serial);
out:
	route_limits_free(limits);
	return rc;
}

static int app_preview_files_run(void *ctx, struct err *err)
{
	struct preview_files *x = ctx;
	int rc = app_preview_own_paths(&x->own, err);

	if (!rc && x->own.text[PARAM_ROOTS][0])
		rc = load_guids(&x->roots, &x->nroots, x->own.text[PARAM_ROOTS], err);
	if (!rc && x->own.text[PARAM_DEMAND][0])
		rc = load_demand(&x->demand, x->own.text[PARAM_DEMAND],
				 x->own.text[PARAM_RANKS][0] ? x->own.text[PARAM_RANKS] : NULL,
				 x->fabric, err);
	return rc;
}

static void app_preview_files_done(void *owner, void *ctx)
{
	const struct preview_files *x = ctx;
	struct app *a = owner;
	struct err err;

	if (x->fabric != a->state.fabric)
		app_fail(a, "preview", "the fabric changed while the files were being read");
	else if (app_preview_ask(a, x, &err))
		app_fail(a, "preview", err.text);
}

static void app_preview_files_failed(void *owner, void *ctx, int rc, const struct err *why)
{
	struct app *a = owner;

	(void)ctx;
	if (rc == -ECANCELED)
		shell_say(a->shell, "computation stopped; nothing was changed");
	else
		app_fail(a, "preview", why->text);
}

static void app_preview_files_free(void *ctx)
{
	struct preview_files *x = ctx;

	free(x->roots);
	demand_put(x->demand);
	fabric_put(x->fabric);
	free(x);
}

static const struct file_work_ops app_preview_files = {
	.what = "preview",
	.waited = true,
	.run = app_preview_files_run,
	.done = app_preview_files_done,
	.failed = app_preview_files_failed,
	.free = app_preview_files_free,
};

static bool app_preview_names_files(const struct preview_options *o)
{
	bool any = false;

	for (int i = 0; i < PARAM_TEXTS; i++)
		any |= param_of((enum param_id)i)->type == PARAM_FILE && o->text[i][0];
	return any;
}

void app_preview(struct app *a, uint32_t engine, const struct preview_options *o)
{
	struct preview_files x = { .engine = engine, .asked = *o, .own = *o }, *read;
	struct err err;

	if (a->state.preview.engines[engine]
		    .file) /* what is excluded or pinned it is held against */
		x.own.text[PARAM_ROOTS][0] = x.own.text[PARAM_DEMAND][0] = '\0';
	if (app_preview_names_files(&x.own)) {
		read = xcalloc(1, sizeof(*read));
		*read = x;
		read->fabric = fabric_get(a->state.fabric);
		app_files_start(a, &app_preview_files, read);
	} else if (app_preview_ask(a, &x, &err)) {
		app_fail(a, "preview", err.text);
	}
}

/* Nothing can be compared with LFTs alone: what somebody has ended goes on now. */
static bool app_preview_must_wait(struct app *a)
{
	if (a->state.mode == RUN_LIVE && a->feed && a->state.poll.tables_ended)
		app_tables_on(a);
	return app_tables_awaited(a);
}

static void app_preview_wait_for_tables(struct app *a, const struct request *r)
{
	struct state_preview *p = &a->state.preview;

	worker_cancel(a->worker);
	a->preview_serial++;
	a->due = *r;
	a->is_due = true;
	p->error[0] = '\0';
	snprintf(p->step, sizeof(p->step), "waiting for installed tables");
	p->state = PREVIEW_RUNNING;
	p->engine = r->engine;
	p->fraction = p->eta_s = p->rate = NAN;
	p->step_done = p->step_total = 0;
	a->preview_start = a->step_start = clock_s();
}

static void app_preview_due(struct app *a)
{
	if (!a->is_due || app_tables_awaited(a))
		return;
	a->is_due = false;
	a->state.preview.state = PREVIEW_IDLE;
	app_preview_start(a, &a->due);
}

void app_preview_cancel(struct app *a)
{
	if (a->is_due)
		a->state.preview.state = PREVIEW_CANCELLED;
	else
		worker_cancel(a->worker);
	a->is_due = false;
}

void app_preview_start(struct app *a, const struct request *r)
{
	struct state_preview *p = &a->state.preview;

	a->is_due = false;
	if (!a->state.fabric || r->engine >= p->nengines)
		shell_say(a->shell, "the fabric has not been discovered yet");
	else if (!p->engines[r->engine].suits)
		shell_say(a->shell, "%s cannot route this fabric: %.*s",
			  p->engines[r->engine].engine->name,
			  engine_choice_reason(&p->engines[r->engine]), p->engines[r->engine].why);
	else if (app_preview_must_wait(a))
		app_preview_wait_for_tables(a, r);
	else
		app_preview(a, r->engine, &r->options);
}

/* The next value of an option that is tried. */
static void app_preview_try_next(struct app *a)
{
	struct preview_options o;

	if (!app_trial_next(a, &o)) {
		app_want_cost(a);
		return;
	}
	app_preview(a, a->state.preview.trial.engine, &o);
	if (a->state.preview.state != PREVIEW_RUNNING) /* refused, with a sentence */
		app_trial_end(a);
}

void app_options_try(struct app *a, const struct request *r)
{
	struct state_preview *p = &a->state.preview;

	if (!a->state.fabric || r->engine >= p->nengines)
		shell_say(a->shell, "the fabric has not been discovered yet");
	else if (p->state == PREVIEW_RUNNING || app_tables_awaited(a))
		shell_say(a->shell, "one computation at a time: %s cancels the running one",
			  key_hint("cancel"));
	else if (!p->engines[r->engine].suits || p->engines[r->engine].file ||
		 app_preview_names_files(&r->options))
		shell_say(a->shell, "values are tried of engines that suit the fabric, with "
				    "options that name no files");
	else if (app_trial_begin(a, r))
		app_preview_try_next(a);
}

void app_plan_remove(struct app *a, uint32_t at)
{
	struct state_preview *p = &a->state.preview;

	if (at >= p->n)
		return;
	shell_say(a->shell, "plan %s discarded", p->list[at].id);
	app_preview_drop_kept(a, at);
	p->at = at < p->n ? at : p->n ? p->n - 1 : 0;
	if (!p->n && p->state == PREVIEW_DONE)
		p->state = PREVIEW_IDLE;
}

static void app_preview_drop(struct app *a)
{
	struct state_preview *p = &a->state.preview;

	app_trial_end(a);
	worker_cancel(a->worker);
	a->preview_serial++;
	while (p->n)
		app_preview_drop_kept(a, p->n - 1);
	a->is_due = false;
	p->state = PREVIEW_IDLE;
	p->at = 0;
}

/* Those of the same switches come back when they were judged with the hosts that are there now. */
static void app_preview_follow_hosts(struct app *a)
{
	const struct state_preview *p = &a->state.preview;
	uint32_t at = p->at;

	option_tries_clear(&a->tries);
	app_graft_fabric(a);
	for (uint32_t i = 0; p->n; i++) {
		struct plan_preview x = p->list[0];
		struct msg *msg = app_preview_take_out(a, 0);

		if (!app_graft_keep(a, msg, &x, i == at))
			msg_drop(msg);
	}
	app_preview_drop(a);
}

static void app_preview_end(struct app *a)
{
	app_preview_drop(a);
	option_tries_clear(&a->tries);
	app_graft_end(a);
}

/* --- still true? ------------------------------------------------------------------------- */

static void app_preview_judge_stale(const struct app *a, struct plan_preview *x,
				    const struct msg *msg)
{
	const struct tables *from = msg->from;

	x->stale[0] = '\0';
	if (!jobset_same(a->state.jobs, msg->running))
		snprintf(x->stale, sizeof(x->stale), "the jobs on several switches have changed");
	else if (a->state.tables && !from)
		snprintf(x->stale, sizeof(x->stale),
			 "it was computed before the installed tables "
			 "were known");
	else if (a->state.tables && a->state.tables != from &&
		 !tables_same(a->state.tables, from, a->state.fabric))
		snprintf(x->stale, sizeof(x->stale), "%s",
			 x->tables && tables_same(a->state.tables, x->tables, a->state.fabric)
				 ? "its own tables are installed now"
				 : "the installed tables have changed");
}

void app_stale(struct app *a)
{
	struct state_preview *p = &a->state.preview;

	for (uint32_t i = 0; a->state.fabric && i < p->n; i++)
		app_preview_judge_stale(a, &p->list[i], a->kept[i]);
}

/* --- the order of writes of each plan --------------------------------------------------- */

void app_order_begin(struct app *a)
{
	a->order_asked = clock_s();
	a->state.ordering = (struct state_ordering){ .most_s = NAN, .about_s = NAN };
}

static void app_preview_ask_order(struct app *a, uint32_t at, bool urgent)
{
	const struct plan_preview *x = &a->state.preview.list[at];
	struct route_inputs in = { .f = a->state.fabric,
				   .installed = a->kept[at]->from,
				   .tables = x->tables,
				   .files = x->files,
				   .jobs = a->kept[at]->running,
				   .demand = a->kept[at]->demand,
				   .sm = app_sm_pin(a) };

	in.opts.jobs = true; /* in whose pattern it was measured */
	in.opts.pattern = x->gate.pattern;
	a->cost_serial = a->kept[at]->total;
	app_order_begin(a);
	worker_cost(a->worker, &in, a->cost_serial, urgent);
}

void app_want_cost(struct app *a)
{
	const struct state_preview *p = &a->state.preview;

	for (uint32_t i = 0; i < p->n && !a->cost_serial; i++) {
		uint32_t at = (p->at + i) % p->n;
		const struct plan_preview *x = &p->list[at];

		if (x->order == ORDER_WAITS && !x->stale[0])
			app_preview_ask_order(a, at, false);
	}
}

static void app_preview_order_known(struct app *a, uint64_t serial)
{
	app_tell(a, &(struct app_news){ .type = NEWS_ORDER, .serial = serial });
}

void app_order_stop(struct app *a)
{
	struct state_preview *p = &a->state.preview;
	struct plan_preview *x = &p->list[p->at];
	uint64_t serial;

	if (!p->n || x->order != ORDER_WAITS)
		return;
	serial = a->kept[p->at]->total;
	x->order = ORDER_ENDED;
	snprintf(
		x->order_error, sizeof(x->order_error),
		"the search for a write order was stopped: %s%s%s starts it again, %s computes the "
		"plan again",
		a->state.rw ? key_hint("prepare") : "", a->state.rw ? " or " : "", key_hint("plan"),
		key_hint("again"));
	app_record_action(a, "order.stop", x->id);
	if (a->cost_serial == serial) {
		worker_cancel_cost(a->worker);
		a->cost_serial = 0;
	}
	app_preview_order_known(a, serial);
	app_want_cost(a);
}

void app_order_again(struct app *a)
{
	struct state_preview *p = &a->state.preview;

	if (!p->n || p->list[p->at].order != ORDER_ENDED)
		return;
	p->list[p->at].order = ORDER_WAITS;
	p->list[p->at].order_error[0] = '\0';
	app_record_action(a, "order.again", p->list[p->at].id);
	app_order_hurry(a);
}

void app_order_hurry(struct app *a)
{
	const struct state_preview *p = &a->state.preview;
	bool runs = a->work.on && a->work.type == MSG_COST_STEP;

	if (a->cost_serial == a->kept[p->at]->total && runs)
		return;
	app_preview_ask_order(a, p->at, true);
}

/* --- what traffic is to expect ----------------------------------------------------------- */

/* A preview may be older than the second sample of the counters. */
static bool app_preview_wants_traffic(const struct app *a, const struct plan_preview *x)
{
	return a->state.rates && a->state.sample_summary && a->state.sample_summary->load_pct > 0 &&
	       !x->traffic_plan.known && !x->traffic_tried && !x->forecast_ended && !x->stale[0];
}

static void app_preview_want_forecast(struct app *a)
{
	const struct state_preview *p = &a->state.preview;

	for (uint32_t i = 0; i < p->n && !a->forecast_serial; i++) {
		uint32_t at = (p->at + i) % p->n;
		const struct plan_preview *x = &p->list[at];
		struct forecast_ask ask = { .fabric = a->state.fabric,
					    .from = a->kept[at]->from,
					    .to = x->tables,
					    .jobs = x->jobs,
					    .rates = a->state.rates,
					    .traffic_only = !x->forecasting,
					    .serial = a->kept[at]->total };

		if (!x->forecasting && !app_preview_wants_traffic(a, x))
			continue;
		a->forecast_serial = ask.serial;
		worker_forecast(a->worker, &ask);
	}
}

/* --- what came --------------------------------------------------------------------------- */

/* The one that is looked at stays. */
static void app_preview_make_room(struct app *a)
{
	struct state_preview *p = &a->state.preview;

	if (p->n < PLANS_MAX)
		return;
	app_preview_drop_kept(a, p->at == 0);
}

/* Under the name that it has from now on. */
static void app_preview_record_made(struct app *a, const struct plan_preview *x)
{
	char what[PATH_TEXT + 64];

	snprintf(what, sizeof(what), "%s %s%s%s", x->id,
		 a->state.preview.engines[x->engine].engine->name, x->files->n ? " " : "",
		 x->files->n ? x->files->file[0].path : "");
	app_record_action(a, "computed", what);
}

/* Its plan has another name when the subnet manager is another one since. */
static void app_preview_follow_name(struct app *a, struct plan_preview *x, const struct plan *plan)
{
	if (!strcmp(x->id, plan->id))
		return;
	log_add(LOG_INFO, "preview", "plan %s is now called %s", x->id, plan->id);
	snprintf(x->id, sizeof(x->id), "%s", plan->id);
	app_preview_record_made(a, x);
}

/* An engine has computed it, from its options alone: no file, nothing that only follows the hosts,
 * and not automatic mode, which may repair instead. */
static bool app_preview_by_options(const struct app *a, const struct msg *msg)
{
	return !msg->files.n && msg->total != a->graft_serial && msg->total != a->automatic.preview;
}

/* Asked for by the operator, with the same engine and options as a plan that is here: which it is
 * once more, or which is out of date.  PLANS_MAX: none. */
static uint32_t app_preview_place_of(const struct app *a, const struct msg *msg)
{
	const struct state_preview *p = &a->state.preview;
	char differ[64];

	if (msg->total == a->graft_serial || msg->total == a->automatic.preview)
		return PLANS_MAX;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct plan_preview *x = &p->list[i];

		if (x->engine == p->engine &&
		    !*option_result_options(differ, sizeof(differ), &x->options, &a->asked) &&
		    (x->stale[0] || tables_same(x->tables, msg->tables, a->state.fabric)))
			return i;
	}
	return PLANS_MAX;
}

/* Where a plan goes: at the end, or to the place of the one that it replaces. */
static uint32_t app_preview_place(struct app *a, const struct msg *msg)
{
	struct state_preview *p = &a->state.preview;
	uint32_t to = app_preview_place_of(a, msg);

	if (to == PLANS_MAX) {
		app_preview_make_room(a);
		return p->n++;
	}
	if (p->list[to].stale[0])
		shell_say(a->shell, "computed again, in place of the stale %s", p->list[to].id);
	else
		shell_say(a->shell, "computed again: the same plan");
	app_preview_drop_kept(a, to);
	memmove(a->kept + to + 1, a->kept + to, (p->n - to) * sizeof(*a->kept));
	memmove(p->list + to + 1, p->list + to, (p->n - to) * sizeof(*p->list));
	p->n++;
	return to;
}

static void app_preview_keep(struct app *a, struct msg *msg)
{
	struct state_preview *p = &a->state.preview;
	struct plan_preview *x;
	uint32_t to = app_preview_place(a, msg);
	bool selected = true, by_options = app_preview_by_options(a, msg);

	a->kept[to] = msg;
	x = &p->list[to];
	*x = (struct plan_preview){
		.engine = p->engine,
		.options = a->asked,
		.made_s = time(NULL),
		.seconds = msg->seconds,
		.files = &msg->files,
		.notes = &msg->notes,
		.from = msg->from,
		.tables = msg->tables,
		.jobs = msg->jobs,
		.before = msg->before,
		.after = msg->after,
		.time_now = msg->time_now,
		.time_plan = msg->time_plan,
		.gate = msg->gate,
		.jobs_time = &msg->jobs_time,
		.messages = &msg->messages,
		.verdict = msg->verdict,
		.diff = msg->diff,
		.forecasting = true,
		.order = msg->ordered				 ? ORDER_FOUND
			 : msg->diff && verdict_ok(msg->verdict) ? ORDER_WAITS
								 : ORDER_NONE,
		.ordered = msg->ordered, /* automatic mode has it already */
	};
	snprintf(x->id, sizeof(x->id), "%.7s", msg->txn);
	if (!x->id[0]) /* of no plan */
		snprintf(x->id, sizeof(x->id), "p-%u", ++a->numbered % 1000);
	if (by_options)
		option_tries_take(&a->tries, x, a->state.fabric);
	app_graft_made(a, msg, x, &selected);
	if (selected)
		p->at = to;
	app_preview_record_made(a, x);
}

/* First in the log, and in a narrow one all that is left: EFI explains it. */
static const char *app_preview_time(char buf[140], const struct msg *msg)
{
	const struct time_summary *now = &msg->time_now, *plan = &msg->time_plan;
	const struct pattern_time *a = &now->of[PREDICT_ALLTOALL], *b = &plan->of[PREDICT_ALLTOALL];

	buf[0] = '\0';
	if (now->known && now->jobs && plan->known && plan->jobs)
		snprintf(buf, 140, "job time %+.0f%% (%s%.2fx -> %.2fx, %.2f -> %.2f ms/MiB), ",
			 100 * (b->mean.mean / a->mean.mean - 1),
			 msg->messages.known ? "large messages: " : "", a->mean.mean, b->mean.mean,
			 1e3 * a->s_per_MiB, 1e3 * b->s_per_MiB);
	return buf;
}

static bool app_preview_take_plan(struct app *a, struct msg *msg)
{
	struct state_preview *p = &a->state.preview;
	char time[140];

	if (msg->total != a->preview_serial || p->state != PREVIEW_RUNNING)
		return false;
	if (app_trial_on(a)) {
		if (app_trial_take(a, msg))
			app_preview_try_next(a);
		else
			app_want_cost(a);
		return false;
	}
	if (app_graft_failed(a, msg)) {
		p->state = p->n ? PREVIEW_DONE : PREVIEW_IDLE;
		return false;
	}
	if (msg->type == MSG_PREVIEW_FAILED) {
		p->state = msg->rc == -ECANCELED ? PREVIEW_CANCELLED : PREVIEW_FAILED;
		snprintf(p->error, sizeof(p->error), "%s", msg->text);
		if (msg->rc != -ECANCELED) {
			log_add(LOG_WARN, "preview", "%s", msg->text);
			app_record_error(a, "preview", msg->text);
		}
		app_want_cost(a);
		return false;
	}
	p->state = PREVIEW_DONE;
	app_preview_keep(a, msg);
	if (msg->before)
		log_add(LOG_INFO, "preview",
			"%s %s: %smax job EFI %lu -> %lu (lower bound %lu), computed in %.2f s",
			p->list[p->at].id, msg->tables->engine, app_preview_time(time, msg),
			(unsigned long)msg->before->eff_efi_max,
			(unsigned long)msg->after->eff_efi_max,
			(unsigned long)msg->after->eff_efi_bound, msg->seconds);
	app_stale(a);
	app_preview_want_forecast(a);
	return true;
}

/* What gave way to something else is asked for again. */
static void app_preview_take_forecast(struct app *a, const struct msg *msg)
{
	struct plan_preview *x = app_preview_of(a, msg->total);
	bool whole = msg->type == MSG_FORECAST;

	if (msg->total == a->forecast_serial)
		a->forecast_serial = 0;
	if (x && msg->rc != -ECANCELED) {
		x->forecasting &= !whole;
		x->traffic_tried |= !whole;
	}
	if (x && !msg->rc && whole) {
		x->now = msg->now;
		x->plan = msg->plan;
		job_time_changes_add_rates(&a->kept[x - a->state.preview.list]->jobs_time,
					   msg->rates_now, msg->rates_plan, x->jobs);
	}
	if (x && !msg->rc) {
		x->traffic_now = msg->traffic_now;
		x->traffic_plan = msg->traffic_plan;
	}
	app_preview_want_forecast(a);
	app_want_cost(a);
}

void app_forecast_stop(struct app *a)
{
	struct plan_preview *x = app_preview_of(a, a->forecast_serial);

	if (!x)
		return;
	x->forecast_ended = true;
	x->forecasting = false;
	worker_cancel_background(a->worker);
}

void app_forecasts_again(struct app *a)
{
	struct state_preview *p = &a->state.preview;

	for (uint32_t i = 0; i < p->n; i++) {
		struct plan_preview *x = &p->list[i];

		x->forecasting |= x->forecast_ended && !x->plan.known;
		x->forecast_ended = false;
	}
	app_preview_want_forecast(a);
}

static void app_preview_take_step(struct app *a, const struct msg *msg)
{
	struct state_preview *p = &a->state.preview;

	if (strcmp(p->step, msg->step)) {
		snprintf(p->step, sizeof(p->step), "%s", msg->step);
		a->step_start = clock_s();
	}
	p->part = msg->part;
	p->parts = msg->parts;
	p->step_done = msg->done;
	p->step_total = msg->total;
	p->fraction = msg->total ? (double)msg->done / (double)msg->total : NAN;
	p->eta_s = p->rate = NAN;
	if (msg->done && clock_s() - a->step_start > 0.2)
		p->rate = (double)msg->done / (clock_s() - a->step_start);
	if (p->fraction > 0.02)
		p->eta_s = (clock_s() - a->step_start) * (1 - p->fraction) / p->fraction;
}

/* --- as a plan ------------------------------------------------------------------------------ */

static void app_preview_take_cost(struct app *a, struct msg *msg)
{
	uint32_t at = app_plan_find(a, msg->total);
	struct plan_preview *x;

	if (msg->total == a->cost_serial)
		a->cost_serial = 0;
	if (at < PLANS_MAX && msg->rc != -ECANCELED) {
		x = &a->state.preview.list[at];
		x->order = msg->ordered ? ORDER_FOUND : ORDER_FAILED;
		snprintf(x->order_error, sizeof(x->order_error), "%.399s", msg->text);
		plan_free(a->kept[at]->ordered);
		x->ordered = a->kept[at]->ordered = msg->ordered;
		msg->ordered = NULL;
		if (x->ordered)
			app_preview_follow_name(a, x, x->ordered);
		app_preview_order_known(a, msg->total);
	}
	app_want_cost(a);
}

int app_plan_make(struct plan **out, struct app *a, struct err *err)
{
	struct state_preview *p = &a->state.preview;
	const struct plan *known = p->n ? p->list[p->at].ordered : NULL;
	struct sm_pin pin = app_sm_pin(a);

	if (!known)
		return err_set(err, -EAGAIN, "no write order has been found yet");
	if (a->state.tables != known->from &&
	    !tables_same(a->state.tables, known->from, a->state.fabric))
		return err_set(err, -EAGAIN, "the write order is for other installed tables");
	*out = plan_again(known, &pin, time(NULL));
	app_preview_follow_name(a, &p->list[p->at], *out);
	return 0;
}

struct saving {
	struct plan *plan;
	char path[PATH_TEXT];
};

static int app_preview_save_run(void *ctx, struct err *err)
{
	struct saving *s = ctx;

	user_path_expand(s->path, sizeof(s->path));
	if (!access(s->path, F_OK))
		return err_set(err, -EEXIST, "%s already exists: choose another name", s->path);
	return plan_save(s->path, s->plan, err);
}

static void app_preview_save_done(void *owner, void *ctx)
{
	const struct saving *s = ctx;
	char what[PATH_TEXT + 16];
	struct app *a = owner;

	shell_say(a->shell, "plan %s saved; apply it with: ibroute-top apply %s", s->plan->id,
		  s->path);
	snprintf(what, sizeof(what), "%s %s", s->plan->id, s->path);
	app_record_action(a, "plan.save", what);
}

static void app_preview_save_free(void *ctx)
{
	struct saving *s = ctx;

	plan_free(s->plan);
	free(s);
}

static const struct file_work_ops app_preview_save = {
	.what = "plan",
	.waited = true,
	.run = app_preview_save_run,
	.done = app_preview_save_done,
	.free = app_preview_save_free,
};

void app_plan_save(struct app *a, const char *to)
{
	const struct state_preview *p = &a->state.preview;
	struct plan *plan;
	struct saving *s;
	struct err err;
	int rc;

	if (!p->n)
		return;
	rc = p->list[p->at].stale[0]
		     ? err_set(&err, -ESTALE, "the plan is stale: %s; compute it again",
			       p->list[p->at].stale)
		     : app_plan_make(&plan, a, &err);
	if (rc) {
		app_fail(a, "plan", err.text);
		return;
	}
	s = xcalloc(1, sizeof(*s));
	s->plan = plan;
	snprintf(s->path, sizeof(s->path), "%s", to);
	app_files_start(a, &app_preview_save, s);
}

/* --- a part of the console ------------------------------------------------------------------ */

static bool app_preview_take(struct app *a, struct msg *msg, bool *kept)
{
	switch (msg->type) {
	case MSG_WORK_STEP:
		app_preview_take_step(a, msg);
		return true;
	case MSG_PREVIEW:
	case MSG_PREVIEW_FAILED:
		*kept = app_preview_take_plan(a, msg);
		return true;
	case MSG_FORECAST:
	case MSG_TRAFFIC:
		app_preview_take_forecast(a, msg);
		return true;
	case MSG_COST:
		app_preview_take_cost(a, msg);
		return true;
	default:
		return false;
	}
}

/* One that waits for the tables tells how far these are. */
static void app_preview_tables_reading(struct app *a, const struct msg *msg)
{
	struct state_preview *p = &a->state.preview;

	if (!a->is_due)
		return;
	if (msg->total) {
		p->fraction = (double)msg->done / (double)msg->total;
		p->step_done = msg->done;
		p->step_total = msg->total;
	}
	if (a->state.poll.tables_ended)
		app_preview_cancel(a);
}

static void app_preview_hear(struct app *a, const struct app_news *n)
{
	switch (n->type) {
	case NEWS_FABRIC:
		app_preview_follow_hosts(a);
		break;
	case NEWS_TABLES:
	case NEWS_JOBS:
		app_trial_follow(a);
		app_stale(a);
		break;
	case NEWS_TABLES_READING:
		app_preview_tables_reading(a, n->msg);
		break;
	case NEWS_SAMPLE:
		app_preview_want_forecast(a);
		break;
	case NEWS_ALL_TAKEN:
		app_preview_due(a);
		app_preview_graft(a);
		break;
	default:
		break;
	}
}

static void app_preview_refresh(struct app *a)
{
	struct state_preview *p = &a->state.preview;

	p->tries = a->tries.list;
	p->ntries = a->tries.n;
	for (uint32_t i = 0; i < p->n; i++)
		p->list[i].ordering = a->cost_serial && a->kept[i]->total == a->cost_serial;
	a->state.ordering.took_s = clock_s() - a->order_asked;
	if (p->state == PREVIEW_RUNNING)
		p->elapsed_s = clock_s() - a->preview_start;
}

const struct app_part app_preview_part = {
	.take = app_preview_take,
	.hear = app_preview_hear,
	.refresh = app_preview_refresh,
	.end = app_preview_end,
};
