/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/update/update_client.h"

#include "console/config/exits.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"
#include "fabric/base/time/clock.h"
#include "fabric/update/update_event.h"
#include "fabric/update/watchdog/supervisor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NOBODY_MS 3000 /* that a worker may be away while its supervisor starts another */
#define LOOK_US	  50000
#define ANSWER_MS 5000

void update_client_init(struct update_client *c, const struct update_client_ops *ops, void *ctx,
			const char *base)
{
	*c = (struct update_client){ .ops = ops, .ctx = ctx, .base = xstrdup(journal_base(base)) };
	control_link_init(&c->link, -1);
	pthread_mutex_init(&c->lock, NULL);
}

void update_client_close(struct update_client *c)
{
	control_close(&c->link);
	pthread_mutex_destroy(&c->lock);
	free(c->base);
}

static void update_client_link(struct update_client *c, struct control_link link)
{
	struct control_link old;

	pthread_mutex_lock(&c->lock);
	old = c->link;
	c->link = link;
	pthread_mutex_unlock(&c->lock);
	control_close(&old);
}

int update_client_ask(struct update_client *c, enum control_op op, uint32_t seconds)
{
	int rc;

	pthread_mutex_lock(&c->lock);
	rc = c->link.fd < 0 ? -EPIPE : control_ask(&c->link, op, seconds);
	pthread_mutex_unlock(&c->lock);
	return rc;
}

int update_client_override(struct update_client *c, unsigned watches)
{
	int rc;

	pthread_mutex_lock(&c->lock);
	rc = c->link.fd < 0 ? -EPIPE : control_ask_override(&c->link, watches);
	pthread_mutex_unlock(&c->lock);
	return rc;
}

/* ---- beginning ---- */

static int update_client_plan(const struct plan_bytes *p, struct err *err)
{
	int fd = supervisor_memory("ibroute-plan", p->data, p->len);

	return fd >= 0 ? fd : err_set(err, fd, "the plan for the watchdog: %s", strerror(-fd));
}

static int update_client_options(const struct watchdog_config *config,
				 const struct plan_bytes *plan, struct err *err)
{
	struct watchdog_config c = *config;

	c.plan = plan ? plan->sum : (struct digest){ { 0 } };
	return watchdog_config_file(&c, err);
}

int update_client_start(struct update_client *c, const struct watchdog_config *config,
			const struct plan_bytes *plan_bytes, const char *recover, struct err *err)
{
	int pair[2] = { -1, -1 }, plan = -1, options, rc;
	struct control_link link;

	rc = store_mkdir(c->base, err);
	if (rc)
		return rc;
	options = update_client_options(config, plan_bytes, err);
	if (options < 0)
		return options;
	if (plan_bytes) {
		plan = update_client_plan(plan_bytes, err);
		rc = plan < 0 ? plan : 0;
	}
	if (!rc && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		rc = err_set(err, -errno, "the watchdog's socket: %s", strerror(errno));
	if (!rc)
		rc = supervisor_start(options, plan, pair[1], recover, err);
	if (rc && pair[0] >= 0)
		close(pair[0]);
	if (pair[1] >= 0)
		close(pair[1]);
	if (plan >= 0)
		close(plan);
	close(options);
	if (rc)
		return rc;
	snprintf(c->id, sizeof(c->id), "%s", recover ? recover : "");
	control_link_init(&link, pair[0]);
	update_client_link(c, link);
	return 0;
}

static int update_client_connect(struct control_link *l, const char *base, const char *id,
				 struct err *err)
{
	char *dir = xasprintf("%s/%s", base, id);
	int rc = control_connect(l, dir, err);

	free(dir);
	return rc;
}

int update_client_open(struct update_client *c, const char *id, struct err *err)
{
	struct control_link link;
	int rc = update_client_connect(&link, c->base, id, err);

	if (rc)
		return rc;
	snprintf(c->id, sizeof(c->id), "%s", id);
	update_client_link(c, link);
	return update_client_ask(c, CONTROL_FOLLOW, 0);
}

json_t *update_client_request(const char *base, const char *id, const struct control_request *r,
			      struct err *err)
{
	struct control_link l;
	json_t *j = NULL;
	const char *re;
	int rc;

	if (update_client_connect(&l, journal_base(base), id, err))
		return NULL;
	rc = r->op == CONTROL_OVERRIDE ? control_ask_override(&l, r->watches)
				       : control_ask(&l, r->op, r->seconds);
	while (!rc && !j && control_next(&j, &l, ANSWER_MS) == 1) {
		re = json_string_value(json_object_get(j, "re"));
		if (re && !strcmp(re, control_op_name(r->op)))
			break;
		json_decref(j);
		j = NULL;
	}
	control_close(&l);
	if (!j)
		err_set(err, -ETIMEDOUT, "the process of the update is not responding");
	return j;
}

/* ---- what is reported ---- */

static void update_client_event(struct update_client *c, const struct executor_event *ev,
				const struct executor_status *st, const json_t *j)
{
	if (st->txn[0])
		snprintf(c->id, sizeof(c->id), "%s", st->txn);
	if (ev->phase == PHASE_ROLLBACK)
		c->waiting = false;
	c->ops->event(c->ctx, ev, st, json_string_at(j, "block"));
}

static void update_client_process(struct update_client *c, const json_t *j)
{
	const json_t *pid = json_object_get(j, "pid");

	if (json_is_integer(pid))
		c->worker = (pid_t)json_integer_value(pid);
	if (c->ops->process)
		c->ops->process(c->ctx, c->worker, json_string_at(j, "name"));
}

static void update_client_waits(struct update_client *c, const json_t *j)
{
	c->waiting = true;
	c->quiet_ms = clock_ms();
	if (c->ops->waits)
		c->ops->waits(c->ctx, (unsigned)json_integer_at(j, "confirm_s"));
}

double update_client_quiet_s(const struct update_client *c)
{
	return (double)(clock_ms() - c->quiet_ms) / 1e3;
}

static void update_client_found(struct update_client *c, const json_t *j)
{
	c->quiet_ms = clock_ms();
	if (c->ops->found)
		c->ops->found(c->ctx, json_string_at(j, "what"), json_string_at(j, "text"),
			      json_is_true(json_object_get(j, "tripped")));
}

static void update_client_end(struct update_client *c, const struct update_end *end)
{
	c->waiting = false;
	c->over = true;
	c->ops->over(c->ctx, end);
}

static void update_client_over(struct update_client *c, const json_t *j)
{
	struct update_end end = { .exit = (int)json_integer_at(j, "exit"),
				  .outcome = outcome_by_name(json_string_at(j, "outcome")) };

	snprintf(end.text, sizeof(end.text), "%s", json_string_at(j, "text"));
	update_client_end(c, &end);
}

static void update_client_line(struct update_client *c, const json_t *j)
{
	const char *event = json_string_at(j, "event");
	bool installer = !strcmp(event, "installer");
	struct executor_event ev;
	struct executor_status st;

	if (update_event_parse(&ev, &st, j))
		update_client_event(c, &ev, &st, j);
	else if (!strcmp(event, "hello") || (installer && c->ops->process))
		update_client_process(c, j);
	else if (!strcmp(event, "waiting"))
		update_client_waits(c, j);
	else if (!strcmp(event, "over"))
		update_client_over(c, j);
	else if (!strcmp(event, "watch"))
		update_client_found(c, j);
	else if (*event && c->ops->says)
		c->ops->says(c->ctx, LOG_INFO, json_string_at(j, "text"));
	else if (!*event && c->ops->answer)
		c->ops->answer(c->ctx, j);
}

/* ---- a process that died ---- */

void update_client_journalled(struct update_end *out, const struct txn_info *t)
{
	const char *id = t->head.id, *state = txn_state_name(t->state);

	out->outcome = t->state == TXN_CONFIRMED	? OUTCOME_CONFIRMED
		       : t->state == TXN_ROLLED_BACK	? OUTCOME_ROLLED_BACK
		       : t->state == TXN_ABANDONED	? OUTCOME_REFUSED
		       : t->state == TXN_SUPERSEDED	? OUTCOME_SUPERSEDED
		       : t->state == TXN_FABRIC_CHANGED ? OUTCOME_FABRIC_CHANGED
							: OUTCOME_INCOMPLETE;
	out->exit = outcome_exit_code(out->outcome, t->why);
	out->text[0] = '\0';
	if (t->state == TXN_CONFIRMED)
		return;
	if (!txn_state_final(t->state))
		snprintf(out->text, sizeof(out->text),
			 "%s was interrupted (state: %s) and no process is working on it: roll it "
			 "back (ibroute-top rollback %s)",
			 id, state, id);
	else if (t->state == TXN_SUPERSEDED || t->state == TXN_FABRIC_CHANGED ||
		 t->state == TXN_GIVEN_UP)
		snprintf(out->text, sizeof(out->text), "%s: %s: %s", id, state, t->said);
	else
		snprintf(out->text, sizeof(out->text), "%s: %s%s%s", id, state, t->why ? ": " : "",
			 coord_why_text(t->why));
}

/* Its journal; by the process that has made it, while the id is not known. */
static bool update_client_find(struct update_client *c, struct txn_info *out)
{
	bool found = journal_newest(out, c->base, c->id, c->worker, false);

	if (found)
		snprintf(c->id, sizeof(c->id), "%s", out->head.id);
	return found;
}

/* 1: connected again; 0: nobody works on it, *t is how it was left; -ENOENT: there is no journal,
 * nothing was written. */
static int update_client_another(struct update_client *c, struct txn_info *t)
{
	uint64_t seen = clock_ms();

	while (clock_ms() - seen < NOBODY_MS && !(c->ops->stop && c->ops->stop(c->ctx))) {
		if (!update_client_find(c, t))
			return -ENOENT;
		if (txn_state_final(t->state))
			return 0;
		if (t->live)
			seen = clock_ms();
		if (!update_client_open(c, c->id, NULL))
			return 1;
		clock_rest_us(LOOK_US);
	}
	return 0;
}

static void update_client_reconnect(struct update_client *c)
{
	struct update_end end = { .exit = EXIT_REFUSED };
	struct control_link none;
	struct txn_info t = { 0 };
	int rc;

	control_link_init(&none, -1);
	update_client_link(c, none);
	c->waiting = false;
	rc = update_client_another(c, &t);
	if (rc == 1) {
		if (c->ops->says)
			c->ops->says(c->ctx, LOG_WARN,
				     "the process of the update has died; another one has taken "
				     "over");
		return;
	}
	if (!rc && c->ops->stop && c->ops->stop(c->ctx) && !txn_state_final(t.state))
		return;
	if (!rc)
		update_client_journalled(&end, &t);
	else
		snprintf(end.text, sizeof(end.text),
			 "the watchdog has died before anything was written");
	update_client_end(c, &end);
}

int update_client_take(struct update_client *c, int timeout_ms)
{
	json_t *j = NULL;
	int rc = c->link.fd < 0 ? -EPIPE : control_next(&j, &c->link, timeout_ms);

	if (rc == 1)
		update_client_line(c, j);
	json_decref(j);
	if (rc >= 0 || rc == -EINTR)
		return rc;
	update_client_reconnect(c);
	return 1;
}
