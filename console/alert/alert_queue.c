/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/alert/alert_queue.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ALERT_DROPPED "dropped"

struct alert_queue {
	struct alert_sink sink;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t more;
	struct alert ring[ALERT_QUEUE];
	uint32_t first, n;
	uint32_t dropped; /* since the last that said so */
	bool stop;
	double end_s;	 /* clock_s(); once stop is set */
	uint32_t failed; /* of the thread: in a row */
};

bool alert_queue_ended(const struct alert_queue *q)
{
	struct alert_queue *own = (struct alert_queue *)q;
	bool ended;

	pthread_mutex_lock(&own->lock);
	ended = q->stop && clock_s() >= q->end_s;
	pthread_mutex_unlock(&own->lock);
	return ended;
}

/* Waits for the next; false: that was all. */
static bool alert_queue_take(struct alert_queue *q, struct alert *a)
{
	bool there;

	pthread_mutex_lock(&q->lock);
	while (!q->n && !q->dropped && !q->stop)
		pthread_cond_wait(&q->more, &q->lock);
	there = !(q->stop && clock_s() >= q->end_s) && (q->n || q->dropped);
	if (there && q->n) {
		*a = q->ring[q->first];
		q->first = (q->first + 1) % ALERT_QUEUE;
		q->n--;
	} else if (there) {
		alert_make(a, LOG_WARN, ALERT_DROPPED, "alert",
			   "%u alert%s dropped: they came faster than they could be delivered",
			   q->dropped, q->dropped == 1 ? " was" : "s were");
		q->dropped = 0;
	}
	pthread_mutex_unlock(&q->lock);
	return there;
}

static void alert_queue_deliver(struct alert_queue *q, const struct alert *a)
{
	struct err err = { "" };
	int rc;

	if (!strcmp(a->kind, ALERT_DROPPED))
		log_add(LOG_WARN, "alert", "%s: %s", q->sink.name, a->text);
	rc = q->sink.deliver(q->sink.ctx, q, a, &err);

	if (rc && !q->failed++)
		log_add(LOG_WARN, "alert", "%s", err.text);
	if (!rc && q->failed) {
		log_add(LOG_INFO, "alert", "%s: works again; %u alert%s not delivered",
			q->sink.name, q->failed, q->failed == 1 ? " was" : "s were");
		q->failed = 0;
	}
}

static void *alert_queue_run(void *ctx)
{
	struct alert_queue *q = ctx;
	struct alert a;

	while (alert_queue_take(q, &a))
		alert_queue_deliver(q, &a);
	return NULL;
}

struct alert_queue *alert_queue_new(const struct alert_sink *sink)
{
	struct alert_queue *q = xcalloc(1, sizeof(*q));

	q->sink = *sink;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->more, NULL);
	if (!pthread_create(&q->thread, NULL, alert_queue_run, q))
		return q;
	log_add(LOG_ERROR, "alert", "%s: no thread could be started", sink->name);
	pthread_cond_destroy(&q->more);
	pthread_mutex_destroy(&q->lock);
	free(q);
	return NULL;
}

void alert_queue_put(struct alert_queue *q, const struct alert *a)
{
	pthread_mutex_lock(&q->lock);
	/* what was dropped is told behind what waits, before what is new */
	if (q->n == ALERT_QUEUE || q->dropped)
		q->dropped++;
	else
		q->ring[(q->first + q->n++) % ALERT_QUEUE] = *a;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&q->lock);
}

void alert_queue_free(struct alert_queue *q, uint64_t wait_ms)
{
	uint32_t left;

	if (!q)
		return;
	pthread_mutex_lock(&q->lock);
	q->stop = true;
	q->end_s = clock_s() + (double)wait_ms / 1e3;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&q->lock);
	pthread_join(q->thread, NULL);
	left = q->n + q->dropped;
	if (left)
		log_add(LOG_WARN, "alert", "%s: %u alert%s not delivered", q->sink.name, left,
			left == 1 ? " was" : "s were");
	pthread_cond_destroy(&q->more);
	pthread_mutex_destroy(&q->lock);
	free(q);
}
