/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collector/history/history_keeper.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/thread.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/log.h"
#include "fabric/base/time/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAITING_MAX (256u << 20) /* bytes */
#define THIN_S	    60.0
#define AGAIN_S	    30.0 /* a file that was damaged */
#define FULL_S	    5.0	 /* a disk that was full */

struct history_keeper {
	char *path;
	struct history_keep keep;
	pthread_t thread;

	/* guarded by lock */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	VEC(const struct frame *) waiting;
	size_t bytes; /* of these */
	uint64_t lost;
	bool stop;
	int64_t oldest_ms;
	int rc; /* of what was written last, with its sentence */
	struct err why;

	/* the thread's own */
	struct history *h; /* NULL: it could not be opened again */
	bool failed;	   /* it was told */
	double again_at, thin_at;
	uint64_t told_lost;
};

static void history_keeper_open(struct history_keeper *k, struct err *err)
{
	char *aside = NULL;
	int rc = history_open(&k->h, k->path, &k->keep, &aside, err);

	if (aside)
		log_add(LOG_ERROR, "history", "%s was damaged: it is %s now, and a new one begins",
			k->path, aside);
	free(aside);
	if (rc)
		k->h = NULL;
}

static void history_keeper_set(struct history_keeper *k, int rc, const struct err *why)
{
	pthread_mutex_lock(&k->lock);
	k->rc = rc;
	if (why)
		k->why = *why;
	pthread_mutex_unlock(&k->lock);
}

/* What went wrong, once until it goes well again. */
static void history_keeper_fails(struct history_keeper *k, int rc, const struct err *err)
{
	history_keeper_set(k, rc, err);
	if (!k->failed)
		log_add(LOG_ERROR, "history", "nothing is kept until this is mended: %s",
			err->text);
	k->failed = true;
	k->again_at = clock_s() + (rc == -ENOSPC ? FULL_S : AGAIN_S);
	if (rc == -ENOSPC)
		return;
	history_close(k->h);
	k->h = NULL;
}

static bool history_keeper_ready(struct history_keeper *k)
{
	struct err err = { "" };

	if (k->failed && clock_s() < k->again_at)
		return false;
	if (!k->h)
		history_keeper_open(k, &err);
	if (!k->h)
		history_keeper_fails(k, -EIO, &err);
	return k->h;
}

static void history_keeper_write(struct history_keeper *k, const struct frame *f)
{
	struct err err = { "" };
	int rc;

	if (!history_keeper_ready(k))
		return;
	rc = history_add(k->h, f, &err);
	if (rc) {
		history_keeper_fails(k, rc, &err);
		return;
	}
	if (!k->failed)
		return;
	k->failed = false;
	history_keeper_set(k, 0, NULL);
	log_add(LOG_INFO, "history", "samples are kept again");
}

static void history_keeper_thin(struct history_keeper *k)
{
	int64_t now_ms = (int64_t)time(NULL) * 1000, oldest;
	struct err err = { "" };
	bool more = false;
	int rc;

	if (!k->h || k->failed || clock_s() < k->thin_at)
		return;
	rc = history_thin(k->h, now_ms, &more, &err);
	k->thin_at = clock_s() + (more ? 1 : THIN_S);
	if (rc) {
		history_keeper_fails(k, rc, &err);
		return;
	}
	oldest = history_oldest_ms(k->h);
	pthread_mutex_lock(&k->lock);
	k->oldest_ms = oldest;
	pthread_mutex_unlock(&k->lock);
}

/* The oldest frame; NULL: it is to stop, or has waited long enough. */
static const struct frame *history_keeper_take(struct history_keeper *k, bool *stop)
{
	const struct frame *f = NULL;
	struct timespec until;
	uint64_t lost;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	pthread_mutex_lock(&k->lock);
	if (!k->waiting.n && !k->stop)
		pthread_cond_timedwait(&k->wake, &k->lock, &until);
	if (k->waiting.n) {
		f = k->waiting.v[0];
		memmove(k->waiting.v, k->waiting.v + 1, --k->waiting.n * sizeof(k->waiting.v[0]));
		k->bytes -= f->head.len;
	}
	*stop = k->stop && !f;
	lost = k->lost;
	pthread_mutex_unlock(&k->lock);
	if (lost != k->told_lost)
		log_add(LOG_WARN, "history", "the disk is too slow: %lu messages were not kept",
			(unsigned long)(lost - k->told_lost));
	k->told_lost = lost;
	return f;
}

static void *history_keeper_run(void *arg)
{
	struct history_keeper *k = arg;
	bool stop = false;

	while (!stop) {
		const struct frame *f = history_keeper_take(k, &stop);

		if (f)
			history_keeper_write(k, f);
		frame_put(f);
		history_keeper_thin(k);
	}
	return NULL;
}

static void history_keeper_free(struct history_keeper *k)
{
	for (size_t i = 0; i < k->waiting.n; i++)
		frame_put(k->waiting.v[i]);
	vec_free(&k->waiting);
	history_close(k->h);
	pthread_cond_destroy(&k->wake);
	pthread_mutex_destroy(&k->lock);
	free(k->path);
	free(k);
}

int history_keeper_start(struct history_keeper **out, const char *path,
			 const struct history_keep *keep, struct err *err)
{
	struct history_keeper *k = xcalloc(1, sizeof(*k));
	int rc;

	k->path = xstrdup(path);
	k->keep = *keep;
	pthread_mutex_init(&k->lock, NULL);
	pthread_cond_init(&k->wake, NULL);
	history_keeper_open(k, err);
	rc = k->h ? 0 : -EIO;
	if (!rc) {
		k->oldest_ms = history_oldest_ms(k->h);
		rc = thread_start(&k->thread, "history", history_keeper_run, k, err);
	}
	if (rc)
		history_keeper_free(k);
	else
		*out = k;
	return rc;
}

void history_keeper_stop(struct history_keeper *k)
{
	if (!k)
		return;
	pthread_mutex_lock(&k->lock);
	k->stop = true;
	pthread_cond_signal(&k->wake);
	pthread_mutex_unlock(&k->lock);
	pthread_join(k->thread, NULL);
	history_keeper_free(k);
}

void history_keeper_add(struct history_keeper *k, const struct frame *f)
{
	pthread_mutex_lock(&k->lock);
	if (k->bytes + f->head.len > WAITING_MAX) {
		k->lost++;
	} else {
		vec_push(&k->waiting, frame_get(f));
		k->bytes += f->head.len;
		pthread_cond_signal(&k->wake);
	}
	pthread_mutex_unlock(&k->lock);
}

int64_t history_keeper_oldest_ms(struct history_keeper *k)
{
	int64_t t;

	pthread_mutex_lock(&k->lock);
	t = k->oldest_ms;
	pthread_mutex_unlock(&k->lock);
	return t;
}

int history_keeper_state(struct history_keeper *k, struct err *err)
{
	int rc;

	pthread_mutex_lock(&k->lock);
	rc = k->rc;
	if (rc)
		*err = k->why;
	pthread_mutex_unlock(&k->lock);
	return rc;
}
