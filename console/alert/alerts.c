/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/alert/alerts.h"

#include "console/alert/alert_command.h"
#include "console/alert/alert_queue.h"
#include "console/alert/alert_syslog.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/plain.h"
#include "fabric/baseline/findings.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SINKS 3

/* A finding that holds. */
struct held_finding {
	char *key; /* the same as long as it is the same finding */
	struct alert alert;
};

typedef VEC(struct held_finding) held_list;

struct alerts {
	const struct alert_opts *o;
	struct alert_command command, webhook;
	struct alert_syslog syslog;
	struct alert_queue *queue[SINKS];
	int n;
	pthread_mutex_t lock; /* of the name */
	char fabric[100];
	held_list held; /* by key */
};

static void alerts_add(struct alerts *a, const char *name,
		       int (*deliver)(void *ctx, const struct alert_queue *q,
				      const struct alert *one, struct err *err),
		       void *ctx)
{
	struct alert_queue *q = alert_queue_new(&(struct alert_sink){ name, deliver, ctx });

	if (q)
		a->queue[a->n++] = q;
}

struct alerts *alerts_new(const struct alert_opts *o)
{
	struct alerts *a;

	if (!alert_opts_on(o))
		return NULL;
	a = xcalloc(1, sizeof(*a));
	a->o = o;
	pthread_mutex_init(&a->lock, NULL);
	a->command =
		(struct alert_command){ .command = o->on_event, .limit_ms = o->timeout_s * 1000 };
	a->webhook = (struct alert_command){ .url = o->webhook, .limit_ms = o->timeout_s * 1000 };
	alert_syslog_init(&a->syslog, o->syslog_path);
	if (o->on_event)
		alerts_add(a, "event command", alert_command_deliver, &a->command);
	if (o->webhook)
		alerts_add(a, "webhook", alert_webhook_deliver, &a->webhook);
	if (o->syslog)
		alerts_add(a, "syslog", alert_syslog_deliver, &a->syslog);
	return a;
}

static void alerts_drop_held(held_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].key);
	vec_free(l);
}

void alerts_free(struct alerts *a, uint64_t wait_ms)
{
	if (!a)
		return;
	for (int i = 0; i < a->n; i++)
		alert_queue_free(a->queue[i], wait_ms);
	alerts_drop_held(&a->held);
	alert_syslog_done(&a->syslog);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

void alerts_fabric(struct alerts *a, const char *name)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	snprintf(a->fabric, sizeof(a->fabric), "%s", name);
	plain_text(a->fabric, "");
	pthread_mutex_unlock(&a->lock);
}

void alerts_tell(struct alerts *a, const struct alert *one)
{
	struct alert copy = *one;

	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	memcpy(copy.fabric, a->fabric, sizeof(copy.fabric));
	pthread_mutex_unlock(&a->lock);
	for (int i = 0; i < a->n; i++)
		alert_queue_put(a->queue[i], &copy);
}

void alerts_line(struct alerts *a, const struct log_line *line)
{
	struct alert one;

	if (!a || !a->o->events || line->level < a->o->level || !strcmp(line->area, "alert"))
		return;
	alert_make(&one, line->level, "event", line->area, "%s", line->text);
	one.time_ns = line->time_ns;
	alerts_tell(a, &one);
}

/* --- findings -------------------------------------------------------------------------------- */

static void alerts_put_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
	plain_text(to, "");
}

static void alerts_of_finding(struct alert *out, const struct finding *f)
{
	char *text = finding_text(f);

	alert_make(out, f->kind == FINDING_GONE ? LOG_ERROR : LOG_WARN, finding_kind_name(f->kind),
		   f->what, "%s", text);
	out->state = ALERT_RAISED;
	alerts_put_text(out->subject, sizeof(out->subject), f->subject);
	alerts_put_text(out->before, sizeof(out->before), f->before);
	alerts_put_text(out->after, sizeof(out->after), f->after);
	free(text);
}

static int alerts_by_key(const void *x, const void *y)
{
	return strcmp(((const struct held_finding *)x)->key, ((const struct held_finding *)y)->key);
}

static void alerts_hold(held_list *out, const struct findings *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct finding *f = &l->v[i];
		struct held_finding one;

		if (!finding_counts(f))
			continue;
		one.key = xasprintf("%d %s %016llx %u %016llx %s", (int)f->kind, f->what,
				    (unsigned long long)f->guid, f->port,
				    (unsigned long long)f->guid_b, f->subject);
		alerts_of_finding(&one.alert, f);
		vec_push(out, one);
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), alerts_by_key);
}

static void alerts_clear(struct alerts *a, const struct alert *was)
{
	struct alert one;

	alert_make(&one, LOG_INFO, was->kind, was->what, "cleared: %s", was->text);
	one.state = ALERT_CLEARED;
	memcpy(one.subject, was->subject, sizeof(one.subject));
	memcpy(one.before, was->before, sizeof(one.before));
	memcpy(one.after, was->after, sizeof(one.after));
	alerts_tell(a, &one);
}

void alerts_findings(struct alerts *a, const struct findings *l)
{
	held_list now = { 0 };
	size_t i = 0, k = 0;

	if (!a || !l)
		return;
	alerts_hold(&now, l);
	while (i < a->held.n || k < now.n) {
		int d = i == a->held.n ? 1
			: k == now.n   ? -1
				       : strcmp(a->held.v[i].key, now.v[k].key);

		if (d < 0)
			alerts_clear(a, &a->held.v[i].alert);
		else if (d > 0)
			alerts_tell(a, &now.v[k].alert);
		i += d <= 0;
		k += d >= 0;
	}
	alerts_drop_held(&a->held);
	a->held = now;
}
