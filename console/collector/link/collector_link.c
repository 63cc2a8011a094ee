/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collector/link/collector_link.h"

#include "console/collector/collector_dir.h"
#include "console/collector/frame/frame_taker.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/thread.h"
#include "fabric/base/message/log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define RETRY_MS 1000
#define SEND_MS	 2000 /* a collector takes a question at once, or is none */

struct collector_link {
	struct feed feed; /* the first member */
	struct collector_link_opts o;
	struct mailbox *box;
	pthread_t thread;
	int wake; /* eventfd */

	/* guarded by lock */
	pthread_mutex_t lock;
	bool stop, ask_past;
	struct past_ask ask; /* the last that was wanted */
	uint32_t wants;	     /* bit: enum want_type */

	/* the thread's own */
	int fd;
	bool may_ask, lost, awaits; /* awaits: an answer about the past */
	struct frame_taker *taker;
	bytes_out in; /* of the frame that comes */
};

/* --- questions ------------------------------------------------------------------------------- */

static void collector_link_wake(struct collector_link *l)
{
	uint64_t one = 1;

	/* the only failure is a full counter, and then it is awake anyway */
	if (write(l->wake, &one, sizeof(one)) < 0)
		return;
}

static void collector_link_want(struct feed *f, enum want_type want)
{
	struct collector_link *l = (struct collector_link *)f;

	pthread_mutex_lock(&l->lock);
	l->wants |= 1u << want;
	pthread_mutex_unlock(&l->lock);
	collector_link_wake(l);
}

/* It is the collector's: who looks on does not change it. */
static void collector_link_interval(struct feed *f, double interval_s)
{
	(void)f;
	(void)interval_s;
}

static void collector_link_end_nothing(struct feed *f)
{
	(void)f;
}

static void collector_link_ask_past(struct collector_link *l, const struct past_ask *ask)
{
	pthread_mutex_lock(&l->lock);
	l->ask = *ask;
	l->ask_past = true;
	pthread_mutex_unlock(&l->lock);
	collector_link_wake(l);
}

static void collector_link_past(struct feed *f, uint64_t serial, int64_t at_ms, int32_t step)
{
	collector_link_ask_past((struct collector_link *)f,
				&(struct past_ask){ serial, at_ms, step, PAST_SAMPLE });
}

static void collector_link_past_event(struct feed *f, uint64_t serial, int64_t at_ms, int32_t by)
{
	collector_link_ask_past((struct collector_link *)f,
				&(struct past_ask){ serial, at_ms, by, PAST_EVENT });
}

static int collector_link_send(struct collector_link *l, enum frame_kind kind, const void *data,
			       uint32_t len)
{
	uint8_t out[sizeof(struct frame_head) + FRAME_ASK_MAX];
	struct frame_head h = { .magic = FRAME_MAGIC, .len = len, .kind = kind };

	memcpy(out, &h, sizeof(h));
	memcpy(out + sizeof(h), data, len);
	return send(l->fd, out, sizeof(h) + len, MSG_NOSIGNAL) == (ssize_t)(sizeof(h) + len) ? 0
											     : -EIO;
}

static int collector_link_send_wants(struct collector_link *l, uint32_t wants)
{
	const uint32_t of_all = 1u << WANT_ERRORS;
	int rc = 0;

	if ((wants & ~of_all) && !l->may_ask) {
		log_add(LOG_INFO, "collector",
			"the collector reads when it is due: to have it read at once takes the group "
			"%s",
			COLLECTOR_GROUP_ASK);
		wants &= of_all;
	}
	for (uint8_t w = 0; w < WANT_COUNT && !rc; w++)
		if (wants & 1u << w)
			rc = collector_link_send(l, FRAME_ASK_WANT, &w, 1);
	return rc;
}

static int collector_link_ask(struct collector_link *l)
{
	struct past_ask ask;
	uint32_t wants;
	bool past;
	int rc;

	pthread_mutex_lock(&l->lock);
	wants = l->wants;
	l->wants = 0;
	past = l->ask_past && !l->awaits;
	ask = l->ask;
	if (past)
		l->ask_past = false;
	pthread_mutex_unlock(&l->lock);
	rc = collector_link_send_wants(l, wants);
	if (!rc && past) {
		l->awaits = true;
		rc = collector_link_send(l, FRAME_ASK_PAST, &ask, sizeof(ask));
	}
	return rc;
}

/* --- what comes
 * ----------------------------------------------------------------------------------- */

static void collector_link_tell(struct collector_link *l, enum msg_type type, int rc,
				const char *why)
{
	struct msg *m = msg_new(type);

	m->rc = rc;
	snprintf(m->text, sizeof(m->text), "%s", why);
	mailbox_send(l->box, m);
}

/* Somebody may have taken the connection and be gone, or hang: it answers once it says who it is.
 */
static void collector_link_found(struct collector_link *l)
{
	if (!l->lost)
		return;
	l->lost = false;
	log_add(LOG_INFO, "collector", "the collector is responding again");
	collector_link_tell(l, MSG_FOUND, 0, "");
}

static int collector_link_take_frame(struct collector_link *l, const struct frame_head *h)
{
	struct err err = { "" };
	struct msg *m = NULL;
	int rc = frame_take(&m, l->taker, h, l->in.v + sizeof(*h), &err);

	if (h->kind == FRAME_PAST)
		l->awaits = false;
	if (rc == -ESTALE)
		return 0;
	if (rc) {
		log_add(LOG_ERROR, "collector", "%s", err.text);
		return rc;
	}
	if (h->kind == FRAME_HELLO && m) {
		collector_link_found(l);
		m->rc = l->may_ask;
	}
	if (m)
		mailbox_send(l->box, m);
	return 0;
}

static int collector_link_check_head(const struct frame_head *h)
{
	if (h->magic == FRAME_MAGIC && h->len <= FRAME_MAX)
		return 0;
	log_add(LOG_ERROR, "collector",
		"the collector is of another version of ibroute-top, or none: its messages cannot be "
		"read");
	return -EPROTO;
}

static size_t collector_link_wanted(const struct collector_link *l, const struct frame_head *h)
{
	return l->in.n < sizeof(*h) ? sizeof(*h) : sizeof(*h) + h->len;
}

/* All frames that are there; -EPIPE: it has gone. */
static int collector_link_read(struct collector_link *l)
{
	struct frame_head h = { 0 };

	for (;;) {
		size_t want;
		ssize_t got;
		int rc = 0;

		if (l->in.n >= sizeof(h))
			memcpy(&h, l->in.v, sizeof(h));
		want = collector_link_wanted(l, &h);
		if (l->in.n >= sizeof(h) && l->in.n == want) {
			rc = collector_link_take_frame(l, &h);
			l->in.n = 0;
			if (rc)
				return rc;
			continue;
		}
		vec_reserve(&l->in, want);
		got = recv(l->fd, l->in.v + l->in.n, want - l->in.n, MSG_DONTWAIT);
		if (got < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -EPIPE;
		if (!got)
			return -EPIPE;
		l->in.n += (size_t)got;
		if (l->in.n == sizeof(h)) {
			memcpy(&h, l->in.v, sizeof(h));
			rc = collector_link_check_head(&h);
		}
		if (rc)
			return rc;
	}
}

/* --- the thread
 * ----------------------------------------------------------------------------------- */

static void collector_link_drop(struct collector_link *l, const char *why)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	l->in.n = 0;
	l->awaits = false;
	if (l->lost)
		return;
	l->lost = true;
	log_add(LOG_ERROR, "collector", "%s", why);
	collector_link_tell(l, MSG_LOST, -EPIPE, why);
}

static void collector_link_connect(struct collector_link *l)
{
	struct timeval patience = { .tv_sec = SEND_MS / 1000 };
	struct err err;

	if (collector_dir_connect(&l->fd, &l->may_ask, l->o.dir, &err)) {
		collector_link_drop(l, err.text);
		return;
	}
	setsockopt(l->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

static void collector_link_wait(struct collector_link *l)
{
	struct pollfd fds[2] = { { .fd = l->wake, .events = POLLIN },
				 { .fd = l->fd, .events = POLLIN } };
	uint64_t count;

	poll(fds, 2, l->fd < 0 ? RETRY_MS : -1);
	/* nothing was signalled where there is nothing to read */
	if ((fds[0].revents & POLLIN) && read(l->wake, &count, sizeof(count)) < 0)
		return;
}

static void *collector_link_run(void *arg)
{
	struct collector_link *l = arg;
	bool stop = false;

	while (!stop) {
		if (l->fd < 0)
			collector_link_connect(l);
		collector_link_wait(l);
		if (l->fd >= 0 && (collector_link_ask(l) || collector_link_read(l)))
			collector_link_drop(l, "the collector has ended, or does not respond");
		/* an answer may have made room for the next question */
		if (l->fd >= 0 && !l->awaits && collector_link_ask(l))
			collector_link_drop(l, "the collector has ended, or does not respond");
		pthread_mutex_lock(&l->lock);
		stop = l->stop;
		pthread_mutex_unlock(&l->lock);
	}
	return NULL;
}

static void collector_link_stop(struct feed *f)
{
	struct collector_link *l = (struct collector_link *)f;

	pthread_mutex_lock(&l->lock);
	l->stop = true;
	pthread_mutex_unlock(&l->lock);
	collector_link_wake(l);
	pthread_join(l->thread, NULL);
}

static void collector_link_free(struct feed *f)
{
	struct collector_link *l = (struct collector_link *)f;

	if (l->fd >= 0)
		close(l->fd);
	frame_taker_free(l->taker);
	vec_free(&l->in);
	close(l->wake);
	pthread_mutex_destroy(&l->lock);
	free((char *)l->o.dir);
	free(l);
}

static const struct feed_ops collector_link_ops = {
	.want = collector_link_want,
	.interval = collector_link_interval,
	.end_sweep = collector_link_end_nothing,
	.tables_end = collector_link_end_nothing,
	.past = collector_link_past,
	.past_event = collector_link_past_event,
	.stop = collector_link_stop,
	.free = collector_link_free,
};

int collector_link_try(const char *dir, struct err *err)
{
	bool may_ask;
	int fd, rc = collector_dir_connect(&fd, &may_ask, dir, err);

	if (!rc)
		close(fd);
	return rc;
}

int collector_link_start(struct feed **out, const struct collector_link_opts *o,
			 struct mailbox *box, struct err *err)
{
	struct collector_link *l = xcalloc(1, sizeof(*l));
	int rc;

	l->feed.ops = &collector_link_ops;
	l->feed.shared = true;
	l->o = *o;
	l->o.dir = xstrdup(o->dir);
	l->box = box;
	l->fd = -1;
	l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	l->taker = frame_taker_new(o->racks, o->racks_path);
	pthread_mutex_init(&l->lock, NULL);
	rc = thread_start(&l->thread, "collector", collector_link_run, l, err);
	if (rc) {
		collector_link_free(&l->feed);
		return rc;
	}
	*out = &l->feed;
	return 0;
}
