/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collector/history/history_keeper.h"

#include "console/collector/history/history_acts.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/thread.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/log.h"
#include "fabric/base/time/clock.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAITING_MAX (256u << 20) /* bytes */
#define THIN_S	    60.0
#define AGAIN_S	    30.0 /* a file that was damaged */
#define FULL_S	    5.0	 /* a disk that was full */
#define ACTS_S	    5.0
#define ACTS_SHARE  300 /* of the time goes into looking for them: one part, at most */

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
	const struct acts *told; /* that nobody has taken; NULL: none */

	/* the thread's own */
	struct history *h; /* NULL: it could not be opened again */
	bool failed;	   /* it was told */
	double again_at, thin_at;
	uint64_t told_lost;
	const struct acts_dirs *dirs;
	const struct acts *acts; /* as they were found last */
	double acts_at;
	bool acts_failed; /* it was told */
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

static const struct act *history_keeper_same_act(const struct acts *l, const struct act *a)
{
	for (size_t i = 0; l && i < l->n; i++)
		if (l->v[i].kind == a->kind && !strcmp(l->v[i].id, a->id))
			return &l->v[i];
	return NULL;
}

/* Those that are new, or are not as they were found before. */
static int history_keeper_put_acts(struct history_keeper *k, const struct acts *l, bool *any,
				   struct err *err)
{
	int64_t oldest_ms = (int64_t)time(NULL) * 1000 - k->keep.age_ms;
	int rc = 0;

	for (size_t i = 0; i < l->n && !rc; i++) {
		const struct act *was = history_keeper_same_act(k->acts, &l->v[i]);

		if (was && act_same(was, &l->v[i]))
			continue;
		if (l->v[i].kind != ACT_BASELINE && l->v[i].end_ms < oldest_ms)
			continue;
		rc = history_put_act(k->h, &l->v[i], err);
		*any = true;
	}
	return rc;
}

static void history_keeper_tell_acts(struct history_keeper *k, const struct acts *l)
{
	const struct acts *before;

	pthread_mutex_lock(&k->lock);
	before = k->told;
	k->told = l;
	pthread_mutex_unlock(&k->lock);
	acts_put(before);
}

static void history_keeper_look(struct history_keeper *k)
{
	struct acts *now, *kept = NULL;
	double start = clock_s();
	struct err err = { "" };
	bool any = false;
	int rc;

	if (!k->dirs || !k->h || k->failed || start < k->acts_at)
		return;
	now = acts_new();
	acts_scan(now, k->dirs);
	rc = history_keeper_put_acts(k, now, &any, &err);
	if (!rc && (any || !k->acts))
		rc = history_acts(&kept, k->h, &err);
	k->acts_at = clock_s() + fmax(rc ? AGAIN_S : ACTS_S, (clock_s() - start) * ACTS_SHARE);
	if (rc) { /* samples may go well, or tell by themselves */
		acts_put(now);
		if (!k->acts_failed)
			log_add(LOG_ERROR, "history", "updates and baselines are not kept: %s",
				err.text);
		k->acts_failed = true;
		return;
	}
	k->acts_failed = false;
	acts_put(k->acts);
	k->acts = now;
	if (kept)
		history_keeper_tell_acts(k, kept);
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
		history_keeper_look(k);
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
	acts_put(k->acts);
	acts_put(k->told);
	pthread_cond_destroy(&k->wake);
	pthread_mutex_destroy(&k->lock);
	free(k->path);
	free(k);
}

int history_keeper_start(struct history_keeper **out, const char *path,
			 const struct history_keep *keep, const struct acts_dirs *dirs,
			 struct err *err)
{
	struct history_keeper *k = xcalloc(1, sizeof(*k));
	int rc;

	k->dirs = dirs;
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

const struct acts *history_keeper_acts(struct history_keeper *k)
{
	const struct acts *l;

	pthread_mutex_lock(&k->lock);
	l = k->told;
	k->told = NULL;
	pthread_mutex_unlock(&k->lock);
	return l;
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
