/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collector/history/history_desk.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/thread.h"
#include "fabric/base/memory/vec.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EVENT_TOLD 360
#define ASKED_MAX  1024 /* more come only from those who connect, ask and leave */

struct asked {
	uint64_t viewer;
	struct past_ask ask;
};

struct answered {
	uint64_t viewer;
	struct frame *frame;
};

struct history_desk {
	char *path;
	pthread_t thread;
	int fd;

	/* guarded by lock */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	VEC(struct asked) asked;
	VEC(struct answered) answers;
	bool stop;

	struct history *h; /* the thread's own; NULL: not open */
};

/* --- one answer ------------------------------------------------------------------------------ */

struct moment {
	struct frame *fabric, *tables, *jobs, *before, *sample, *events;
	char told[EVENT_TOLD]; /* the event that was asked for */
};

static void history_desk_drop(struct moment *m)
{
	frame_put(m->fabric);
	frame_put(m->tables);
	frame_put(m->jobs);
	frame_put(m->before);
	frame_put(m->sample);
	frame_put(m->events);
}

struct missing {
	struct log_line line[HISTORY_LINES_ALSO];
	uint32_t n;
};

/* What may be missing; where it is damaged, the log of then says so. */
static void history_desk_perhaps(struct frame **out, struct history *h, enum frame_kind kind,
				 int64_t at_ms, struct missing * not )
{
	struct err err = { "" };
	int rc = history_last(out, h, kind, at_ms, &err);

	if (rc && rc != -ENOENT && not ->n < HISTORY_LINES_ALSO)
		not ->line[not ->n++] = history_missing(at_ms, &err);
}

static int history_desk_event(int64_t *at_ms, char told[EVENT_TOLD], struct history *h,
			      const struct past_ask *ask, struct err *err)
{
	struct log_line l;
	int rc = history_event(&l, h, ask->at_ms, ask->step, err);
	int64_t time_s;

	if (rc)
		return rc;
	time_s = (int64_t)(l.time_ns / 1000000000);
	snprintf(told, EVENT_TOLD, "%lld %s: %s", (long long)time_s, l.area, l.text);
	return history_sample_at(at_ms, h, time_s * 1000 + 999, 0, err);
}

static int history_desk_moment(struct moment *m, struct history *h, const struct past_ask *ask,
			       struct err *err)
{
	struct missing not = { .n = 0 };
	int64_t at_ms;
	int rc = ask->what == PAST_EVENT ? history_desk_event(&at_ms, m->told, h, ask, err)
					 : history_sample_at(&at_ms, h, ask->at_ms, ask->step, err);

	if (!rc)
		rc = history_last(&m->sample, h, FRAME_SAMPLE, at_ms, err);
	if (!rc)
		rc = history_last(&m->fabric, h, FRAME_FABRIC, at_ms, err);
	if (rc)
		return rc;
	history_desk_perhaps(&m->before, h, FRAME_SAMPLE, at_ms - 1, &not );
	history_desk_perhaps(&m->tables, h, FRAME_TABLES, at_ms, &not );
	history_desk_perhaps(&m->jobs, h, FRAME_JOBS, at_ms, &not );
	history_lines(&m->events, h, at_ms + 999, not .line, not .n); /* of that second */
	return 0;
}

static struct frame *history_desk_answer(struct history_desk *d, const struct past_ask *ask)
{
	struct past_answer a = { .serial = ask->serial };
	struct moment m = { 0 };
	struct err err = { "" };
	struct frame *f;

	a.rc = d->h ? 0 : history_open(&d->h, d->path, NULL, NULL, &err);
	if (!a.rc)
		a.rc = history_desk_moment(&m, d->h, ask, &err);
	if (a.rc) {
		a.text = err.text;
		if (a.rc != -ENOENT) { /* it may be another file by now */
			history_close(d->h);
			d->h = NULL;
		}
	} else {
		a.time_ms = m.sample->head.time_ms;
		a.text = m.told;
		a.fabric = m.fabric;
		a.tables = m.tables;
		a.jobs = m.jobs;
		a.before = m.before;
		a.sample = m.sample;
		a.events = m.events;
	}
	f = frame_of_past(&a);
	history_desk_drop(&m);
	return f;
}

/* --- the thread ------------------------------------------------------------------------------ */

static bool history_desk_next(struct asked *out, struct history_desk *d)
{
	bool stop;

	pthread_mutex_lock(&d->lock);
	while (!d->asked.n && !d->stop)
		pthread_cond_wait(&d->wake, &d->lock);
	stop = d->stop;
	if (!stop) {
		*out = d->asked.v[0];
		memmove(d->asked.v, d->asked.v + 1, --d->asked.n * sizeof(d->asked.v[0]));
	}
	pthread_mutex_unlock(&d->lock);
	return !stop;
}

static void *history_desk_run(void *arg)
{
	struct history_desk *d = arg;
	struct asked q;

	while (history_desk_next(&q, d)) {
		struct frame *f = history_desk_answer(d, &q.ask);
		uint64_t one = 1;

		if (!f)
			continue;
		pthread_mutex_lock(&d->lock);
		vec_push(&d->answers, (struct answered){ q.viewer, f });
		pthread_mutex_unlock(&d->lock);
		/* the only failure is a full counter, and then the reader is awake anyway */
		if (write(d->fd, &one, sizeof(one)) < 0)
			continue;
	}
	return NULL;
}

static void history_desk_free(struct history_desk *d)
{
	for (size_t i = 0; i < d->answers.n; i++)
		frame_put(d->answers.v[i].frame);
	vec_free(&d->answers);
	vec_free(&d->asked);
	history_close(d->h);
	pthread_cond_destroy(&d->wake);
	pthread_mutex_destroy(&d->lock);
	if (d->fd >= 0)
		close(d->fd);
	free(d->path);
	free(d);
}

int history_desk_start(struct history_desk **out, const char *path, struct err *err)
{
	struct history_desk *d = xcalloc(1, sizeof(*d));
	int rc;

	d->path = xstrdup(path);
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->wake, NULL);
	d->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	rc = d->fd < 0 ? err_set(err, -errno, "history: %m")
		       : thread_start(&d->thread, "past", history_desk_run, d, err);
	if (rc)
		history_desk_free(d);
	else
		*out = d;
	return rc;
}

void history_desk_stop(struct history_desk *d)
{
	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	d->stop = true;
	pthread_cond_signal(&d->wake);
	pthread_mutex_unlock(&d->lock);
	pthread_join(d->thread, NULL);
	history_desk_free(d);
}

int history_desk_fd(const struct history_desk *d)
{
	return d->fd;
}

void history_desk_ask(struct history_desk *d, uint64_t viewer, const struct past_ask *ask)
{
	pthread_mutex_lock(&d->lock);
	if (d->asked.n < ASKED_MAX)
		vec_push(&d->asked, (struct asked){ viewer, *ask });
	pthread_cond_signal(&d->wake);
	pthread_mutex_unlock(&d->lock);
}

struct frame *history_desk_take(struct history_desk *d, uint64_t *viewer)
{
	struct frame *f = NULL;
	uint64_t count;

	pthread_mutex_lock(&d->lock);
	if (d->answers.n) {
		f = d->answers.v[0].frame;
		*viewer = d->answers.v[0].viewer;
		memmove(d->answers.v, d->answers.v + 1, --d->answers.n * sizeof(d->answers.v[0]));
	} else if (read(d->fd, &count, sizeof(count)) < 0) {
		count = 0; /* nothing was signalled since */
	}
	pthread_mutex_unlock(&d->lock);
	return f;
}
