/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the operator asks for becomes action. */
#include "console/app/app_priv.h"

#include "fabric/base/message/plural.h"
#include "views/data/state/key_hint.h"

#include <stdlib.h>
#include <string.h>

static const double intervals_s[] = { 0.2, 0.5, 1, 2, 5, 10, 30, 60 };
#define INTERVALS (sizeof(intervals_s) / sizeof(*intervals_s))

/* --- polling ----------------------------------------------------------------------------- */

static void app_act_change_interval(struct app *a, bool faster)
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
	if (app_collector_paces(a))
		return;
	a->state.poll.interval_s = next;
	if (a->feed)
		feed_interval(a->feed, next);
	shell_say(a->shell, "counters every %g s", next);
}

static void app_act_set_interval(struct app *a, const char *text)
{
	char *end;
	double s = strtod(text, &end);

	if (end == text || *end || !(s >= 0.1 && s <= 3600)) {
		shell_say(a->shell,
			  "interval: '%s' is not a number of seconds between 0.1 and "
			  "3600",
			  text);
		return;
	}
	if (app_collector_paces(a))
		return;
	a->state.poll.interval_s = s;
	if (a->feed)
		feed_interval(a->feed, s);
	shell_say(a->shell, "counters every %g s", s);
}

/* A preview with the engine of that name and the default options. */
static void app_act_preview_by(struct app *a, const struct request *by)
{
	struct request r = { .type = REQ_PREVIEW_START, .options = by->options };
	const char *name = by->text;
	const struct state_preview *p = &a->state.preview;

	for (r.engine = 0; r.engine < p->nengines; r.engine++)
		if (!strcmp(p->engines[r.engine].engine->name, name))
			break;
	if (!a->state.fabric || r.engine == p->nengines) {
		shell_say(a->shell,
			  a->state.fabric
				  ? "unknown engine '%s': Tab lists the engines"
				  : "'%s' is not possible before the fabric has been discovered",
			  name);
		return;
	}
	shell_goto(a->shell, VIEW_PREVIEW);
	if (p->engines[r.engine].file)
		shell_command_begin(a->shell, "file ");
	else
		app_preview_start(a, &r);
}

static void app_act_set(struct app *a, const char *text)
{
	struct err err = { "" };

	if (app_set(a, text, &err))
		app_fail(a, "set", err.text);
	else
		shell_say(a->shell, "%s, for this session; :keep saves it for later ones", text);
}

static void app_act_toggle_freeze(struct app *a)
{
	if (a->state.mode == RUN_FROZEN) {
		app_unfreeze(a);
		shell_say(a->shell, a->lost ? "no longer frozen; the fabric is not responding"
					    : "live again");
	} else if (a->state.mode != RUN_FILE) {
		a->state.mode = RUN_FROZEN;
		app_history_freeze(a);
		shell_say(a->shell, "frozen: the display is held until %s; polling continues",
			  key_hint("freeze"));
	}
}

/* A stop stops the thread that writes as well, and the switches would be left between two
 * routings. */
static void app_act_suspend(struct app *a)
{
	enum apply_state s = a->state.apply.state;

	if (s == APPLY_RUNNING || s == APPLY_ROLLING_BACK)
		shell_say(a->shell, "tables are being written: suspend is possible after that");
	else if (a->term)
		terminal_suspend(a->term);
}

/* --- what the worker does -------------------------------------------------------------------- */

/* The order of a plan's writes, whichever is selected, or of a way back. */
static void app_act_stop_order(struct app *a)
{
	uint32_t at = app_plan_find(a, a->cost_serial);

	if (a->work.type == MSG_ORDER_STEP) {
		app_update_close(a);
		return;
	}
	if (at < PLANS_MAX)
		a->state.preview.at = at;
	app_order_stop(a);
}

static void app_act_stop(struct app *a)
{
	const struct app_work *w = &a->work;

	if (app_files_stop(a))
		return;
	if (a->state.preview.state == PREVIEW_RUNNING && (!w->on || w->type == MSG_WORK_STEP)) {
		app_preview_cancel(a);
		shell_say(a->shell, "computation stopped; nothing was changed");
		return;
	}
	if (!w->on) {
		shell_say(a->shell, "no computation is running");
		return;
	}
	app_record_action(a, "compute.stop", w->what);
	if (w->type == MSG_ORDER_STEP)
		shell_say(a->shell, "%s: stopped", w->what);
	else
		shell_say(a->shell, "%s: stopped; %s%s starts it again", w->what,
			  key_hint(w->type == MSG_COST_STEP ? "prepare" : "poll"),
			  w->type == MSG_COST_STEP ? " in view 6" : "");
	if (w->type == MSG_ORDER_STEP || w->type == MSG_COST_STEP) {
		app_act_stop_order(a);
		return;
	}
	if (a->forecast_serial && !strcmp(w->what, "forecast")) {
		app_forecast_stop(a);
		return;
	}
	a->metrics_ended = true;
	worker_cancel_background(a->worker);
}

static void app_act_again(struct app *a)
{
	if (a->metrics_ended)
		app_want_metrics(a);
	app_forecasts_again(a);
}

static void app_act_quit(struct app *a)
{
	if (app_updating(a)) {
		shell_goto(a->shell, VIEW_APPLY);
		shell_say(a->shell,
			  "an update is in progress: confirm it or roll it back first%s%s%s",
			  a->demo ? "" : "; ", a->demo ? "" : key_hint("detach"),
			  a->demo ? "" : " quits and leaves it to its watchdog");
		return;
	}
	if (!app_fabrics_quit(a))
		a->quit = true;
}

/* A key that was meant for something else must not leave what is open. */
static void app_act_leave(struct app *a)
{
	if (!app_updating(a) || a->demo || !a->state.apply.txn[0]) {
		app_update_detach(a);
		return;
	}
	a->asked_for = app_update_detach;
	a->asked_lightly = false;
	shell_say(a->shell,
		  "quit, and leave the update to its watchdog?  Y: yes; any other key: no");
}

static void app_act_armed(struct app *a)
{
	a->opts.rw = a->state.rw = true;
	app_record_action(a, "arm", "the simulated fabric");
	shell_say(a->shell, "armed, as with --rw: %s in view 6 takes a plan to view 7",
		  key_hint("prepare"));
}

/* Nothing can be broken there but what ends with the console. */
static void app_act_arm(struct app *a)
{
	if (!a->demo || !a->state.recording)
		return;
	a->asked_for = app_act_armed;
	a->asked_lightly = true;
	shell_say(a->shell,
		  "read-only: nothing is written without --rw.  Y: arm this simulated fabric");
}

static void app_act_save_view(struct app *a, const struct request *r)
{
	app_saved_keep(a, r->saved);
}

static void app_act_tour(struct app *a)
{
	if (!a->demo) {
		shell_say(a->shell, "the tour needs a simulated fabric: ibroute-top tour");
		return;
	}
	if (!a->state.rw && a->state.recording)
		app_act_armed(a);
	shell_tour_begin(a->shell);
}

static void app_act_cables(struct app *a, const char *text, bool out)
{
	struct err err = { "" };
	uint32_t n;

	if (!a->demo) {
		shell_say(a->shell, "only the cables of a demo can be %s here",
			  out ? "unplugged" : "plugged in");
	} else if ((out ? demo_unplug : demo_plug)(&n, a->demo, text, &err)) {
		shell_say(a->shell, "%s", err.text);
	} else {
		shell_say(a->shell, "%u cable%s %s; the fabric is discovered again", n, plural(n),
			  out ? "unplugged" : "plugged in");
		feed_want(a->feed, WANT_SWEEP);
	}
}

static void app_act_unplug(struct app *a, const char *text)
{
	app_act_cables(a, text, true);
}

static void app_act_plug(struct app *a, const char *text)
{
	app_act_cables(a, text, false);
}

/* Requests that are one function's; the others are below. */
static const struct {
	void (*plain)(struct app *a);
	void (*text)(struct app *a, const char *text);
	void (*request)(struct app *a, const struct request *r);
} acts[REQ_COUNT] = {
	[REQ_QUIT].plain = app_act_quit,
	[REQ_FREEZE].plain = app_act_toggle_freeze,
	[REQ_STOP].plain = app_act_stop,
	[REQ_TABLES_END].plain = app_tables_end,
	[REQ_SNAPSHOT].text = app_snapshot,
	[REQ_EXPORT].text = app_export,
	[REQ_EXPORT_OVER].text = app_export_over,
	[REQ_SET].text = app_act_set,
	[REQ_KEEP].plain = app_settings_keep,
	[REQ_INTERVAL].text = app_act_set_interval,
	[REQ_FABRIC].text = app_fabrics_go,
	[REQ_SUSPEND].plain = app_act_suspend,
	[REQ_SESSION_OPEN].text = app_sessions_read,
	[REQ_REPLAY].text = app_sessions_replay,
	[REQ_ENGINE].request = app_act_preview_by,
	[REQ_ORDER_AGAIN].plain = app_order_again,
	[REQ_PREVIEW_START].request = app_preview_start,
	[REQ_OPTION_TRY].request = app_options_try,
	[REQ_PLAN_SAVE].text = app_plan_save,
	[REQ_APPLY_START].text = app_update_start,
	[REQ_APPLY_KEEP].text = app_update_keep,
	[REQ_APPLY_EXTEND].plain = app_update_extend,
	[REQ_APPLY_NOTE].text = app_update_note,
	[REQ_APPLY_OVERRIDE].text = app_update_override,
	[REQ_APPLY_CLOSE].plain = app_update_close,
	[REQ_DETACH].plain = app_act_leave,
	[REQ_TOUR].plain = app_act_tour,
	[REQ_UNPLUG].text = app_act_unplug,
	[REQ_PLUG].text = app_act_plug,
	[REQ_ARM].plain = app_act_arm,
	[REQ_WEAK].plain = app_weak_find,
	[REQ_CAMPAIGN].text = app_campaign_read,
	[REQ_CELL].text = app_campaign_open,
	[REQ_MOMENT].text = app_campaign_moment,
	[REQ_PEAK].text = app_peak_go,
	[REQ_NOTE].request = app_notes_change,
	[REQ_VIEW_SAVE].request = app_act_save_view,
	[REQ_VIEW_DELETE].text = app_saved_delete,
};

static void app_act_on_plan(struct app *a, const struct request *r)
{
	switch (r->type) {
	case REQ_PREVIEW_CANCEL:
		if (a->state.preview.state == PREVIEW_RUNNING)
			app_preview_cancel(a);
		else if (state_plan(&a->state)->forecasting)
			app_forecast_stop(a);
		else
			app_order_stop(a);
		break;
	case REQ_PLAN_SELECT:
		if (r->plan < a->state.preview.n)
			a->state.preview.at = r->plan;
		app_want_cost(a);
		break;
	case REQ_PLAN_REMOVE:
		app_plan_remove(a, r->plan);
		break;
	case REQ_APPLY_PREPARE:
		shell_goto(a->shell, VIEW_APPLY);
		app_prepare_update(a);
		break;
	case REQ_APPLY_ROLLBACK:
		if (a->state.rw && a->feed)
			app_update_roll_back(a);
		break;
	default:
		break;
	}
}

static void app_act_on_screen(struct app *a, const struct request *r)
{
	switch (r->type) {
	case REQ_FASTER:
	case REQ_SLOWER:
		app_act_change_interval(a, r->type == REQ_FASTER);
		break;
	case REQ_AGAINST:
		app_against_set(a, r->text);
		break;
	case REQ_POLL:
		if (a->feed)
			feed_want(a->feed, WANT_SAMPLE);
		app_act_again(a);
		break;
	case REQ_SWEEP:
		if (a->feed)
			feed_want(a->feed, WANT_SWEEP);
		if (app_collector_asked(a))
			break;
		a->state.poll.sweep_asked = a->feed && a->state.fabric;
		shell_say(a->shell, "%s",
			  a->feed ? "discovering the fabric again; Esc stops it"
				  : app_not_polled(a));
		break;
	case REQ_TABLES:
		if (a->state.poll.tables_on)
			app_tables_end(a);
		else
			app_tables_on(a);
		break;
	case REQ_COPY:
		if (a->term)
			terminal_copy(a->term, r->names ? r->names : r->text);
		if (r->names)
			shell_say(a->shell,
				  "copied to the terminal's clipboard: %u name%s of tagged rows",
				  r->nnames, plural(r->nnames));
		else
			shell_say(a->shell, "copied to the terminal's clipboard: %s", r->text);
		break;
	case REQ_REDRAW:
		if (a->term)
			terminal_redraw(a->term);
		break;
	case REQ_VIEW:
		if (r->view == VIEW_AUDIT && !a->state.sessions_busy)
			app_sessions_read(a, NULL);
		if (r->view == VIEW_APPLY)
			app_updates_read(a);
		if (r->view == VIEW_WEAK)
			app_weak_opened(a);
		break;
	case REQ_VERIFY:
		app_sessions_read(a, NULL);
		break;
	default:
		app_act_on_plan(a, r);
	}
}

void app_act(struct app *a, const struct request *r)
{
	if (app_play_act(a, r) || app_history_act(a, r))
		return;
	if (acts[r->type].plain)
		acts[r->type].plain(a);
	else if (acts[r->type].text)
		acts[r->type].text(a, r->text);
	else if (acts[r->type].request)
		acts[r->type].request(a, r);
	else
		app_act_on_screen(a, r);
}
