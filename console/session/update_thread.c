/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/update_thread.h"

#include "console/record/record.h"
#include "console/update/update_client.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/thread.h"
#include "fabric/base/message/log.h"
#include "fabric/base/text/json_text.h"
#include "fabric/base/time/clock.h"
#include "fabric/plan/file/plan_bytes.h"
#include "fabric/update/journal/journal.h"
#include "fabric/update/watchdog/watch_conditions.h"
#include "views/data/state/state.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TURN_MS 200
#define SEEN_MS 2000 /* what it watches is asked so often while it waits */

_Static_assert(APPLY_WATCHES == WATCHES, "one line of the view each");

struct update_thread {
	const struct watchdog_config *config;
	struct mailbox *box;
	pthread_t thread;
	bool started; /* thread is to be joined */
	struct plan *plan;
	struct record *record; /* borrowed, of that plan; NULL: none */
	bool jobs_known;
	char recover[48]; /* "": a new one */
	struct update_client client;

	pthread_mutex_t lock; /* of all below */
	bool busy, stop, want_rollback;

	/* the thread's own */
	char journal[48]; /* the update whose journal was read last */
	uint64_t seen_ms; /* when that was asked last */
	struct executor_status last;
};

static bool update_thread_stopped(void *ctx)
{
	struct update_thread *u = ctx;
	bool yes;

	pthread_mutex_lock(&u->lock);
	yes = u->stop;
	pthread_mutex_unlock(&u->lock);
	return yes;
}

/* ---- what is reported ---- */

static void update_thread_tell_end(struct update_thread *u, int rc, const char *text)
{
	struct msg *msg = msg_new(MSG_APPLY_END);

	msg->rc = rc;
	msg->apply = u->last;
	snprintf(msg->text, sizeof(msg->text), "%s", text);
	mailbox_send(u->box, msg);
}

static void update_thread_over(void *ctx, const struct update_end *end)
{
	struct update_thread *u = ctx;

	u->last.waiting = false;
	u->last.outcome = end->outcome;
	pthread_mutex_lock(&u->lock);
	u->busy = false;
	pthread_mutex_unlock(&u->lock);
	update_thread_tell_end(u, end->outcome == OUTCOME_CONFIRMED ? 0 : -ECANCELED, end->text);
}

/* Once it is there: whose update it is, and what it writes. */
static void update_thread_tell_journal(struct update_thread *u, const char *txn)
{
	struct changes *l = NULL;
	struct err err = { "" };
	struct txn_head head;
	struct msg *msg;

	if (!txn[0] || !strcmp(u->journal, txn))
		return;
	snprintf(u->journal, sizeof(u->journal), "%s", txn);
	if (journal_look(&head, &l, u->client.base, txn, &err)) {
		log_add(LOG_WARN, "journal", "%s", err.text);
		return;
	}
	msg = msg_new(MSG_APPLY_JOURNAL);
	msg->changes = l;
	snprintf(msg->txn, sizeof(msg->txn), "%s", txn);
	snprintf(msg->text, sizeof(msg->text), "%s", head.user);
	mailbox_send(u->box, msg);
}

static void update_thread_event(void *ctx, const struct executor_event *ev,
				const struct executor_status *st, const char *block)
{
	struct update_thread *u = ctx;
	struct msg *msg = msg_new(MSG_APPLY_EVENT);

	(void)block;
	update_thread_tell_journal(u, st->txn);
	u->last = *st;
	msg->event = *ev;
	msg->apply = *st;
	mailbox_send(u->box, msg);
}

static void update_thread_tell_deadline(struct update_thread *u, double seconds)
{
	struct msg *msg = msg_new(MSG_APPLY_DEADLINE);

	msg->seconds = seconds;
	mailbox_send(u->box, msg);
}

static void update_thread_waits(void *ctx, unsigned confirm_s)
{
	struct update_thread *u = ctx;

	u->last.waiting = true;
	update_thread_tell_end(u, 0, "");
	update_thread_tell_deadline(u, confirm_s);
}

static void update_thread_process(void *ctx, pid_t worker, const char *installer)
{
	struct update_thread *u = ctx;
	struct msg *msg = msg_new(MSG_APPLY_WAY);

	msg->done = (uint64_t)worker;
	snprintf(msg->text, sizeof(msg->text), "%s", installer);
	mailbox_send(u->box, msg);
}

static void update_thread_found(void *ctx, const char *what, const char *text, bool tripped)
{
	struct update_thread *u = ctx;
	struct msg *msg = msg_new(MSG_APPLY_FOUND);

	for (int w = 0; w < WATCHES; w++)
		if (!strcmp(what, watch_name((enum watch_what)w)))
			msg->step = watch_name((enum watch_what)w);
	msg->rc = tripped;
	snprintf(msg->text, sizeof(msg->text), "%s", text);
	log_add(tripped ? LOG_ERROR : LOG_INFO, "watch", "%s: %s", what, text);
	mailbox_send(u->box, msg);
}

static void update_thread_ask_status(struct update_thread *u)
{
	if (u->client.waiting)
		update_client_ask(&u->client, CONTROL_STATUS, 0);
}

/* Somebody may have asked for more time, here or elsewhere. */
static void update_thread_says(void *ctx, enum log_level level, const char *text)
{
	log_add(level, "apply", "%s", text);
	update_thread_ask_status(ctx);
}

static void update_thread_tell_seen(struct update_thread *u, const json_t *status)
{
	const json_t *watch = json_object_get(status, "watch"),
		     *sw = json_object_get(status, "switches");
	struct msg *msg = msg_new(MSG_APPLY_SEEN);
	struct apply_seen *seen = xcalloc(1, sizeof(*seen));

	for (int w = 0; w < WATCHES; w++) {
		const json_t *one = json_object_get(watch, watch_name((enum watch_what)w));

		seen->of[w].on = json_is_true(json_object_get(one, "on"));
		seen->of[w].samples = json_u32_at(one, "looks");
		snprintf(seen->of[w].last, sizeof(seen->of[w].last), "%s",
			 json_string_at(one, "last"));
	}
	seen->scanned = json_is_object(sw);
	seen->as_written = json_u32_at(sw, "new");
	seen->other =
		json_u32_at(sw, "old") + json_u32_at(sw, "between") + json_u32_at(sw, "foreign");
	seen->silent = json_u32_at(sw, "silent") + json_u32_at(sw, "missing");
	msg->seen = seen;
	mailbox_send(u->box, msg);
}

static void update_thread_answer(void *ctx, const json_t *j)
{
	struct update_thread *u = ctx;
	const json_t *left = json_object_get(j, "deadline_s");

	if (json_is_false(json_object_get(j, "ok")))
		log_add(LOG_WARN, "apply", "%s: %s", json_string_at(j, "re"),
			json_string_at(j, "error"));
	else if (json_is_number(left))
		update_thread_tell_deadline(u, json_number_value(left));
	if (u->client.waiting && json_is_object(json_object_get(j, "watch")))
		update_thread_tell_seen(u, j);
}

/* ---- the thread ---- */

static int update_thread_launch(struct update_thread *u, struct err *err)
{
	struct watchdog_config c = *u->config;
	struct plan_bytes plan = { 0 };
	bool back;
	int rc = u->plan && u->record ? record_sync(u->record, err) : 0;

	if (!u->jobs_known) /* those of the plan are not, either */
		c.live.jobs = NULL;
	if (!rc && u->plan)
		rc = plan_bytes_of(&plan, u->plan, err);
	if (!rc)
		rc = update_client_start(&u->client, &c, u->plan ? &plan : NULL,
					 u->plan ? NULL : u->recover, err);
	plan_bytes_clear(&plan);
	plan_free(u->plan);
	u->plan = NULL;
	pthread_mutex_lock(&u->lock);
	back = u->want_rollback;
	pthread_mutex_unlock(&u->lock);
	if (!rc && back)
		update_client_ask(&u->client, CONTROL_ROLLBACK, 0);
	return rc;
}

/* The answer comes like any other line. */
static void update_thread_look(struct update_thread *u)
{
	uint64_t now = clock_ms();

	if (now - u->seen_ms < SEEN_MS)
		return;
	u->seen_ms = now;
	update_thread_ask_status(u);
}

static void *update_thread_run(void *arg)
{
	struct update_thread *u = arg;
	struct update_end end = { .outcome = OUTCOME_REFUSED };
	struct err err = { "" };

	if (update_thread_launch(u, &err)) {
		snprintf(end.text, sizeof(end.text), "%s", err.text);
		update_thread_over(u, &end);
		return NULL;
	}
	while (!u->client.over && !update_thread_stopped(u)) {
		update_client_take(&u->client, TURN_MS);
		update_thread_look(u);
	}
	return NULL;
}

/* ---- what is asked for ---- */

static const struct update_client_ops client_ops = {
	.event = update_thread_event,
	.waits = update_thread_waits,
	.found = update_thread_found,
	.process = update_thread_process,
	.says = update_thread_says,
	.answer = update_thread_answer,
	.over = update_thread_over,
	.stop = update_thread_stopped,
};

double update_thread_quiet_s(const struct update_thread *u)
{
	return update_client_quiet_s(&u->client);
}

bool update_thread_busy(struct update_thread *u)
{
	bool yes;

	if (!u)
		return false;
	pthread_mutex_lock(&u->lock);
	yes = u->busy;
	pthread_mutex_unlock(&u->lock);
	return yes;
}

/* One at a time: false while there is one. */
static bool update_thread_begin(struct update_thread *u)
{
	if (update_thread_busy(u))
		return false;
	if (u->started)
		pthread_join(u->thread, NULL);
	update_client_close(&u->client);
	update_client_init(&u->client, &client_ops, u, u->config->live.state_dir);
	u->busy = true;
	u->want_rollback = false;
	u->last = (struct executor_status){ 0 };
	return true;
}

static void update_thread_go(struct update_thread *u)
{
	struct update_end end = { .outcome = OUTCOME_REFUSED };
	struct err err = { "" };

	u->started = !thread_start(&u->thread, "update", update_thread_run, u, &err);
	if (u->started)
		return;
	snprintf(end.text, sizeof(end.text), "%s", err.text);
	update_thread_over(u, &end);
}

void update_thread_apply(struct update_thread *u, struct plan *plan, bool jobs_known,
			 struct record *record)
{
	if (!update_thread_begin(u)) {
		plan_free(plan);
		return;
	}
	u->plan = plan;
	u->jobs_known = jobs_known;
	u->record = record;
	u->recover[0] = '\0';
	update_thread_go(u);
}

void update_thread_recover(struct update_thread *u, const char *txn)
{
	if (!update_thread_begin(u))
		return;
	snprintf(u->recover, sizeof(u->recover), "%s", txn);
	update_thread_go(u);
}

void update_thread_confirm(struct update_thread *u)
{
	update_client_ask(&u->client, CONTROL_CONFIRM, 0);
}

void update_thread_extend(struct update_thread *u, uint32_t seconds)
{
	update_client_ask(&u->client, CONTROL_EXTEND, seconds);
}

void update_thread_override(struct update_thread *u, unsigned watches)
{
	update_client_override(&u->client, watches);
}

void update_thread_rollback(struct update_thread *u)
{
	char id[sizeof(u->client.id)];

	if (!update_thread_busy(u)) {
		memcpy(id, u->client.id, sizeof(id));
		if (id[0])
			update_thread_recover(u, id);
		return;
	}
	pthread_mutex_lock(&u->lock);
	u->want_rollback = true;
	pthread_mutex_unlock(&u->lock);
	update_client_ask(&u->client, CONTROL_ROLLBACK, 0);
}

void update_thread_free(struct update_thread *u)
{
	if (!u)
		return;
	pthread_mutex_lock(&u->lock);
	u->stop = true;
	pthread_mutex_unlock(&u->lock);
	if (u->started)
		pthread_join(u->thread, NULL);
	plan_free(u->plan);
	update_client_close(&u->client);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

struct update_thread *update_thread_new(const struct watchdog_config *config, struct mailbox *box)
{
	struct update_thread *u = xcalloc(1, sizeof(*u));

	u->config = config;
	u->box = box;
	update_client_init(&u->client, &client_ops, u, config->live.state_dir);
	pthread_mutex_init(&u->lock, NULL);
	return u;
}
