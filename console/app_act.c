/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the operator asks for becomes action. */
#include "console/app_priv.h"

#include "console/update_record.h"
#include "fabric/base/clock.h"
#include "fabric/base/mem.h"
#include "fabric/update/journal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double intervals_s[] = { 0.2, 0.5, 1, 2, 5, 10, 30, 60 };
#define INTERVALS (sizeof(intervals_s) / sizeof(*intervals_s))

static void record_action(struct app *a, const char *action, const char *detail)
{
	struct err err;
	json_t *data;

	if (!a->record)
		return;
	data = json_object();
	json_object_set_new(data, "action", json_string(action));
	if (detail)
		json_object_set_new(data, "detail", record_str(detail));
	if (record_add(a->record, "key.action", data, &err))
		log_add(LOG_ERROR, "record", "%s", err.text);
}

/* --- polling ----------------------------------------------------------------------------- */

static void change_interval(struct app *a, bool faster)
{
	double now = a->state.poll.interval_s, next = now;

	for (size_t i = 0; i < INTERVALS; i++) {
		if (!faster && intervals_s[i] > now) {
			next = intervals_s[i];
			break;
		}
		if (faster && intervals_s[i] < now)
			next = intervals_s[i];
	}
	a->state.poll.interval_s = next;
	if (a->poller)
		poller_interval(a->poller, next);
	ui_say(a->ui, "counters every %g s", next);
}

static void toggle_freeze(struct app *a)
{
	if (a->state.mode == RUN_FROZEN) {
		app_unfreeze(a);
		ui_say(a->ui,
		       a->lost ? "no longer frozen; the fabric does not answer" : "live again");
	} else if (a->state.mode != RUN_FILE) {
		a->state.mode = RUN_FROZEN;
		ui_say(a->ui, "frozen: nothing below changes until Z; polling goes on");
	}
}

/* A stop stops the thread that writes as well, and the switches would be left between two
 * routings. */
static void suspend(struct app *a)
{
	enum apply_state s = a->state.apply.state;

	if (s == APPLY_RUNNING || s == APPLY_ROLLING_BACK)
		ui_say(a->ui, "routes are being written: this can be stopped when it is done");
	else
		terminal_suspend(a->term);
}

static void snapshot(struct app *a)
{
	char dir[256];
	struct err err;

	if (app_snapshot(a, dir, sizeof(dir), &err)) {
		ui_say(a->ui, "%s", err.text);
		return;
	}
	record_action(a, "snapshot", dir);
	ui_say(a->ui, "saved; look at it with --load %s", dir);
}

/* --- previews ---------------------------------------------------------------------------- */

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
	record_action(a, "preview", e->name);
	worker_preview(a->worker, a->fabric, a->tables, a->jobs, e, params, ++a->preview_serial);
}

static void start_preview(struct app *a, const struct request *r)
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

/* --- updates
 * --------------------------------------------------------------------------------------- */

static void refuse(struct app *a, const char *why)
{
	struct state_apply *s = &a->state.apply;

	memset(s, 0, sizeof(*s));
	s->state = APPLY_REFUSED;
	snprintf(s->result, sizeof(s->result), "%.255s", why);
	log_add(LOG_WARN, "apply", "%s", why);
}

bool app_updating(const struct app *a)
{
	return a->updater.ops && a->updater.ops->busy(a->updater.ctx);
}

static void set_steps(struct state_apply *s)
{
	static const char *const names[] = { "PREPARE", "UNPATH", "WRITE",
					     "VERIFY",	"REPATH", "CONFIRM" };
	static const uint8_t phases[] = { PHASE_PREPARE, PHASE_UNPATH, PHASE_WRITE, 0,
					  PHASE_REPATH,	 PHASE_CONFIRM };

	s->nsteps = sizeof(names) / sizeof(*names);
	for (uint32_t i = 0; i < s->nsteps; i++) {
		memset(&s->steps[i], 0, sizeof(s->steps[i]));
		s->steps[i].took_s = NAN;
		s->steps[i].phase = phases[i];
		snprintf(s->steps[i].name, sizeof(s->steps[i].name), "%s", names[i]);
	}
}

/* Why the preview cannot become a plan; NULL when it can. */
static const char *not_ready(const struct app *a)
{
	const struct state_preview *p = &a->state.preview;

	if (!a->poller)
		return "a file cannot be written to: this needs a fabric";
	if (!a->state.rw)
		return "this console only reads: start it with --rw to write routes";
	if (a->lost)
		return "the fabric does not answer: what is installed is not known";
	if (a->fabric_partial && a->state.poll.missing_sw)
		return "switches known before did not answer the last sweep (view 8 names them), "
		       "and routes without them may cut them off: Ctrl-R sweeps again";
	if (p->state != PREVIEW_DONE || !p->diff)
		return "there is no finished preview to apply: compute one in view 6";
	if (!verdict_ok(p->verdict))
		return "these tables did not pass the checks and will not be written";
	if (a->tables_partial)
		return "not all installed tables could be read, so they could not be put back";
	if (p->stale[0])
		return "the preview is out of date: compute it again in view 6";
	if (p->diff->sl_pairs && !a->demo)
		return "this routing needs other service levels, and writing tables does not tell "
		       "the hosts: choose an engine that stays on one VL here (updn), or have the "
		       "subnet manager load it (ibroute-top route --out)";
	return NULL;
}

static void show_order(struct state_apply *s, const struct plan *plan)
{
	const struct changes *l = plan->changes;

	snprintf(s->waves, sizeof(s->waves), "%u wave%s, %u block writes, %u SL2VL tables",
		 l->nwaves, l->nwaves == 1 ? "" : "s", l->nlft, l->nsl2vl);
	drain_text(s->drain, sizeof(s->drain), &plan->drain, plan->jobs);
}

/* The worker looks for the order of its writes; takes the plan. */
static void order_plan(struct app *a, struct plan *plan)
{
	struct state_apply *s = &a->state.apply;

	plan_free(a->plan);
	a->plan = NULL;
	tdiff_free(a->apply_diff);
	memset(s, 0, sizeof(*s));
	set_steps(s);
	a->apply_diff = tdiff_new(a->fabric, plan->from, plan->to);
	s->diff = a->apply_diff;
	snprintf(s->plan, sizeof(s->plan), "%.15s -> %.15s", plan->from->engine, plan->to->engine);
	s->state = APPLY_ORDERING;
	worker_order(a->worker, plan, ++a->order_serial);
}

/* Takes the plan; it waits for the fabric's name. */
static void offer_plan(struct app *a, struct plan *plan)
{
	struct state_apply *s = &a->state.apply;

	plan_free(a->plan);
	tdiff_free(a->apply_diff);
	a->plan = plan;
	memset(s, 0, sizeof(*s));
	set_steps(s);
	show_order(s, plan);
	s->state = APPLY_READY;
	a->apply_diff = tdiff_new(a->fabric, plan->from, plan->to);
	s->diff = a->apply_diff;
	snprintf(s->plan, sizeof(s->plan), "%.7s %.15s -> %.15s", plan->id, plan->from->engine,
		 plan->to->engine);
	snprintf(s->installer, sizeof(s->installer), "%s",
		 a->demo	     ? "sim"
		 : a->opts.installer ? a->opts.installer
				     : "best");
	if (a->record)
		update_record_plan(a->record, plan);
	if (plan_empty(plan))
		refuse(a, "nothing to do: these tables are installed already");
}

void app_ordered(struct app *a, struct msg *msg)
{
	struct plan *plan = msg->ordered;

	if (msg->total != a->order_serial || a->state.apply.state != APPLY_ORDERING)
		return;
	if (!plan) {
		refuse(a, msg->rc == -ECANCELED ? "stopped: there is no plan" : msg->text);
		return;
	}
	msg->ordered = NULL;
	offer_plan(a, plan);
}

static struct sm_pin sm_known(const struct app *a)
{
	return (struct sm_pin){ .guid = a->state.sm.known ? a->sm.guid : 0,
				.priority = a->sm.priority };
}

void app_prepare_update(struct app *a)
{
	const struct state_preview *p = &a->state.preview;
	struct sm_pin pin = sm_known(a);
	const char *why = not_ready(a);
	struct plan *plan;
	struct err err;

	if (app_updating(a)) {
		ui_say(a->ui, "another update is under way");
		return;
	}
	if (why) {
		refuse(a, why);
		return;
	}
	if (plan_new(&plan, a->fabric, a->tables, p->tables, p->jobs, &pin, time(NULL), &err)) {
		refuse(a, err.text);
		return;
	}
	order_plan(a, plan);
}

static bool name_typed(struct app *a, const char *text)
{
	if (a->fabric && !strcmp(text, a->fabric->name))
		return true;
	ui_say(a->ui, "'%s' is not the name of this fabric: nothing was done", text);
	return false;
}

void app_begin_update(struct app *a)
{
	record_action(a, "apply.start", a->plan->id);
	a->state.apply.state = APPLY_RUNNING;
	a->state.apply.steps[0].state = STEP_RUNNING;
	a->apply_step_start = clock_s();
	a->rollback_asked = false;
	tables_put(a->undo);
	a->undo = tables_get(a->plan->from);
	tables_put(a->applied);
	a->applied = tables_get(a->plan->to);
	a->updater.ops->apply(a->updater.ctx, a->plan, a->jobs);
	a->plan = NULL;
}

static void start_update(struct app *a, const char *text)
{
	if (a->state.apply.state == APPLY_READY && a->plan && name_typed(a, text))
		app_begin_update(a);
}

/* A kept update is undone by a plan of its own: typed and recorded like any other. */
static void undo_kept(struct app *a)
{
	struct sm_pin pin = sm_known(a);
	const struct tables *back = a->undo;
	struct plan *plan;
	struct err err;

	if (!back || !a->tables || !digest_equal(&back->fingerprint, &a->fabric->fingerprint)) {
		ui_say(a->ui, "the fabric changed since: the routing from before does not fit it");
		return;
	}
	if (plan_new(&plan, a->fabric, a->tables, back, a->jobs, &pin, time(NULL), &err)) {
		refuse(a, err.text);
		return;
	}
	a->undo = NULL;
	order_plan(a, plan);
	tables_put(back);
	ui_say(a->ui, "the way back is a plan like any other: Enter, then type the fabric's name");
}

static void roll_back(struct app *a)
{
	struct state_apply *s = &a->state.apply;

	a->rollback_asked = true;
	switch (s->state) {
	case APPLY_JOURNAL:
		record_action(a, "recover", a->journal_txn);
		s->state = APPLY_ROLLING_BACK;
		a->updater.ops->recover(a->updater.ctx, a->journal_txn);
		break;
	case APPLY_RUNNING:
		record_action(a, "abort", s->txn);
		a->updater.ops->cancel(a->updater.ctx);
		break;
	case APPLY_CONFIRM:
	case APPLY_INCOMPLETE:
		record_action(a, "rollback", s->txn);
		s->state = APPLY_ROLLING_BACK;
		a->updater.ops->rollback(a->updater.ctx);
		break;
	case APPLY_KEPT:
		undo_kept(a);
		break;
	default:
		break;
	}
}

static void apply_log(struct app *a, enum log_level level, const char *text)
{
	struct state_apply *s = &a->state.apply;
	struct log_line *line = &s->log[s->log_total++ % APPLY_LOG];

	memset(line, 0, sizeof(*line));
	line->time_ns = (uint64_t)time(NULL) * 1000000000u;
	line->level = level;
	snprintf(line->area, sizeof(line->area), "apply");
	snprintf(line->text, sizeof(line->text), "%s", text);
}

static struct apply_step *known_step(struct state_apply *s, const char *name)
{
	for (uint32_t i = 0; i < s->nsteps; i++)
		if (!strcmp(s->steps[i].name, name))
			return &s->steps[i];
	return NULL;
}

/* Adds it where it is not yet; NULL: no room. */
static struct apply_step *find_step(struct state_apply *s, const char *name)
{
	struct apply_step *step = known_step(s, name);

	if (step)
		return step;
	if (s->nsteps == APPLY_STEPS)
		return NULL;
	s->steps[s->nsteps].took_s = NAN;
	snprintf(s->steps[s->nsteps].name, sizeof(s->steps[0].name), "%s", name);
	return &s->steps[s->nsteps++];
}

static void step_is(struct app *a, const char *name, enum step_state state, const char *text)
{
	struct apply_step *step = find_step(&a->state.apply, name);

	if (!step)
		return;
	if (state == STEP_RUNNING && step->state != STEP_RUNNING)
		a->apply_step_start = clock_s();
	step->took_s = clock_s() - a->apply_step_start;
	step->state = state;
	if (text)
		snprintf(step->text, sizeof(step->text), "%.119s", text);
}

/* What a phase is about to do, for the log. */
static void begun(struct app *a, const struct apply_event *ev)
{
	char text[160];

	switch (ev->phase) {
	case PHASE_PREPARE:
		snprintf(text, sizeof(text),
			 "reading the fabric anew and %u blocks: is the plan still true?",
			 ev->items);
		break;
	case PHASE_UNPATH:
	case PHASE_REPATH:
		return; /* told when they are asked */
	case PHASE_WRITE:
		snprintf(text, sizeof(text), "wave %u: writing %u blocks", ev->wave + 1, ev->items);
		break;
	case PHASE_CONFIRM:
		snprintf(text, sizeof(text),
			 "the switches have the new routing; it waits to be kept");
		break;
	case PHASE_ROLLBACK:
		snprintf(text, sizeof(text), "writing the old contents back: %.120s", ev->text);
		break;
	default:
		snprintf(text, sizeof(text), "%.150s", ev->text);
	}
	if (text[0])
		apply_log(a, ev->phase == PHASE_ROLLBACK ? LOG_WARN : LOG_INFO, text);
}

static void ended(struct app *a, const struct apply_event *ev, const struct apply_status *st)
{
	char text[200];

	snprintf(text, sizeof(text), "%.190s", ev->text);
	if (ev->phase == PHASE_WRITE && !ev->rc)
		snprintf(text, sizeof(text), "%u blocks on %u switches", st->total,
			 a->apply_diff ? a->apply_diff->switches : 0);
	step_is(a, phase_name(ev->phase), ev->rc ? STEP_FAILED : STEP_DONE, text);
	if (ev->phase == PHASE_PREPARE && !ev->rc)
		snprintf(text, sizeof(text), "the plan is still true; old contents saved as %.48s",
			 st->txn);
	if (text[0] && ev->phase != PHASE_WRITE)
		apply_log(a, ev->rc ? LOG_WARN : LOG_INFO, text);
}

static void read_back(struct app *a, const struct apply_event *ev, const struct apply_status *st)
{
	bool back = ev->phase == PHASE_ROLLBACK;
	struct apply_step *step;
	char text[120];

	snprintf(text, sizeof(text), "%u of %u read back %s, %u retries", st->verified, st->total,
		 back ? "with their old contents" : "as written", st->retries);
	step_is(a, back ? phase_name(PHASE_ROLLBACK) : "VERIFY",
		ev->rc ? STEP_FAILED
		: back ? STEP_RUNNING
		       : STEP_DONE,
		text);
	step = known_step(&a->state.apply, "VERIFY");
	if (step)
		step->took_s = NAN; /* part of writing */
	apply_log(a, ev->rc ? LOG_WARN : LOG_INFO, text);
}

/* The end: no step may look as if it still ran. */
static void end_steps(struct app *a, bool well)
{
	struct state_apply *s = &a->state.apply;

	for (uint32_t i = 0; i < s->nsteps; i++) {
		struct apply_step *step = &s->steps[i];

		if (step->state != STEP_RUNNING)
			continue;
		step->took_s = clock_s() - a->apply_step_start;
		step->state = well ? STEP_DONE : STEP_FAILED;
		if (well && !strcmp(step->name, "CONFIRM"))
			snprintf(step->text, sizeof(step->text), "kept");
	}
}

static void over(struct app *a, const struct apply_event *ev, const struct apply_status *st)
{
	const char *what = a->state.apply.plan[0] ? a->state.apply.plan : st->txn;
	bool kept = ev->outcome == OUTCOME_CONFIRMED;
	char text[320];

	end_steps(a, kept || ev->outcome == OUTCOME_ROLLED_BACK);
	if (kept)
		snprintf(text, sizeof(text), "%.60s: kept, %u blocks on %u switches", what,
			 st->total, a->apply_diff ? a->apply_diff->switches : 0);
	else
		snprintf(text, sizeof(text), "%.60s: %s: %.190s", what, outcome_name(ev->outcome),
			 ev->text);
	log_add(kept ? LOG_INFO : LOG_WARN, "apply", "%s", text);
	apply_log(a, kept || a->rollback_asked ? LOG_INFO : LOG_WARN, text);
}

/* What agents are asked, and what became of it. */
static void agents(struct app *a, const struct apply_event *ev, const struct apply_status *st)
{
	const char *what = ev->asked == PHASE_UNPATH ? "drain" : "return";
	char text[200];

	switch (ev->kind) {
	case APPLY_ASK:
		snprintf(text, sizeof(text), "%u agents are asked to %s", ev->items, what);
		if (ev->phase != PHASE_ROLLBACK)
			step_is(a, phase_name(ev->phase), STEP_RUNNING, text);
		break;
	case APPLY_ANSWER:
		snprintf(text, sizeof(text), "%.190s", ev->text);
		break;
	default:
		snprintf(text, sizeof(text), "%.190s", ev->text);
		if (ev->phase == PHASE_ROLLBACK)
			break;
		snprintf(text, sizeof(text), "%u of %u did %s, %u could not, %u silent%s%.60s",
			 st->agents.done, st->agents.expected, what, st->agents.failed,
			 st->agents.silent, st->agents.who[0] ? ": " : "", st->agents.who);
		step_is(a, phase_name(ev->asked), ev->rc ? STEP_FAILED : STEP_DONE, text);
	}
	apply_log(a, ev->kind != APPLY_ASK && ev->rc ? LOG_WARN : LOG_INFO, text);
}

/* A phase that was passed over does not wait any more. */
static void passed_over(struct app *a, const char *name)
{
	const struct apply_step *step = known_step(&a->state.apply, name);

	if (step && step->state == STEP_WAIT)
		step_is(a, name, STEP_SKIPPED, "nobody to ask");
}

void app_apply_event(struct app *a, const struct msg *msg)
{
	struct state_apply *s = &a->state.apply;
	const struct apply_event *ev = &msg->event;
	const struct apply_status *st = &msg->apply;

	snprintf(s->txn, sizeof(s->txn), "%s", st->txn);
	s->done = ev->kind == APPLY_VERIFY ? st->verified : st->written;
	s->total = st->total;
	s->retries = st->retries;
	switch (ev->kind) {
	case APPLY_PHASE_BEGIN:
		if (ev->phase == PHASE_ROLLBACK) {
			s->state = APPLY_ROLLING_BACK;
			if (known_step(s, "CONFIRM"))
				step_is(a, "CONFIRM", STEP_SKIPPED, "not kept");
		}
		if (ev->phase == PHASE_WRITE)
			passed_over(a, "UNPATH");
		if (ev->phase == PHASE_CONFIRM)
			passed_over(a, "REPATH");
		step_is(a, phase_name(ev->phase), STEP_RUNNING, ev->text);
		begun(a, ev);
		break;
	case APPLY_PHASE_END:
		if (ev->phase != PHASE_UNPATH && ev->phase != PHASE_REPATH)
			ended(a, ev, st);
		break;
	case APPLY_ASK:
	case APPLY_ANSWER:
	case APPLY_SETTLED:
		agents(a, ev, st);
		break;
	case APPLY_ITEM:
		break;
	case APPLY_VERIFY:
		read_back(a, ev, st);
		break;
	case APPLY_OUTCOME:
		over(a, ev, st);
		break;
	}
}

static enum apply_state ended_as(const struct app *a, const struct apply_status *st)
{
	if (st->waiting)
		return APPLY_CONFIRM;
	switch (st->outcome) {
	case OUTCOME_CONFIRMED:
		return APPLY_KEPT;
	case OUTCOME_ROLLED_BACK:
		return a->rollback_asked ? APPLY_ROLLED_BACK : APPLY_FAILED;
	case OUTCOME_INCOMPLETE:
		return APPLY_INCOMPLETE;
	case OUTCOME_REFUSED:
	case OUTCOME_NONE:
		break;
	}
	return APPLY_REFUSED;
}

void app_apply_end(struct app *a, const struct msg *msg)
{
	struct state_apply *s = &a->state.apply;

	s->state = ended_as(a, &msg->apply);
	if (a->poller && a->updater.ops->free) /* another process has written */
		poller_tables(a->poller);
	s->retries = msg->apply.retries;
	if (s->state == APPLY_CONFIRM) {
		a->confirm_at = clock_s();
		step_is(a, "CONFIRM", STEP_RUNNING, "waits for the fabric's name, or rollback");
		s->done = s->total;
	}
	snprintf(s->result, sizeof(s->result), "%.255s", msg->text);
	if (s->state == APPLY_ROLLED_BACK)
		snprintf(s->result, sizeof(s->result),
			 "The routing from before is back: read from every switch that was "
			 "written.");
	if (s->state == APPLY_INCOMPLETE)
		log_add(LOG_ERROR, "apply", "%s", msg->text);
}

void app_find_journal(struct app *a)
{
	struct state_apply *s = &a->state.apply;
	struct txn_info *list = NULL;
	uint32_t n = 0;
	struct err err;

	if (journal_find(&list, &n, journal_base(a->opts.state_dir), a->fabric, &err)) {
		log_add(LOG_WARN, "journal", "%s", err.text);
		return;
	}
	if (n) {
		const struct txn_info *t = &list[n - 1];
		char when[32];
		time_t at = t->head.time_s;
		struct tm tm;

		strftime(when, sizeof(when), "%F %T", localtime_r(&at, &tm));
		snprintf(a->journal_txn, sizeof(a->journal_txn), "%s", t->head.id);
		s->state = APPLY_JOURNAL;
		snprintf(s->txn, sizeof(s->txn), "%s", t->head.id);
		snprintf(s->journal, sizeof(s->journal),
			 "update %s of %s by %s at %s was left %s: %u LFT blocks, %u SL2VL tables",
			 t->head.id, t->head.fabric, t->head.user, when, txn_state_name(t->state),
			 t->head.nlft, t->head.nsl2vl);
		log_add(LOG_WARN, "journal", "%s", s->journal);
		ui_goto(a->ui, VIEW_APPLY);
	}
	free(list);
}

static void close_update(struct app *a)
{
	worker_cancel_order(a->worker);
	a->order_serial++;
	memset(&a->state.apply, 0, sizeof(a->state.apply));
	plan_free(a->plan);
	a->plan = NULL;
	app_find_journal(a);
}

static void quit(struct app *a)
{
	if (app_updating(a)) {
		ui_goto(a->ui, VIEW_APPLY);
		ui_say(a->ui, "an update is open: keep it or roll it back first");
		return;
	}
	a->quit = true;
}

void app_act(struct app *a, const struct request *r)
{
	switch (r->type) {
	case REQ_QUIT:
		quit(a);
		break;
	case REQ_FREEZE:
		toggle_freeze(a);
		break;
	case REQ_FASTER:
	case REQ_SLOWER:
		change_interval(a, r->type == REQ_FASTER);
		break;
	case REQ_POLL:
		if (a->poller)
			poller_now(a->poller);
		break;
	case REQ_SWEEP:
		if (a->poller)
			poller_sweep(a->poller);
		ui_say(a->ui, a->poller ? "discovering the fabric anew" : "a file does not change");
		break;
	case REQ_SNAPSHOT:
		snapshot(a);
		break;
	case REQ_REDRAW:
		terminal_redraw(a->term);
		break;
	case REQ_SUSPEND:
		suspend(a);
		break;
	case REQ_PREVIEW_START:
		start_preview(a, r);
		break;
	case REQ_PREVIEW_CANCEL:
		worker_cancel(a->worker);
		break;
	case REQ_APPLY_PREPARE:
		ui_goto(a->ui, VIEW_APPLY);
		app_prepare_update(a);
		break;
	case REQ_APPLY_START:
		start_update(a, r->text);
		break;
	case REQ_APPLY_KEEP:
		if (a->state.apply.state == APPLY_CONFIRM && name_typed(a, r->text)) {
			record_action(a, "apply.keep", a->state.apply.txn);
			a->updater.ops->confirm(a->updater.ctx);
		}
		break;
	case REQ_APPLY_ROLLBACK:
		if (a->state.rw && a->poller)
			roll_back(a);
		break;
	case REQ_APPLY_CLOSE:
		close_update(a);
		break;
	default:
		break;
	}
}
