/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Updates: from a preview to a plan, and what the operator decides about it. */
#include "console/app/app_priv.h"

#include "console/update/update_record.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/text/json_text.h"
#include "fabric/base/time/clock.h"
#include "fabric/base/time/stamp.h"
#include "fabric/plan/drain_names.h"
#include "fabric/update/journal/journal.h"
#include "fabric/update/watchdog/watch_conditions.h"
#include "views/data/state/key_hint.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void app_update_end_as(struct app *a, enum apply_state state, const char *why)
{
	struct state_apply *s = &a->state.apply;

	memset(s, 0, sizeof(*s));
	s->state = state;
	snprintf(s->result, sizeof(s->result), "%.255s", why);
	log_add(state == APPLY_REFUSED ? LOG_WARN : LOG_INFO, "apply", "%s", why);
}

static void app_update_refuse(struct app *a, const char *why)
{
	app_update_end_as(a, APPLY_REFUSED, why);
	app_record_error(a, "apply", why);
}

bool app_updating(const struct app *a)
{
	return update_thread_busy(a->update);
}

static void app_update_set_steps(struct state_apply *s)
{
	static const char *const names[] = { "PREPARE", "UNPATH", "WRITE",
					     "VERIFY",	"REPATH", "CONFIRM" };
	static const uint8_t phases[] = { PHASE_PREPARE, PHASE_UNPATH, PHASE_WRITE, 0,
					  PHASE_REPATH,	 PHASE_CONFIRM };

	s->confirm_left_s = s->confirm_all_s = s->took_s = s->back_s = s->wrote_s = NAN;
	s->pred_util = s->pred_dark = NAN;
	s->nsteps = sizeof(names) / sizeof(*names);
	for (uint32_t i = 0; i < s->nsteps; i++) {
		memset(&s->steps[i], 0, sizeof(s->steps[i]));
		s->steps[i].took_s = NAN;
		s->steps[i].phase = phases[i];
		snprintf(s->steps[i].name, sizeof(s->steps[i].name), "%s", names[i]);
	}
}

/* Our plugin in the master SM gives hosts the SLs of their paths, unless it is not to be used;
 * files are for an SM that does. */
static bool app_update_tells_sls(const struct app *a)
{
	const char *way = a->opts.live.installer;

	if (way && !strncmp(way, "file:", 5))
		return true;
	return a->state.sm.engine[0] && (!way || !strcmp(way, "opensm"));
}

/* Why the preview cannot become a plan; NULL when it can. */
static const char *app_update_not_ready(const struct app *a)
{
	const struct plan_preview *p = state_plan(&a->state);

	if (a->opts.load)
		return "a plan for a file cannot be applied: this needs a live fabric";
	if (!a->state.rw)
		return "this console is read-only: restart it with --rw to apply plans";
	if (a->lost)
		return "the fabric is not responding: the installed tables are unknown";
	if (a->fabric_partial && a->state.poll.missing_sw)
		return "some switches did not respond to the last sweep (view 8 names them), and "
		       "a routing without them may cut them off: discover the fabric again";
	if (a->state.sm.rival[0])
		return a->state.sm.rival;
	if (!p->diff)
		return "no plan to apply: compute one in view 6";
	if (!verdict_ok(p->verdict))
		return "the plan did not pass the checks: its tables will not be written";
	if (a->tables_partial)
		return "some installed tables could not be read: a rollback would not be possible";
	if (p->stale[0])
		return "the plan is stale: compute it again in view 6";
	if (p->diff->sl_pairs && !a->demo && !app_update_tells_sls(a))
		return "this routing needs other service levels, and hosts learn these only from "
		       "the subnet manager: choose an engine that uses one VL here (updn), or "
		       "have the subnet manager load the tables (ibroute-top route --out)";
	return NULL;
}

static void app_update_show_prediction(struct app *a)
{
	const struct plan_preview *x = state_plan(&a->state);
	struct state_apply *s = &a->state.apply;

	if (!x->tables || !tables_forward_same(a->state.fabric, x->tables, a->plan->to))
		return;
	if (x->traffic_plan.known)
		s->pred_util = x->traffic_plan.util_max;
	if (x->after->njob)
		s->pred_dark = x->after->dark;
}

static void app_update_show_order(struct app *a, const struct plan *plan)
{
	struct state_apply *s = &a->state.apply;
	const struct changes *l = plan->changes;

	app_progress_waves(a, plan);
	snprintf(s->waves, sizeof(s->waves), "%u wave%s, %u block write%s, %u SL2VL table%s",
		 l->nwaves, plural(l->nwaves), l->nlft, plural(l->nlft), l->nsl2vl,
		 plural(l->nsl2vl));
	drain_text(s->drain, sizeof(s->drain), &plan->drain, plan->fabric, plan->jobs);
	s->undrained = plan->drain.njob;
}

/* diff: what will be written, NULL not known yet. */
static void app_update_show_ordering(struct app *a, const struct tables *from,
				     const struct tables *to, const struct tables_diff *diff)
{
	struct state_apply *s = &a->state.apply;

	plan_free(a->plan);
	a->plan = NULL;
	tables_diff_free(a->apply_diff);
	memset(s, 0, sizeof(*s));
	app_update_set_steps(s);
	a->apply_diff = diff ? tables_diff_copy(diff) : NULL;
	s->diff = a->apply_diff;
	snprintf(s->plan, sizeof(s->plan), "%.15s -> %.15s", from->engine, to->engine);
	s->state = APPLY_ORDERING;
	a->order_for = 0;
	a->order_serial++;
}

/* Each plan again, unless an option has accepted it for all. */
static void app_update_ask_strangers(struct app *a, const struct plan *plan)
{
	struct agents_opts *o = &a->dog.agents;

	o->strangers = a->opts.automatic.strangers;
	a->state.apply.strangers = plan->drain.unassigned_lids && !o->without && !o->strangers;
	o->names = false;
	a->state.apply.names =
		!o->without && drain_names_check(&plan->drain, plan->fabric, plan->jobs, NULL);
}

/* Of the preview that the plan was made from: one that leads back is not judged. */
static void app_update_ask_slower(struct app *a, const struct plan *plan)
{
	const struct plan_preview *x = state_plan(&a->state);
	struct state_apply *s = &a->state.apply;

	if (a->opts.automatic.accept_slower || !x->tables || !time_gate_slower(&x->gate) ||
	    !tables_forward_same(plan->fabric, x->tables, plan->to))
		return;
	time_gate_text(s->slower, sizeof(s->slower), &x->gate);
}

/* Takes the plan; it waits for the fabric's name. */
static void app_update_offer_plan(struct app *a, struct plan *plan)
{
	struct state_apply *s = &a->state.apply;

	plan_free(a->plan);
	tables_diff_free(a->apply_diff);
	a->plan = plan;
	memset(s, 0, sizeof(*s));
	app_update_set_steps(s);
	app_update_show_order(a, plan);
	app_update_ask_strangers(a, plan);
	app_update_ask_slower(a, plan);
	s->state = APPLY_READY;
	a->apply_diff = tables_diff_copy(plan->diff);
	s->diff = a->apply_diff;
	app_update_show_prediction(a);
	s->watched = true;
	s->watching = a->dog.watch;
	s->demo_dir = a->demo ? a->opts.live.state_dir : NULL;
	snprintf(s->plan, sizeof(s->plan), "%.7s %.15s -> %.15s", plan->id, plan->from->engine,
		 plan->to->engine);
	snprintf(s->installer, sizeof(s->installer), "%s",
		 a->demo		  ? "smp"
		 : a->opts.live.installer ? a->opts.live.installer
					  : "best");
	if (a->record)
		update_record_plan(a->record, plan);
	if (plan_empty(plan))
		app_update_end_as(a, APPLY_INSTALLED,
				  "nothing to do: these tables are already installed");
}

static void app_update_take_ordered(struct app *a, struct msg *msg)
{
	struct plan *plan = msg->ordered;

	if (msg->total != a->order_serial || a->state.apply.state != APPLY_ORDERING)
		return;
	if (!plan) {
		app_update_refuse(a, msg->rc == -ECANCELED ? "stopped: no plan" : msg->text);
		return;
	}
	msg->ordered = NULL;
	app_update_offer_plan(a, plan);
}

void app_prepare_update(struct app *a)
{
	const struct plan_preview *p = state_plan(&a->state);
	const char *why = app_update_not_ready(a);
	struct plan *plan;
	struct err err;

	if (app_updating(a)) {
		shell_say(a->shell, "another update is in progress");
		return;
	}
	if (why) {
		app_update_refuse(a, why);
		return;
	}
	if (p->order == ORDER_FAILED) {
		app_update_refuse(a, p->order_error);
		return;
	}
	if (!app_plan_make(&plan, a, &err)) {
		a->order_serial++;
		app_update_offer_plan(a, plan);
		return;
	}
	if (p->order == ORDER_ENDED)
		app_order_again(a);
	else
		app_order_hurry(a);
	app_update_show_ordering(a, a->state.tables, p->tables, p->diff);
	a->order_for = a->cost_serial;
}

/* The order of a plan was found, or was ended, that somebody wants to apply. */
static void app_update_order_known(struct app *a, uint64_t serial)
{
	const struct state_preview *p = &a->state.preview;
	uint32_t at = app_plan_find(a, serial);
	struct plan *plan;
	struct err err = { "" };

	if (a->order_for != serial || a->state.apply.state != APPLY_ORDERING)
		return;
	a->order_for = 0;
	if (at < PLANS_MAX && p->list[at].order_error[0])
		app_update_refuse(a, p->list[at].order_error);
	else if (at != p->at)
		app_update_refuse(a,
				  "another plan is selected now: take it here again from view 6");
	else if (app_plan_make(&plan, a, &err))
		app_update_refuse(a, err.text);
	else
		app_update_offer_plan(a, plan);
}

static bool app_update_name_typed(struct app *a, const char *text)
{
	if (a->state.fabric && !strcmp(text, a->state.fabric->name))
		return true;
	shell_say(a->shell, "'%s' is not the name of this fabric: nothing done", text);
	return false;
}

void app_begin_update(struct app *a)
{
	app_record_action(a, "apply.start", a->plan->id);
	a->state.apply.state = APPLY_RUNNING;
	a->state.apply.steps[0].state = STEP_RUNNING;
	a->apply_step_start = a->update_at = clock_s();
	a->deadline = NAN;
	live_metrics(&a->state.apply.before, &a->state);
	a->rollback_asked = false;
	tables_put(a->undo);
	a->undo = tables_get(a->plan->from);
	tables_put(a->applied);
	a->applied = tables_get(a->plan->to);
	update_thread_apply(a->update, a->plan, a->state.jobs != NULL, a->record);
	a->plan = NULL;
}

void app_update_start(struct app *a, const char *text)
{
	if (a->state.apply.state != APPLY_READY || !a->plan)
		return;
	if (a->state.apply.strangers)
		shell_say(a->shell, "LIDs of no job have to drain: accept that first (%s)",
			  key_hint("override"));
	else if (a->state.apply.names)
		shell_say(a->shell, "say first which hosts have to drain (%s)",
			  key_hint("override"));
	else if (a->state.apply.slower[0])
		shell_say(a->shell, "jobs get slower: accept that first (%s)",
			  key_hint("override"));
	else if (app_update_name_typed(a, text))
		app_begin_update(a);
}

/* What sends to LIDs of no job is paused, says the operator. */
static void app_update_accept_strangers(struct app *a)
{
	a->dog.agents.strangers = true;
	a->state.apply.strangers = false;
	app_record_action(a, "override", "strangers");
	log_add(LOG_WARN, "apply", "accepted: LIDs of no job have to drain, and nobody is asked");
}

/* Whoever has the name drains, says the operator. */
static void app_update_accept_names(struct app *a)
{
	a->dog.agents.names = true;
	a->state.apply.names = false;
	app_record_action(a, "override", "names");
	log_add(LOG_WARN, "apply", "accepted: every port of the names drains");
}

/* Other jobs may matter more, says the operator. */
static void app_update_accept_slower(struct app *a)
{
	log_add(LOG_WARN, "apply", "accepted: slower, %s", a->state.apply.slower);
	a->state.apply.slower[0] = '\0';
	app_record_action(a, "override", "slower");
}

/* A kept update is undone by a plan of its own: typed and recorded like any other. */
static void app_update_undo_kept(struct app *a)
{
	const struct tables *back = a->undo, *from = a->state.tables;
	struct route_inputs in = { .f = a->state.fabric, .tables = back, .jobs = a->state.jobs };

	if (!back || !a->state.tables ||
	    !digest_equal(&back->fingerprint, &a->state.fabric->fingerprint)) {
		shell_say(a->shell,
			  "the fabric has changed: the previous routing no longer fits it");
		return;
	}
	/* while SL2VL is read again: what it wrote, which PREPARE reads before anything is written
	 */
	if (!tables_know_vls(from) && a->applied &&
	    digest_equal(&a->applied->fingerprint, &a->state.fabric->fingerprint))
		from = a->applied;
	app_update_show_ordering(a, from, back, NULL);
	app_order_begin(a);
	in.installed = from;
	in.sm = app_sm_pin(a);
	worker_order(a->worker, &in, a->order_serial);
	shell_say(a->shell, "rollback prepared as a plan; nothing is written yet");
}

void app_update_roll_back(struct app *a)
{
	struct state_apply *s = &a->state.apply;

	a->rollback_asked = true;
	switch (s->state) {
	case APPLY_JOURNAL:
		app_record_action(a, "recover", a->journal_txn);
		s->state = APPLY_ROLLING_BACK;
		update_thread_recover(a->update, a->journal_txn);
		break;
	case APPLY_RUNNING:
		app_record_action(a, "abort", s->txn);
		update_thread_rollback(a->update);
		break;
	case APPLY_CONFIRM:
	case APPLY_INCOMPLETE:
		app_record_action(a, "rollback", s->txn);
		s->state = APPLY_ROLLING_BACK;
		update_thread_rollback(a->update);
		break;
	case APPLY_KEPT:
		app_update_undo_kept(a);
		break;
	default:
		break;
	}
}

/* --- an update that was left open -------------------------------------------------------- */

struct seeking_journal {
	const char *state_dir; /* the console's, which outlives it */
	const struct fabric *fabric;
	struct txn_info *list;
	uint32_t n;
};

static int app_update_journal_run(void *ctx, struct err *err)
{
	struct seeking_journal *s = ctx;

	return journal_find(&s->list, &s->n, journal_base(s->state_dir), s->fabric, err);
}

static void app_update_show_journal(struct app *a, const struct txn_info *t)
{
	struct state_apply *s = &a->state.apply;
	char when[STAMP_LEN];

	stamp_local(when, sizeof(when), "%F %T", t->head.time_s);
	snprintf(a->journal_txn, sizeof(a->journal_txn), "%s", t->head.id);
	s->state = APPLY_JOURNAL;
	snprintf(s->txn, sizeof(s->txn), "%s", t->head.id);
	snprintf(s->user, sizeof(s->user), "%s", t->head.user);
	snprintf(s->journal, sizeof(s->journal),
		 "update %s of %s by %s at %s was interrupted (state: %s): %u LFT blocks, "
		 "%u SL2VL tables%s",
		 t->head.id, t->head.fabric, t->head.user, when, txn_state_name(t->state),
		 t->head.nlft, t->head.nsl2vl,
		 t->lost ? "; its journal and plan file are damaged: if OpenSM cannot lead back, "
			   "'ibroute-top rollback --give-up' ends it"
			 : "");
	log_add(LOG_WARN, "journal", "%s", s->journal);
	shell_goto(a->shell, VIEW_APPLY);
}

/* What somebody does meanwhile goes first; it is looked for again after that. */
static void app_update_journal_done(void *owner, void *ctx)
{
	const struct seeking_journal *s = ctx;
	struct app *a = owner;

	if (s->n && a->state.apply.state == APPLY_NONE)
		app_update_show_journal(a, &s->list[s->n - 1]);
}

static void app_update_journal_failed(void *owner, void *ctx, int rc, const struct err *why)
{
	(void)owner;
	(void)ctx;
	(void)rc;
	log_add(LOG_WARN, "journal", "%s", why->text);
}

static void app_update_journal_free(void *ctx)
{
	struct seeking_journal *s = ctx;

	fabric_put(s->fabric);
	free(s->list);
	free(s);
}

static const struct file_work_ops app_update_journal = {
	.what = "journals",
	.run = app_update_journal_run,
	.done = app_update_journal_done,
	.failed = app_update_journal_failed,
	.free = app_update_journal_free,
};

static void app_update_find_journal(struct app *a)
{
	struct seeking_journal *s;
	struct err err;

	if (app_files_runs(a, &app_update_journal))
		return;
	s = xcalloc(1, sizeof(*s));
	s->state_dir = a->opts.live.state_dir;
	s->fabric = a->state.fabric ? fabric_get(a->state.fabric) : NULL;
	app_files_begin(a, &app_update_journal, s, &err);
}

void app_update_close(struct app *a)
{
	worker_cancel_order(a->worker);
	a->order_serial++;
	a->order_for = 0;
	memset(&a->state.apply, 0, sizeof(a->state.apply));
	plan_free(a->plan);
	a->plan = NULL;
	app_update_find_journal(a);
	if (!a->opts.no_screen) /* nobody would see them */
		app_updates_read(a);
}

void app_update_keep(struct app *a, const char *text)
{
	if (a->state.apply.state != APPLY_CONFIRM || !app_update_name_typed(a, text))
		return;
	app_record_action(a, "apply.keep", a->state.apply.txn);
	update_thread_confirm(a->update);
}

/* --- while it waits ---------------------------------------------------------------------- */

#define EXTEND_S 300

void app_update_extend(struct app *a)
{
	struct state_apply *s = &a->state.apply;
	double left = isfinite(a->deadline) ? fmax(0, a->deadline - clock_s()) : 0;
	uint32_t seconds = (uint32_t)(left + EXTEND_S);

	if (s->state != APPLY_CONFIRM) {
		shell_say(a->shell, "no update is waiting for confirmation");
		return;
	}
	app_record_action(a, "extend", s->txn);
	update_thread_extend(a->update, seconds);
	app_apply_log(a, LOG_INFO, "time to confirm extended by 5 minutes");
}

void app_update_note(struct app *a, const char *text)
{
	if (!*text)
		return;
	app_apply_log(a, LOG_INFO, "%s", text);
	log_add(LOG_INFO, "note", "%s", text);
	if (!a->record) {
		shell_say(a->shell, "noted on the screen only: this session is not recorded");
		return;
	}
	record_mark(a->record, "note");
	record_note(a->record, "note",
		    json_pack("{s:s, s:o}", "txn", a->state.apply.txn, "text", json_text(text)));
	shell_say(a->shell, "note added to the record");
}

/* The word that accepts what stands in the way of a plan; NULL: nothing does. */
static const char *app_update_asks(const struct state_apply *s)
{
	return s->strangers ? "strangers" : s->names ? "names" : s->slower[0] ? "slower" : NULL;
}

void app_update_override(struct app *a, const char *what)
{
	struct state_apply *s = &a->state.apply;
	unsigned mask = 0;
	struct err err;
	char text[260];

	if (s->state == APPLY_READY && s->strangers && !strcmp(what, "strangers")) {
		app_update_accept_strangers(a);
	} else if (s->state == APPLY_READY && s->names && !strcmp(what, "names")) {
		app_update_accept_names(a);
	} else if (s->state == APPLY_READY && s->slower[0] && !strcmp(what, "slower")) {
		app_update_accept_slower(a);
	} else if (s->state == APPLY_READY && app_update_asks(s)) {
		shell_say(a->shell, "nothing is accepted: type the word %s", app_update_asks(s));
	} else if (!app_updating(a)) {
		shell_say(a->shell, "no update is in progress");
	} else if (watch_parse(&mask, what, &err)) {
		shell_say(a->shell, "%s", err.text);
	} else {
		update_thread_override(a->update, mask);
		s->overridden |= mask;
		app_record_action(a, "override", what);
		snprintf(text, sizeof(text), "overridden: %.120s no longer rolls the update back",
			 what);
		app_apply_log(a, LOG_WARN, "%s", text);
		log_add(LOG_WARN, "apply", "%s", text);
	}
}

/* The watchdog goes on; this console ends. */
void app_update_detach(struct app *a)
{
	const struct state_apply *s = &a->state.apply;
	char when[32] = "when the time to confirm is over";
	time_t at;

	if (!app_updating(a)) {
		a->quit = true;
		return;
	}
	if (a->demo || !s->txn[0]) {
		shell_goto(a->shell, VIEW_APPLY);
		shell_say(a->shell, !a->demo ? "not before the journal of the update is written: "
					       "try again in a moment"
					     : "simulated switches end with this console: confirm "
					       "or roll back first");
		return;
	}
	if (isfinite(a->deadline)) {
		at = time(NULL) + (time_t)(a->deadline - clock_s());
		stamp_local(when, sizeof(when), "at %T", at);
	}
	snprintf(a->farewell, sizeof(a->farewell),
		 "update %s continues without this console; its watchdog rolls it back %s\nunless "
		 "it is confirmed: ibroute-top confirm %s; watch it: ibroute-top attach %s\n",
		 s->txn, when, s->txn, s->txn);
	app_record_action(a, "detach", s->txn);
	a->quit = true;
}

static void app_update_refresh(struct app *a)
{
	struct state_apply *s = &a->state.apply;

	if (isfinite(a->deadline) && s->state == APPLY_CONFIRM)
		s->confirm_left_s = fmax(0, a->deadline - clock_s());
}

/* --- a part of the console ------------------------------------------------------------------ */

static bool app_update_take(struct app *a, struct msg *msg, bool *kept)
{
	(void)kept;
	if (msg->type == MSG_ORDERED)
		app_update_take_ordered(a, msg);
	return msg->type == MSG_ORDERED;
}

static void app_update_hear(struct app *a, const struct app_news *n)
{
	if (n->type == NEWS_ORDER)
		app_update_order_known(a, n->serial);
	/* an update that was left open is looked for once; a file has none */
	if (n->type != NEWS_FABRIC || !a->feed || a->journal_sought)
		return;
	a->journal_sought = true;
	app_update_find_journal(a);
}

static void app_update_end(struct app *a)
{
	plan_free(a->plan);
	tables_diff_free(a->apply_diff);
	tables_put(a->undo);
	tables_put(a->applied);
}

const struct app_part app_update_part = {
	.take = app_update_take,
	.hear = app_update_hear,
	.refresh = app_update_refresh,
	.end = app_update_end,
};
