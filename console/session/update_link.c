/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The console's updates on a real fabric: each is a watchdog process, followed by a thread. */
#include "console/session/updater.h"

#include "console/session/update_reconnect.h"
#include "fabric/base/clock.h"
#include "fabric/base/log.h"
#include "fabric/base/mem.h"
#include "fabric/plan/planfile.h"
#include "fabric/update/update_event.h"
#include "fabric/update/watchdog/watch_conditions.h"
#include "views/data/state.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TURN_MS 200
#define SEEN_MS 2000 /* what it watches is asked so often while it waits */

_Static_assert(APPLY_WATCHES == WATCHES, "one line of the view each");

struct update_link {
	const struct watchdog_config *config;
	struct mailbox *box;
	pthread_t thread;
	bool started; /* thread is to be joined */
	struct plan *plan;
	bool jobs_known;
	char recover[48]; /* "": a new one */

	pthread_mutex_t lock; /* of all below */
	struct control_link link;
	bool busy, stop, waiting, want_rollback;

	/* the thread's own */
	char id[48];
	pid_t worker;
	uint64_t seen_ms; /* when that was asked last */
	struct executor_status last;
	bool over;
};

static bool update_link_stopped(void *ctx)
{
	struct update_link *u = ctx;
	bool yes;

	pthread_mutex_lock(&u->lock);
	yes = u->stop;
	pthread_mutex_unlock(&u->lock);
	return yes;
}

/* ---- what is told ---- */

static void update_link_tell_end(struct update_link *u, int rc, const char *text)
{
	struct msg *msg = msg_new(MSG_APPLY_END);

	msg->rc = rc;
	msg->apply = u->last;
	snprintf(msg->text, sizeof(msg->text), "%s", text);
	mailbox_send(u->box, msg);
}

static void update_link_ended(struct update_link *u, enum outcome outcome, const char *text)
{
	u->over = true;
	u->last.waiting = false;
	u->last.outcome = outcome;
	pthread_mutex_lock(&u->lock);
	u->waiting = u->busy = false;
	pthread_mutex_unlock(&u->lock);
	update_link_tell_end(u, outcome == OUTCOME_CONFIRMED ? 0 : -ECANCELED, text);
}

static const char *update_link_str(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

static void update_link_take_update(struct update_link *u, const struct executor_event *ev,
				    const struct executor_status *st)
{
	struct msg *msg = msg_new(MSG_APPLY_EVENT);

	u->last = *st;
	if (st->txn[0])
		snprintf(u->id, sizeof(u->id), "%s", st->txn);
	msg->event = *ev;
	msg->apply = *st;
	mailbox_send(u->box, msg);
}

static void update_link_tell_deadline(struct update_link *u, double seconds)
{
	struct msg *msg = msg_new(MSG_APPLY_DEADLINE);

	msg->seconds = seconds;
	mailbox_send(u->box, msg);
}

static void update_link_tell_way(struct update_link *u, const char *installer)
{
	struct msg *msg = msg_new(MSG_APPLY_WAY);

	msg->done = (uint64_t)u->worker;
	snprintf(msg->text, sizeof(msg->text), "%s", installer);
	mailbox_send(u->box, msg);
}

static uint32_t update_link_count(const json_t *j, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(j, key));

	return v < 0 || v > UINT32_MAX ? 0 : (uint32_t)v;
}

static void update_link_tell_seen(struct update_link *u, const json_t *status)
{
	const json_t *watch = json_object_get(status, "watch"),
		     *sw = json_object_get(status, "switches");
	struct msg *msg = msg_new(MSG_APPLY_SEEN);
	struct apply_seen *seen = xcalloc(1, sizeof(*seen));

	for (int w = 0; w < WATCHES; w++) {
		const json_t *one = json_object_get(watch, watch_name((enum watch_what)w));

		seen->of[w].on = json_is_true(json_object_get(one, "on"));
		seen->of[w].looks = update_link_count(one, "looks");
		snprintf(seen->of[w].last, sizeof(seen->of[w].last), "%s",
			 update_link_str(one, "last"));
	}
	seen->scanned = json_is_object(sw);
	seen->as_written = update_link_count(sw, "new");
	seen->other = update_link_count(sw, "old") + update_link_count(sw, "between") +
		      update_link_count(sw, "foreign");
	seen->silent = update_link_count(sw, "silent") + update_link_count(sw, "missing");
	msg->seen = seen;
	mailbox_send(u->box, msg);
}

static void update_link_found(struct update_link *u, const json_t *j)
{
	struct msg *msg = msg_new(MSG_APPLY_FOUND);
	bool tripped = json_is_true(json_object_get(j, "tripped"));

	for (int w = 0; w < WATCHES; w++)
		if (!strcmp(update_link_str(j, "what"), watch_name((enum watch_what)w)))
			msg->step = watch_name((enum watch_what)w);
	msg->rc = tripped;
	snprintf(msg->text, sizeof(msg->text), "%s", update_link_str(j, "text"));
	log_add(tripped ? LOG_ERROR : LOG_INFO, "watch", "%s: %s", update_link_str(j, "what"),
		msg->text);
	mailbox_send(u->box, msg);
}

/* Somebody may have asked for more time, here or elsewhere. */
static void update_link_asked(struct update_link *u, const json_t *j)
{
	log_add(LOG_INFO, "apply", "%s", update_link_str(j, "text"));
	pthread_mutex_lock(&u->lock);
	if (u->waiting && u->link.fd >= 0)
		control_ask(&u->link, CONTROL_STATUS, 0);
	pthread_mutex_unlock(&u->lock);
}

static void update_link_answered(struct update_link *u, const json_t *j)
{
	const json_t *left = json_object_get(j, "deadline_s");

	if (json_is_false(json_object_get(j, "ok")))
		log_add(LOG_WARN, "apply", "%s: %s", update_link_str(j, "re"),
			update_link_str(j, "error"));
	else if (json_is_number(left))
		update_link_tell_deadline(u, json_number_value(left));
	if (u->waiting && json_is_object(json_object_get(j, "watch")))
		update_link_tell_seen(u, j);
}

/* Its answer comes like any other line. */
static void update_link_ask_seen(struct update_link *u)
{
	uint64_t now = clock_ms();

	if (now - u->seen_ms < SEEN_MS)
		return;
	u->seen_ms = now;
	pthread_mutex_lock(&u->lock);
	if (u->waiting && u->link.fd >= 0)
		control_ask(&u->link, CONTROL_STATUS, 0);
	pthread_mutex_unlock(&u->lock);
}

static void update_link_waits(struct update_link *u, const json_t *j)
{
	pthread_mutex_lock(&u->lock);
	u->waiting = true;
	pthread_mutex_unlock(&u->lock);
	u->last.waiting = true;
	update_link_tell_end(u, 0, "");
	update_link_tell_deadline(u, (double)json_integer_value(json_object_get(j, "confirm_s")));
}

static void update_link_met(struct update_link *u, const json_t *j)
{
	u->worker = (pid_t)json_integer_value(json_object_get(j, "pid"));
	update_link_tell_way(u, "");
}

static void update_link_take(struct update_link *u, const json_t *j)
{
	const char *event = update_link_str(j, "event");
	struct executor_event ev;
	struct executor_status st;

	if (update_event_parse(&ev, &st, j))
		update_link_take_update(u, &ev, &st);
	else if (!strcmp(event, "hello"))
		update_link_met(u, j);
	else if (!strcmp(event, "installer"))
		update_link_tell_way(u, update_link_str(j, "name"));
	else if (!strcmp(event, "waiting"))
		update_link_waits(u, j);
	else if (!strcmp(event, "over"))
		update_link_ended(u, outcome_by_name(update_link_str(j, "outcome")),
				  update_link_str(j, "text"));
	else if (!strcmp(event, "watch"))
		update_link_found(u, j);
	else if (*event)
		update_link_asked(u, j);
	else
		update_link_answered(u, j);
}

/* ---- the connection ---- */

static void update_link_left_alone(struct update_link *u, const struct txn_info *t)
{
	char text[320];

	snprintf(text, sizeof(text), "update %s: %s%s%s", u->id, txn_state_name(t->state),
		 txn_state_final(t->state) ? "" : ", and nobody works on it: roll it back",
		 t->state == TXN_SUPERSEDED ? ": " : "");
	if (t->state == TXN_SUPERSEDED)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s", t->said);
	update_link_ended(u,
			  t->state == TXN_CONFIRMED	? OUTCOME_CONFIRMED
			  : t->state == TXN_ROLLED_BACK ? OUTCOME_ROLLED_BACK
			  : t->state == TXN_ABANDONED	? OUTCOME_REFUSED
			  : t->state == TXN_SUPERSEDED	? OUTCOME_SUPERSEDED
							: OUTCOME_INCOMPLETE,
			  text);
}

static void update_link_look_for_another(struct update_link *u)
{
	struct control_link link, old;
	struct txn_info t;
	int rc;

	control_link_init(&link, -1);
	rc = update_reconnect(&link, &t, u->config->live.state_dir, u->id, u->worker,
			      update_link_stopped, u);
	pthread_mutex_lock(&u->lock);
	old = u->link;
	u->link = link;
	u->waiting = false;
	pthread_mutex_unlock(&u->lock);
	control_close(&old);
	if (rc == 1)
		log_add(LOG_WARN, "apply",
			"the process of update %s has died; another one has taken over", u->id);
	else if (rc)
		update_link_ended(u, OUTCOME_NONE,
				  "the watchdog has died before anything was written");
	else if (!update_link_stopped(u))
		update_link_left_alone(u, &t);
}

static char *update_link_plan_path(void)
{
	const char *tmp = getenv("TMPDIR");

	return xasprintf("%s/ibroute-plan-%ld", tmp && *tmp ? tmp : "/tmp", (long)getpid());
}

static int update_link_launch(struct update_link *u, struct err *err)
{
	struct watchdog_config c = *u->config;
	char *path = u->plan ? update_link_plan_path() : NULL;
	int fd = -1, rc = 0;

	if (!u->jobs_known) /* those of the plan are not, either */
		c.live.jobs = NULL;
	if (path)
		rc = plan_save(path, u->plan, err);
	if (!rc)
		rc = watchdog_launch(&fd, &c, path, path ? NULL : u->recover, err);
	if (path)
		unlink(path);
	free(path);
	plan_free(u->plan);
	u->plan = NULL;
	if (rc)
		return rc;
	pthread_mutex_lock(&u->lock);
	control_link_init(&u->link, fd);
	if (u->want_rollback)
		control_ask(&u->link, CONTROL_ROLLBACK, 0);
	pthread_mutex_unlock(&u->lock);
	return 0;
}

static void *update_link_run(void *arg)
{
	struct update_link *u = arg;
	struct err err = { "" };

	if (update_link_launch(u, &err)) {
		update_link_ended(u, OUTCOME_REFUSED, err.text);
		return NULL;
	}
	while (!u->over && !update_link_stopped(u)) {
		json_t *j = NULL;
		int rc = control_next(&j, &u->link, TURN_MS);

		if (rc == 1)
			update_link_take(u, j);
		json_decref(j);
		if (rc < 0 && rc != -EINTR)
			update_link_look_for_another(u);
		update_link_ask_seen(u);
	}
	return NULL;
}

/* ---- the seam ---- */

static bool update_link_start(struct update_link *u)
{
	pthread_mutex_lock(&u->lock);
	if (u->busy) {
		pthread_mutex_unlock(&u->lock);
		return false;
	}
	u->busy = true;
	u->want_rollback = false;
	pthread_mutex_unlock(&u->lock);
	if (u->started)
		pthread_join(u->thread, NULL);
	control_close(&u->link);
	u->over = u->waiting = false;
	u->last = (struct executor_status){ 0 };
	u->worker = 0;
	u->id[0] = '\0';
	return true;
}

static void update_link_go(struct update_link *u)
{
	u->started = !pthread_create(&u->thread, NULL, update_link_run, u);
	if (!u->started)
		update_link_ended(u, OUTCOME_REFUSED, "no thread for it");
}

static void update_link_apply(void *ctx, struct plan *plan, const struct jobset *jobs)
{
	struct update_link *u = ctx;

	if (!update_link_start(u)) {
		plan_free(plan);
		return;
	}
	u->plan = plan;
	u->jobs_known = jobs != NULL;
	u->recover[0] = '\0';
	update_link_go(u);
}

static void update_link_recover(void *ctx, const char *txn)
{
	struct update_link *u = ctx;

	if (!update_link_start(u))
		return;
	snprintf(u->recover, sizeof(u->recover), "%s", txn);
	snprintf(u->id, sizeof(u->id), "%s", txn);
	update_link_go(u);
}

static void update_link_ask(struct update_link *u, enum control_op op)
{
	pthread_mutex_lock(&u->lock);
	u->want_rollback |= op == CONTROL_ROLLBACK;
	if (u->link.fd >= 0)
		control_ask(&u->link, op, 0);
	pthread_mutex_unlock(&u->lock);
}

static void update_link_confirm(void *ctx)
{
	update_link_ask(ctx, CONTROL_CONFIRM);
}

static void update_link_extend(void *ctx, uint32_t seconds)
{
	struct update_link *u = ctx;

	pthread_mutex_lock(&u->lock);
	if (u->link.fd >= 0)
		control_ask(&u->link, CONTROL_EXTEND, seconds);
	pthread_mutex_unlock(&u->lock);
}

static void update_link_override(void *ctx, unsigned watches)
{
	struct update_link *u = ctx;

	pthread_mutex_lock(&u->lock);
	if (u->link.fd >= 0)
		control_ask_override(&u->link, watches);
	pthread_mutex_unlock(&u->lock);
}

static bool update_link_busy(void *ctx)
{
	struct update_link *u = ctx;
	bool yes;

	pthread_mutex_lock(&u->lock);
	yes = u->busy;
	pthread_mutex_unlock(&u->lock);
	return yes;
}

/* One that is over and was not complete is done again from its journal. */
static void update_link_rollback(void *ctx)
{
	struct update_link *u = ctx;
	char id[48];

	if (update_link_busy(u)) {
		update_link_ask(u, CONTROL_ROLLBACK);
		return;
	}
	memcpy(id, u->id, sizeof(id));
	if (id[0])
		update_link_recover(u, id);
}

static void update_link_jobs(void *ctx, const struct jobset *jobs)
{
	(void)ctx; /* the process asks for itself */
	(void)jobs;
}

static void update_link_free(void *ctx)
{
	struct update_link *u = ctx;

	pthread_mutex_lock(&u->lock);
	u->stop = true;
	pthread_mutex_unlock(&u->lock);
	if (u->started)
		pthread_join(u->thread, NULL);
	plan_free(u->plan);
	control_close(&u->link);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

struct updater update_link_new(const struct watchdog_config *config, struct mailbox *box)
{
	static const struct updater_ops ops = {
		.apply = update_link_apply,
		.jobs = update_link_jobs,
		.confirm = update_link_confirm,
		.extend = update_link_extend,
		.override = update_link_override,
		.rollback = update_link_rollback,
		.recover = update_link_recover,
		.cancel = update_link_rollback,
		.busy = update_link_busy,
		.free = update_link_free,
		.name = "watchdog",
	};
	struct update_link *u = xcalloc(1, sizeof(*u));

	u->config = config;
	u->box = box;
	control_link_init(&u->link, -1);
	pthread_mutex_init(&u->lock, NULL);
	return (struct updater){ .ops = &ops, .ctx = u };
}
