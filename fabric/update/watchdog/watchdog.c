/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/watchdog/watchdog.h"

#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/text/json_text.h"
#include "fabric/base/time/clock.h"
#include "fabric/update/update_event.h"
#include "fabric/update/watchdog/control_socket.h"
#include "fabric/update/watchdog/supervisor.h"
#include "fabric/update/watchdog/wall_notify.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_MS 200
#define SM_MS	    1000 /* between two looks at the SM, or the wait for its answer */
#define SLICE_MS    200	 /* interval of checks for signals */

enum decision { DECIDE_NOTHING, DECIDE_CONFIRM, DECIDE_ROLLBACK };

struct watchdog {
	struct watchdog_opts o;
	struct control *control;
	const struct watchdog_job *job;
	struct watch *watch;
	char *dir; /* of the journal; NULL: not there yet */
	int plan_rc;
	enum coord_why why; /* it was not kept; WHY_NONE: not over, or kept */
	uint64_t progress_ms, sm_ms;

	pthread_mutex_t record_lock; /* of job for watchdog_record(), which may wait for a disk */
	pthread_mutex_t lock;	     /* of all below; nothing is written with it held */
	struct executor *a;
	enum decision decision;
	bool waiting, over;
	uint64_t deadline_ms; /* by boot_ms() */
	unsigned overridden;  /* bits of enum watch_what, not yet taken off the watch */
	char step[64];
	struct recovery_scan scan;
	bool scanned;
	char seen[WATCHES][200];
	bool on[WATCHES];
	uint32_t looks[WATCHES];
};

/* What signal handlers reach. */
static atomic_int signalled, signal_pid, signal_uid;
static struct executor *_Atomic running;

static void watchdog_on_signal(int sig, siginfo_t *from, void *ctx)
{
	struct executor *a = atomic_load(&running);

	(void)ctx;
	atomic_store(&signal_pid, (int)from->si_pid);
	atomic_store(&signal_uid, (int)from->si_uid);
	atomic_store(&signalled, sig);
	if (a && sig != SIGUSR1)
		executor_cancel(a);
}

/* ---- events ---- */

/* To all followers; takes event. keep: also to those who connect later. */
static void watchdog_publish(struct watchdog *d, json_t *event, bool keep)
{
	json_object_set_new(event, "time", json_integer(time(NULL)));
	control_publish(d->control, event, keep);
}

/* The same, kept, with that text, and into the log. */
static void watchdog_note(struct watchdog *d, const char *kind, const char *text)
{
	log_add(LOG_INFO, "watchdog", "%s", text);
	watchdog_publish(d, json_pack("{s:s, s:o}", "event", kind, "text", json_text(text)), true);
}

void watchdog_step(struct watchdog *d, const char *text)
{
	pthread_mutex_lock(&d->lock);
	snprintf(d->step, sizeof(d->step), "%s", text);
	pthread_mutex_unlock(&d->lock);
	watchdog_note(d, "step", text);
}

void watchdog_installer(struct watchdog *d, const char *installer)
{
	char text[120];

	snprintf(text, sizeof(text), "blocks are written %s",
		 !strcmp(installer, "OpenSM") ? "through OpenSM, by our plugin"
		 : !strcmp(installer, "SMPs") ? "by SMPs directly to each switch"
					      : "to files, not to the switches");
	log_add(LOG_INFO, "watchdog", "%s", text);
	watchdog_publish(
		d,
		json_pack("{s:s, s:s, s:s}", "event", "installer", "name", installer, "text", text),
		true);
}

/* A line of the record, with the update's id once it has one; takes data. */
static void watchdog_record(struct watchdog *d, const char *type, json_t *data)
{
	struct executor_status st = { 0 };

	pthread_mutex_lock(&d->lock);
	if (d->a)
		executor_status(d->a, &st);
	pthread_mutex_unlock(&d->lock);
	json_object_set_new(data, "txn", json_string(st.txn));
	pthread_mutex_lock(&d->record_lock);
	if (d->job && d->job->note)
		d->job->note(d->job->apply.ctx, type, data);
	else
		json_decref(data);
	pthread_mutex_unlock(&d->record_lock);
}

static void watchdog_set_job(struct watchdog *d, const struct watchdog_job *job)
{
	pthread_mutex_lock(&d->record_lock);
	d->job = job;
	pthread_mutex_unlock(&d->record_lock);
}

static void watchdog_found(void *ctx, const struct watch_finding *f)
{
	struct watchdog *d = ctx;
	json_t *t;

	pthread_mutex_lock(&d->lock);
	d->on[f->what] = watch_on(d->watch, f->what);
	snprintf(d->seen[f->what], sizeof(d->seen[0]), "%s", watch_last(d->watch, f->what));
	pthread_mutex_unlock(&d->lock);
	if (!f->text[0])
		return;
	log_add(f->tripped ? LOG_WARN : LOG_INFO, "watch", "%s: %s", watch_name(f->what), f->text);
	t = json_text(f->text);
	watchdog_publish(d,
			 json_pack("{s:s, s:s, s:b, s:O}", "event", "watch", "what",
				   watch_name(f->what), "tripped", f->tripped, "text", t),
			 true);
	watchdog_record(d, "watch",
			json_pack("{s:s, s:b, s:o}", "what", watch_name(f->what), "tripped",
				  f->tripped, "text", t));
}

/* Applies overrides; called by the thread that polls. */
static void watchdog_take_overrides(struct watchdog *d)
{
	unsigned off;

	pthread_mutex_lock(&d->lock);
	off = d->overridden;
	d->overridden = 0;
	pthread_mutex_unlock(&d->lock);
	for (int w = 0; d->watch && w < WATCHES; w++)
		if (off & 1u << w)
			watch_off(d->watch, (enum watch_what)w);
}

/* ---- the update's hooks ---- */

/* The journal is there: from now on others can find the socket, and the supervisor the journal. */
static void watchdog_journal_is_there(struct watchdog *d, const char *txn)
{
	struct err err = { "" };
	char *path;

	if (d->dir)
		return;
	d->dir = xasprintf("%s/%s", journal_base(d->o.base), txn);
	supervisor_send_id(d->o.supervisor, txn);
	if (control_listen(d->control, d->dir, &err))
		log_add(LOG_ERROR, "watchdog", "%s", err.text);
	if (!d->job->file)
		return;
	path = xasprintf("%s/%s", d->dir, JOURNAL_PLAN);
	d->plan_rc = store_write(path, d->job->file, d->job->file_len, &err);
	if (!d->plan_rc)
		d->plan_rc = store_sync_dir(d->dir, &err);
	if (d->plan_rc)
		log_add(LOG_ERROR, "watchdog", "%s", err.text);
	free(path);
}

static void watchdog_event(void *ctx, const struct executor_event *ev)
{
	struct watchdog *d = ctx;
	struct executor_status st;
	bool item = ev->kind == APPLY_ITEM && !ev->rc;

	if (ev->phase == PHASE_PREPARE && ev->kind == APPLY_PHASE_END && !ev->rc)
		watchdog_journal_is_there(d, ev->txn);
	if (d->job->apply.event)
		d->job->apply.event(d->job->apply.ctx, ev);
	if (item && clock_ms() - d->progress_ms < PROGRESS_MS)
		return;
	if (item)
		d->progress_ms = clock_ms();
	executor_status(d->a, &st);
	if (ev->kind == APPLY_OUTCOME)
		st.outcome = ev->outcome;
	watchdog_publish(d, update_event_json(ev, &st, d->job->fabric), !item);
}

static int watchdog_look_at_sm(struct watchdog *d, struct err *err)
{
	struct watch_finding f;
	int rc = 0;

	watchdog_take_overrides(d);
	if (watch_sm_now(d->watch, &f))
		rc = err_set(err, -ESTALE, "%s", f.text);
	watchdog_found(d, &f);
	d->sm_ms = clock_ms() + SM_MS;
	return rc;
}

static int watchdog_gate(void *ctx, const struct executor_event *ev, struct err *err)
{
	struct watchdog *d = ctx;
	int rc = 0;

	if (d->job->apply.gate)
		rc = d->job->apply.gate(d->job->apply.ctx, ev, err);
	if (!rc && d->plan_rc)
		rc = err_set(err, d->plan_rc, "the plan could not be written to the journal");
	/* in PREPARE nothing is watched yet, and a rollback continues in any case */
	if (rc || !d->watch || ev->phase == PHASE_ROLLBACK)
		return rc;
	return watchdog_look_at_sm(d, err);
}

/* What whoever grants updates says of one that is not to go on; it may just not respond now. */
static bool watchdog_is_ended(int alive)
{
	return alive == -ESTALE || alive == -EPERM || alive == -EBUSY || alive == -EUCLEAN;
}

/* Within a phase: often enough, but not between any two blocks. */
static int watchdog_sm(void *ctx, struct err *err)
{
	struct watchdog *d = ctx;
	int rc = executor_alive(d->a, 0, err);

	if (watchdog_is_ended(rc))
		return rc;
	return d->watch && clock_ms() >= d->sm_ms ? watchdog_look_at_sm(d, err) : 0;
}

/* While it waits: is it still there? */
static int watchdog_blocks(void *ctx, struct err *err)
{
	struct watchdog *d = ctx;
	struct recovery_scan s;
	int rc = executor_scan(&s, d->a, err);
	uint32_t bad;

	if (rc)
		return rc;
	pthread_mutex_lock(&d->lock);
	d->scan = s;
	d->scanned = true;
	pthread_mutex_unlock(&d->lock);
	bad = s.old + s.between + s.foreign;
	if (!bad)
		return 0;
	return err_set(err, -EUCLEAN,
		       "%u LFT blocks and SL2VL tables no longer hold what was written (%u old, %u "
		       "in between, %u of another writer): %.90s",
		       bad, s.old, s.between, s.foreign, s.first);
}

/* ---- the decision ---- */

static void watchdog_set_apply(struct watchdog *d, struct executor *a)
{
	pthread_mutex_lock(&d->lock);
	d->a = a;
	atomic_store(&running, a);
	if (d->decision == DECIDE_ROLLBACK ||
	    (atomic_load(&signalled) && atomic_load(&signalled) != SIGUSR1))
		executor_cancel(a);
	pthread_mutex_unlock(&d->lock);
}

/* Like a request of the same sense. */
static void watchdog_note_signal(struct watchdog *d, int sig)
{
	const char *op = control_op_name(sig == SIGUSR1 ? CONTROL_CONFIRM : CONTROL_ROLLBACK);
	int uid = atomic_load(&signal_uid), pid = atomic_load(&signal_pid);
	char text[128];

	snprintf(text, sizeof(text), "%s requested by SIG%s of uid %d, process %d", op,
		 sigabbrev_np(sig), uid, pid);
	watchdog_note(d, "note", text);
	watchdog_record(d, "request",
			json_pack("{s:s, s:i, s:i, s:b, s:s}", "op", op, "uid", uid, "pid", pid,
				  "ok", 1, "text", text));
}

static enum decision watchdog_take_decision(struct watchdog *d)
{
	int sig = atomic_exchange(&signalled, 0);
	enum decision now;

	pthread_mutex_lock(&d->lock);
	if (sig == SIGUSR1 && !d->decision)
		d->decision = DECIDE_CONFIRM;
	else if (sig)
		d->decision = DECIDE_ROLLBACK;
	now = d->decision;
	d->decision = DECIDE_NOTHING;
	pthread_mutex_unlock(&d->lock);
	if (sig)
		watchdog_note_signal(d, sig);
	return now;
}

/* One poll may check several conditions and report one. */
static void watchdog_take_looks(struct watchdog *d)
{
	pthread_mutex_lock(&d->lock);
	for (int w = 0; w < WATCHES; w++) {
		d->looks[w] = watch_looks(d->watch, (enum watch_what)w);
		snprintf(d->seen[w], sizeof(d->seen[w]), "%s",
			 watch_last(d->watch, (enum watch_what)w));
	}
	pthread_mutex_unlock(&d->lock);
}

static void watchdog_waits(struct watchdog *d, bool yes)
{
	pthread_mutex_lock(&d->lock);
	d->waiting = yes;
	if (yes)
		d->deadline_ms = clock_boot_ms() + 1000ull * d->o.confirm_s;
	pthread_mutex_unlock(&d->lock);
}

static bool watchdog_too_late(struct watchdog *d)
{
	bool yes;

	pthread_mutex_lock(&d->lock);
	yes = clock_boot_ms() >= d->deadline_ms;
	pthread_mutex_unlock(&d->lock);
	return yes;
}

/* Blocks that somebody else has written while it waits are no fault of the new routes. */
static enum coord_event watchdog_event_of(const struct watchdog *d, enum watch_what what)
{
	if (what == WATCH_SM)
		return EV_SM;
	return what == WATCH_REACH && d->scan.foreign ? EV_FOREIGN : EV_WATCH;
}

static bool watchdog_gone(const struct watchdog *d)
{
	return d->job->gone && d->job->gone(d->job->apply.ctx);
}

static uint32_t watchdog_left_ms(struct watchdog *d)
{
	uint64_t now = clock_boot_ms(), until;

	pthread_mutex_lock(&d->lock);
	until = d->deadline_ms;
	pthread_mutex_unlock(&d->lock);
	return until > now ? (uint32_t)(until - now) : 1;
}

/* Whoever grants updates has ended this one: a changed fabric, or its own deadline; or somebody has
 * it route otherwise. */
static bool watchdog_was_ended(struct watchdog *d, int *rc, struct err *err)
{
	struct err why = { "" };
	int alive = executor_alive(d->a, watchdog_left_ms(d), &why);

	if (!watchdog_is_ended(alive))
		return false;
	*rc = executor_abort(d->a, alive == -EUCLEAN ? EV_FOREIGN : EV_SM, why.text, err);
	return true;
}

/* true: decided; rc is that of the rollback, if it came to one. */
static bool watchdog_look_around(struct watchdog *d, int *rc, struct err *err)
{
	struct watch_finding f = { 0 };
	bool bad;
	char text[300];

	if (watchdog_gone(d))
		return true;
	if (watchdog_too_late(d)) {
		snprintf(text, sizeof(text), "nobody confirmed in time (%u s)", d->o.confirm_s);
		*rc = executor_abort(d->a, EV_TIMEOUT, text, err);
		return true;
	}
	if (watchdog_was_ended(d, rc, err))
		return true;
	if (!d->watch)
		return false;
	watchdog_take_overrides(d);
	bad = watch_poll(d->watch, &f);
	watchdog_take_looks(d);
	if (f.text[0])
		watchdog_found(d, &f);
	if (!bad)
		return false;
	snprintf(text, sizeof(text), "%s: %s", watch_name(f.what), f.text);
	*rc = executor_abort(d->a, watchdog_event_of(d, f.what), text, err);
	return true;
}

static void watchdog_rest(struct watchdog *d)
{
	uint32_t ms = d->watch ? watch_next_ms(d->watch) : SLICE_MS;

	clock_rest_us(1000ull * (ms > SLICE_MS ? SLICE_MS : ms)); /* a signal ends it */
}

/* Until it is kept or rolled back. */
static int watchdog_decide(struct watchdog *d, struct err *err)
{
	int rc = 0;

	watchdog_waits(d, true);
	watchdog_publish(d,
			 json_pack("{s:s, s:I}", "event", "waiting", "confirm_s",
				   (json_int_t)d->o.confirm_s),
			 true);
	for (;;) {
		enum decision now = watchdog_take_decision(d);

		if (now == DECIDE_CONFIRM) {
			rc = executor_confirm(d->a, err);
			if (!rc)
				break;
			watchdog_note(d, "note", err->text);
			if (executor_outcome(d->a))
				break;
			rc = 0;
		} else if (now == DECIDE_ROLLBACK) {
			rc = executor_rollback(d->a, err);
			break;
		}
		if (watchdog_look_around(d, &rc, err))
			break;
		executor_idle(d->a);
		watchdog_rest(d);
	}
	watchdog_waits(d, false);
	return rc;
}

static struct executor *watchdog_make_apply(struct watchdog *d, const struct watchdog_job *job)
{
	struct executor_opts ao = job->apply;

	ao.base = d->o.base;
	ao.gate = watchdog_gate;
	ao.event = watchdog_event;
	ao.sm = watchdog_sm;
	ao.driver = d;
	return job->plan ? executor_new(job->plan, job->in, &ao)
			 : executor_recover(job->journal, job->fabric, job->in, &ao);
}

static void watchdog_begin_watch(struct watchdog *d, const struct watchdog_job *job)
{
	struct watch_opts wo = job->watch;

	if (!job->plan || !job->wire)
		return;
	wo.blocks = watchdog_blocks;
	wo.ctx = d;
	d->watch = watch_new(&wo);
	watch_begin(d->watch, job->wire, job->plan, watchdog_found, d);
}

int watchdog_run(struct watchdog *d, const struct watchdog_job *job, enum outcome *outcome,
		 struct err *err)
{
	struct executor_status st;
	struct executor *a;
	int code, rc;

	watchdog_set_job(d, job);
	if (job->journal)
		watchdog_journal_is_there(d, journal_info(job->journal)->head.id);
	watchdog_begin_watch(d, job);
	a = watchdog_make_apply(d, job);
	watchdog_set_apply(d, a);
	rc = job->plan ? executor_run(a, err) : executor_rollback(a, err);
	if (!rc && job->plan)
		rc = watchdog_decide(d, err);
	else if (atomic_load(&signalled)) /* it ended what had not been written yet */
		watchdog_take_decision(d);
	executor_status(a, &st);
	if (!rc && st.outcome == OUTCOME_ROLLED_BACK && st.text[0])
		err_set(err, 0, "%s", st.text);
	*outcome = executor_outcome(a);
	if (watchdog_gone(d) && !executor_give_up(a, WATCHDOG_GONE, NULL)) {
		err_set(err, 0, "%s", WATCHDOG_GONE);
		*outcome = OUTCOME_INCOMPLETE;
	}
	code = outcome_exit_code(*outcome, st.why);
	d->why = st.why;
	pthread_mutex_lock(&d->lock);
	d->over = true;
	d->a = NULL;
	pthread_mutex_unlock(&d->lock);
	watchdog_set_job(d, NULL);
	atomic_store(&running, NULL);
	executor_free(a);
	watch_free(d->watch);
	d->watch = NULL;
	return code;
}

enum coord_why watchdog_why(const struct watchdog *d)
{
	return d->why;
}

/* ---- what others ask ---- */

static json_t *watchdog_said_no(const char *why)
{
	return json_pack("{s:b, s:s}", "ok", 0, "error", why);
}

static json_t *watchdog_watch_json(const struct watchdog *d)
{
	json_t *j = json_object();

	for (int i = 0; i < WATCHES; i++)
		json_object_set_new(j, watch_name((enum watch_what)i),
				    json_pack("{s:b, s:s, s:I}", "on", d->on[i], "last", d->seen[i],
					      "looks", (json_int_t)d->looks[i]));
	return j;
}

static json_t *watchdog_status(struct watchdog *d)
{
	struct executor_status st = { 0 };
	uint64_t now = clock_boot_ms();
	json_t *j;

	if (d->a)
		executor_status(d->a, &st);
	if (!st.step[0])
		snprintf(st.step, sizeof(st.step), "%.31s", d->step);
	j = json_pack("{s:b, s:I, s:I, s:o, s:o, s:I}", "ok", 1, "pid", (json_int_t)getpid(),
		      "guard", (json_int_t)supervisor_pid(d->o.supervisor), "watch",
		      watchdog_watch_json(d), "status", update_status_json(&st), "confirm_s",
		      (json_int_t)d->o.confirm_s);
	json_object_set_new(j, "deadline_s",
			    d->waiting ? json_real(d->deadline_ms > now
							   ? (double)(d->deadline_ms - now) / 1000
							   : 0)
				       : json_null());
	json_object_set_new(j, "switches",
			    d->scanned ? json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "old",
						   (json_int_t)d->scan.old, "new",
						   (json_int_t)d->scan.new, "between",
						   (json_int_t)d->scan.between, "foreign",
						   (json_int_t)d->scan.foreign, "silent",
						   (json_int_t)d->scan.silent, "missing",
						   (json_int_t)d->scan.missing)
				       : json_null());
	return j;
}

static json_t *watchdog_decided(struct watchdog *d, const struct control_request *r)
{
	if (d->over)
		return watchdog_said_no("it has ended");
	if (r->op == CONTROL_ROLLBACK) {
		d->decision = DECIDE_ROLLBACK;
		if (d->a)
			executor_cancel(d->a);
		return json_pack("{s:b}", "ok", 1);
	}
	if (r->op == CONTROL_OVERRIDE) {
		d->overridden |= r->watches;
		for (int w = 0; w < WATCHES; w++)
			d->on[w] = d->on[w] && !(r->watches & 1u << w);
		return json_pack("{s:b}", "ok", 1);
	}
	if (!d->waiting)
		return watchdog_said_no(
			"it is not waiting for a decision: only a rollback can be requested");
	if (d->decision)
		return watchdog_said_no("a decision is already being carried out");
	if (r->op == CONTROL_CONFIRM) {
		d->decision = DECIDE_CONFIRM;
		return json_pack("{s:b}", "ok", 1);
	}
	d->deadline_ms = clock_boot_ms() + 1000ull * (r->seconds ? r->seconds : d->o.confirm_s);
	return json_pack("{s:b, s:I}", "ok", 1, "deadline_s",
			 (json_int_t)(r->seconds ? r->seconds : d->o.confirm_s));
}

static const char *watchdog_what_asked(char buf[96], const struct control_request *r)
{
	size_t n = 0;

	buf[0] = '\0';
	if (r->op == CONTROL_EXTEND)
		return " of the deadline";
	for (int w = 0; r->op == CONTROL_OVERRIDE && w < WATCHES; w++)
		if (r->watches & 1u << w)
			n += (size_t)snprintf(buf + n, 96 - n, "%s%s",
					      n ? ", " : " of the watch over ",
					      watch_name((enum watch_what)w));
	return buf;
}

/* More time and what is not watched any more are kinds of lines of their own. */
static void watchdog_note_request(struct watchdog *d, const struct control_request *r,
				  const struct control_peer *who, const char *text, bool ok)
{
	json_t *data = json_pack("{s:I, s:I, s:b, s:s}", "uid", (json_int_t)who->uid, "pid",
				 (json_int_t)who->pid, "ok", ok, "text", text);
	json_t *what = json_array();

	for (int w = 0; w < WATCHES; w++)
		if (r->watches & 1u << w)
			json_array_append_new(what, json_string(watch_name((enum watch_what)w)));
	if (r->op == CONTROL_EXTEND)
		json_object_set_new(data, "seconds",
				    json_integer(r->seconds ? r->seconds : d->o.confirm_s));
	else if (r->op == CONTROL_OVERRIDE)
		json_object_set(data, "what", what);
	else
		json_object_set_new(data, "op", json_string(control_op_name(r->op)));
	json_decref(what);
	watchdog_record(d,
			r->op == CONTROL_EXTEND	    ? "extend"
			: r->op == CONTROL_OVERRIDE ? "override"
						    : "request",
			data);
}

/* What the control socket calls, from its own thread: the answer to a request. */
static json_t *watchdog_asked(void *ctx, const struct control_request *r,
			      const struct control_peer *who)
{
	struct watchdog *d = ctx;
	char text[260], what[96];
	json_t *j;
	bool ok;

	pthread_mutex_lock(&d->lock);
	j = r->op == CONTROL_STATUS ? watchdog_status(d) : watchdog_decided(d, r);
	pthread_mutex_unlock(&d->lock);
	if (r->op == CONTROL_STATUS)
		return j;
	ok = json_is_true(json_object_get(j, "ok"));
	snprintf(text, sizeof(text), "%s%s requested by uid %u, process %ld%s",
		 control_op_name(r->op), watchdog_what_asked(what, r), (unsigned)who->uid,
		 (long)who->pid, ok ? "" : ": refused");
	watchdog_note(d, "note", text);
	watchdog_note_request(d, r, who, text, ok);
	return j;
}

/* ---- beginning and end ---- */

static void watchdog_take_signals(void)
{
	struct sigaction sa = { .sa_sigaction = watchdog_on_signal, .sa_flags = SA_SIGINFO },
			 ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &ignore, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

static void watchdog_supervisor_died(void *ctx)
{
	struct watchdog *d = ctx;
	int fd = supervisor_renew(d->o.supervisor);

	watchdog_note(d, "note",
		      fd < 0 ? "the supervisor died and cannot be replaced"
			     : "the supervisor died: another one watches now");
	if (fd >= 0)
		control_watch(d->control, fd, watchdog_supervisor_died, d);
}

int watchdog_new(struct watchdog **out, const struct watchdog_opts *o, struct err *err)
{
	struct watchdog *d = xcalloc(1, sizeof(*d));
	int rc;

	d->o = *o;
	if (!d->o.confirm_s)
		d->o.confirm_s = WATCHDOG_CONFIRM_S;
	pthread_mutex_init(&d->record_lock, NULL);
	pthread_mutex_init(&d->lock, NULL);
	watchdog_take_signals();
	rc = control_new(&d->control, watchdog_asked, d, err);
	if (rc) {
		pthread_mutex_destroy(&d->lock);
		pthread_mutex_destroy(&d->record_lock);
		free(d);
		return rc;
	}
	watchdog_publish(d, json_pack("{s:s, s:I}", "event", "hello", "pid", (json_int_t)getpid()),
			 true);
	if (o->client >= 0)
		control_adopt(d->control, o->client);
	if (o->supervisor && supervisor_fd(o->supervisor) >= 0)
		control_watch(d->control, supervisor_fd(o->supervisor), watchdog_supervisor_died,
			      d);
	*out = d;
	return 0;
}

void watchdog_end(struct watchdog *d, int code, enum outcome outcome, const char *user,
		  const char *text)
{
	const char *id = d->dir ? strrchr(d->dir, '/') + 1 : "";
	char line[700];

	pthread_mutex_lock(&d->lock);
	d->over = true;
	pthread_mutex_unlock(&d->lock);
	control_watch(d->control, -1, NULL, NULL);
	snprintf(line, sizeof(line), "update %s: %s%s%s", id,
		 d->dir ? outcome_name(outcome) : "not begun", text[0] ? ": " : "", text);
	log_add(LOG_INFO, "watchdog", "%s", line);
	if (d->dir && user)
		wall_notify(user, line);
	watchdog_publish(d,
			 json_pack("{s:s, s:s, s:i, s:s, s:o}", "event", "over", "id", id, "exit",
				   code, "outcome", outcome_name(outcome), "text", json_text(text)),
			 true);
	control_free(d->control);
	pthread_mutex_destroy(&d->lock);
	pthread_mutex_destroy(&d->record_lock);
	free(d->dir);
	free(d);
}
