/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/record_queue.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/thread.h"
#include "fabric/base/time/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Of whoever waits for an entry. */
struct queue_answer {
	bool there;
	int rc;
	struct err *err; /* may be NULL */
};

struct queue_item {
	struct record_entry entry; /* which owns what it points to */
	struct queue_answer *answer;
	size_t bytes;
	struct queue_item *next;
};

struct record_queue {
	const struct record_queue_ops *ops;
	void *of;
	size_t most; /* bytes */
	pthread_t thread;

	pthread_mutex_t lock; /* of all below; never held while something is written */
	pthread_cond_t more, done;
	struct queue_item *first, **last;
	size_t n, bytes;
	bool full, end, open;
	uint64_t lost_lines, lost_frames;
	int rc; /* of open(), once open is set */
	struct err err;
};

void record_time_now(struct record_time *t)
{
	clock_gettime(CLOCK_REALTIME, &t->wall);
	t->mono_ns = clock_ns();
}

/* --- items ----------------------------------------------------------------------------------- */

static struct canvas *record_queue_copy_screen(const struct canvas *c)
{
	struct canvas *copy = canvas_new(c->w, c->h, c->ascii);

	memcpy(copy->cell, c->cell, (size_t)c->w * (size_t)c->h * sizeof(*c->cell));
	return copy;
}

static struct queue_item *record_queue_item(const struct record_entry *e)
{
	struct queue_item *i = xcalloc(1, sizeof(*i));

	i->entry = *e;
	i->bytes = sizeof(*i);
	i->entry.type = e->type ? xstrdup(e->type) : NULL;
	if (e->text) {
		i->entry.text = xstrdup(e->text);
		i->bytes += strlen(e->text);
	}
	if (e->screen) {
		i->entry.screen = record_queue_copy_screen(e->screen);
		i->bytes += (size_t)e->screen->w * (size_t)e->screen->h * sizeof(struct cell);
	}
	return i;
}

static void record_queue_free_item(struct queue_item *i)
{
	free((char *)i->entry.type);
	free((char *)i->entry.text);
	canvas_free((struct canvas *)i->entry.screen);
	free(i);
}

/* --- the thread ------------------------------------------------------------------------------ */

static void record_queue_do_open(struct record_queue *q)
{
	struct err err = { "" };
	int rc = q->ops->open(q->of, &err);

	pthread_mutex_lock(&q->lock);
	q->rc = rc;
	q->err = err;
	q->open = true;
	pthread_cond_broadcast(&q->done);
	pthread_mutex_unlock(&q->lock);
}

/* It stays in the queue until it is written; NULL: there are no more. */
static struct queue_item *record_queue_next(struct record_queue *q)
{
	struct queue_item *i;

	pthread_mutex_lock(&q->lock);
	while (!q->first && !q->end)
		pthread_cond_wait(&q->more, &q->lock);
	i = q->first;
	pthread_mutex_unlock(&q->lock);
	return i;
}

static void record_queue_written(struct record_queue *q, struct queue_item *i, int rc,
				 const struct err *err)
{
	pthread_mutex_lock(&q->lock);
	q->first = i->next;
	if (!q->first)
		q->last = &q->first;
	q->n--;
	q->bytes -= i->bytes;
	if (q->bytes <= q->most / 2)
		q->full = false;
	if (i->answer) {
		i->answer->rc = rc;
		i->answer->there = true;
		if (rc && i->answer->err)
			*i->answer->err = *err;
		pthread_cond_broadcast(&q->done);
	}
	pthread_mutex_unlock(&q->lock);
	record_queue_free_item(i);
}

static void *record_queue_run(void *arg)
{
	struct record_queue *q = arg;
	struct queue_item *i;

	record_queue_do_open(q);
	while ((i = record_queue_next(q))) {
		struct err err = q->err;

		record_queue_written(q, i, q->rc ? q->rc : q->ops->write(q->of, &i->entry, &err),
				     &err);
	}
	return NULL;
}

/* --- whoever adds to it ---------------------------------------------------------------------- */

static int record_queue_say_full(const struct record_queue *q, struct err *err)
{
	return err_set(err, -ENOBUFS,
		       "the disk is too slow for the record: %zu lines and frames are not written "
		       "yet, and what follows is lost",
		       q->n);
}

/* Takes the item, under the lock; the entry's time is in the order of the queue. */
static void record_queue_put(struct record_queue *q, struct queue_item *i)
{
	record_time_now(&i->entry.at);
	i->entry.lost_lines = q->lost_lines;
	i->entry.lost_frames = q->lost_frames;
	q->lost_lines = q->lost_frames = 0;
	*q->last = i;
	q->last = &i->next;
	q->n++;
	q->bytes += i->bytes;
	pthread_cond_signal(&q->more);
}

int record_queue_add(struct record_queue *q, const struct record_entry *e, struct err *err)
{
	struct queue_item *i = record_queue_item(e);
	int rc = 0;

	pthread_mutex_lock(&q->lock);
	q->full = q->full || (q->n && q->bytes + i->bytes > q->most);
	if (q->full) {
		if (e->what == RECORD_LINE)
			q->lost_lines++;
		else
			q->lost_frames++;
		rc = record_queue_say_full(q, err);
	} else {
		record_queue_put(q, i);
	}
	pthread_mutex_unlock(&q->lock);
	if (rc)
		record_queue_free_item(i);
	return rc;
}

int record_queue_ask(struct record_queue *q, const struct record_entry *e, struct err *err)
{
	struct queue_answer answer = { .err = err };
	struct queue_item *i = record_queue_item(e);

	i->answer = &answer;
	pthread_mutex_lock(&q->lock);
	record_queue_put(q, i);
	while (!answer.there)
		pthread_cond_wait(&q->done, &q->lock);
	pthread_mutex_unlock(&q->lock);
	return answer.rc;
}

int record_queue_opened(struct record_queue *q, bool wait, struct err *err)
{
	int rc;

	pthread_mutex_lock(&q->lock);
	while (wait && !q->open)
		pthread_cond_wait(&q->done, &q->lock);
	rc = q->open ? q->rc : -EINPROGRESS;
	if (q->open && rc && err)
		*err = q->err;
	pthread_mutex_unlock(&q->lock);
	return rc;
}

bool record_queue_full(struct record_queue *q, struct err *err)
{
	bool full;

	pthread_mutex_lock(&q->lock);
	full = q->full;
	if (full)
		record_queue_say_full(q, err);
	pthread_mutex_unlock(&q->lock);
	return full;
}

static void record_queue_free(struct record_queue *q)
{
	pthread_mutex_destroy(&q->lock);
	pthread_cond_destroy(&q->more);
	pthread_cond_destroy(&q->done);
	free(q);
}

int record_queue_start(struct record_queue **out, const struct record_queue_ops *ops, void *of,
		       size_t bytes, struct err *err)
{
	struct record_queue *q = xcalloc(1, sizeof(*q));
	int rc;

	q->ops = ops;
	q->of = of;
	q->most = bytes;
	q->last = &q->first;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->more, NULL);
	pthread_cond_init(&q->done, NULL);
	rc = thread_start(&q->thread, "record", record_queue_run, q, err);
	if (rc)
		record_queue_free(q);
	else
		*out = q;
	return rc;
}

void record_queue_end(struct record_queue *q, struct record_entry *lost)
{
	pthread_mutex_lock(&q->lock);
	q->end = true;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&q->lock);
	pthread_join(q->thread, NULL);
	lost->lost_lines = q->lost_lines;
	lost->lost_frames = q->lost_frames;
	record_queue_free(q);
}
