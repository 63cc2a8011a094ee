/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collector/viewers.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/time/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define STALLED_S   30.0	 /* since it took anything */
#define ANSWERS_MAX (128u << 20) /* bytes that wait for all of them */
#define WORDS_MAX   512		 /* notes and lines of the log that wait for one viewer */

struct viewer {
	uint64_t id;
	int fd; /* -1: it is to go */
	bool may_write, asked;
	VEC(const struct frame *) queue;
	size_t sent; /* of the first one, head included */
	double moved_at;
	uint8_t in[sizeof(struct frame_head) + FRAME_ASK_MAX];
	size_t nin;
};

struct viewers {
	struct viewers_ops ops;
	VEC(struct viewer) v;
	uint64_t last_id;
};

struct viewers *viewers_new(const struct viewers_ops *ops)
{
	struct viewers *v = xcalloc(1, sizeof(*v));

	v->ops = *ops;
	return v;
}

static void viewers_drop(struct viewer *w)
{
	for (size_t i = 0; i < w->queue.n; i++)
		frame_put(w->queue.v[i]);
	vec_free(&w->queue);
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}

void viewers_free(struct viewers *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->v.n; i++)
		viewers_drop(&v->v.v[i]);
	vec_free(&v->v);
	free(v);
}

uint32_t viewers_count(const struct viewers *v)
{
	return (uint32_t)v->v.n;
}

/* --- what waits for one ----------------------------------------------------------------------- */

/* Does the newer one say all that the older had to? */
static bool viewers_replaces(uint32_t newer, uint32_t older)
{
	switch (newer) {
	case FRAME_LOG:
	case FRAME_NOTE:
	case FRAME_PAST:
	case FRAME_HELLO:
		return false;
	case FRAME_FABRIC: /* of which the others are */
		return older == FRAME_FABRIC || older == FRAME_TABLES || older == FRAME_SAMPLE;
	default:
		return newer == older;
	}
}

static void viewers_remove(struct viewer *w, size_t at)
{
	frame_put(w->queue.v[at]);
	memmove(w->queue.v + at, w->queue.v + at + 1, (--w->queue.n - at) * sizeof(w->queue.v[0]));
}

static bool viewers_is_word(const struct frame *f)
{
	return f->head.kind == FRAME_NOTE || f->head.kind == FRAME_LOG;
}

/* The oldest of too many words. */
static void viewers_bound_words(struct viewer *w, size_t from)
{
	size_t n = 0, oldest = SIZE_MAX;

	for (size_t i = from; i < w->queue.n; i++)
		if (viewers_is_word(w->queue.v[i])) {
			oldest = oldest == SIZE_MAX ? i : oldest;
			n++;
		}
	if (n > WORDS_MAX)
		viewers_remove(w, oldest);
}

static bool viewers_waits(const struct viewer *w, uint32_t kind)
{
	for (size_t i = w->sent ? 1 : 0; i < w->queue.n; i++)
		if (w->queue.v[i]->head.kind == kind)
			return true;
	return false;
}

/* What it has begun to take it takes to the end. */
static void viewers_push(struct viewer *w, const struct frame *f, bool first)
{
	size_t from = w->sent ? 1 : 0;

	if (w->fd < 0)
		return;
	for (size_t i = w->queue.n; !first && i-- > from;)
		if (viewers_replaces(f->head.kind, w->queue.v[i]->head.kind))
			viewers_remove(w, i);
	if (!w->queue.n)
		w->moved_at = clock_s();
	vec_push(&w->queue, frame_get(f));
	viewers_bound_words(w, from);
}

/* Sends as much as the socket takes; false: nobody is there. */
static bool viewers_write(struct viewer *w)
{
	while (w->queue.n) {
		const struct frame *f = w->queue.v[0];
		bool head = w->sent < sizeof(f->head);
		const uint8_t *from = head ? (const uint8_t *)&f->head + w->sent
					   : f->data + (w->sent - sizeof(f->head));
		size_t n = (head ? sizeof(f->head) : sizeof(f->head) + f->head.len) - w->sent;
		ssize_t got = n ? send(w->fd, from, n, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;

		if (got < 0)
			return errno == EAGAIN || errno == EINTR;
		w->sent += (size_t)got;
		w->moved_at = clock_s();
		if (w->sent == sizeof(f->head) + f->head.len) {
			w->asked &= f->head.kind != FRAME_PAST;
			viewers_remove(w, 0);
			w->sent = 0;
		}
	}
	return true;
}

void viewers_add(struct viewers *v, int fd, bool may_write, const struct frame *const *first,
		 uint32_t n)
{
	struct viewer w = { .id = ++v->last_id, .fd = fd, .may_write = may_write };

	if (v->v.n == VIEWERS_MAX) {
		close(fd);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		if (first[i])
			viewers_push(&w, first[i], true);
	vec_push(&v->v, w);
}

/* What is of a fabric must come behind it: said again, it takes nothing away. */
void viewers_send(struct viewers *v, const struct frame *f, bool again)
{
	for (size_t i = 0; i < v->v.n; i++)
		if (!again)
			viewers_push(&v->v.v[i], f, false);
		else if (!viewers_waits(&v->v.v[i], f->head.kind))
			viewers_push(&v->v.v[i], f, true);
}

static size_t viewers_answers_bytes(const struct viewers *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->v.n; i++)
		for (size_t k = 0; k < v->v.v[i].queue.n; k++)
			if (v->v.v[i].queue.v[k]->head.kind == FRAME_PAST)
				n += v->v.v[i].queue.v[k]->head.len;
	return n;
}

void viewers_answer(struct viewers *v, uint64_t viewer, const struct frame *f)
{
	for (size_t i = 0; i < v->v.n; i++) {
		struct viewer *w = &v->v.v[i];

		if (w->id != viewer)
			continue;
		if (viewers_answers_bytes(v) + f->head.len > ANSWERS_MAX)
			viewers_drop(w); /* others ask and do not listen: it may come again */
		else
			viewers_push(w, f, true);
	}
}

/* --- what one says ---------------------------------------------------------------------------- */

/* False: it is no viewer of ours. */
static bool viewers_do(struct viewers *v, struct viewer *w, const struct frame_head *h,
		       const uint8_t *data)
{
	struct past_ask ask;

	if (h->kind == FRAME_ASK_PAST && h->len == sizeof(ask) && !w->asked) {
		memcpy(&ask, data, sizeof(ask));
		w->asked = true; /* the next when this answer was taken */
		v->ops.past(v->ops.ctx, w->id, &ask);
		return true;
	}
	if (h->kind == FRAME_ASK_WANT && h->len == 1 && data[0] < WANT_COUNT &&
	    (w->may_write || data[0] == WANT_ERRORS)) {
		v->ops.want(v->ops.ctx, (enum want_type)data[0]);
		return true;
	}
	return false;
}

static bool viewers_take(struct viewers *v, struct viewer *w)
{
	struct frame_head h;
	size_t used = 0;

	while (w->nin - used >= sizeof(h)) {
		memcpy(&h, w->in + used, sizeof(h));
		if (h.magic != FRAME_MAGIC || h.len > FRAME_ASK_MAX)
			return false;
		if (w->nin - used - sizeof(h) < h.len)
			break;
		if (!viewers_do(v, w, &h, w->in + used + sizeof(h)))
			return false;
		used += sizeof(h) + h.len;
	}
	memmove(w->in, w->in + used, w->nin - used);
	w->nin -= used;
	return true;
}

static bool viewers_read(struct viewers *v, struct viewer *w)
{
	ssize_t got = recv(w->fd, w->in + w->nin, sizeof(w->in) - w->nin, MSG_DONTWAIT);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	w->nin += (size_t)got;
	return got && viewers_take(v, w);
}

/* --- the loop -------------------------------------------------------------------------------- */

uint32_t viewers_poll(struct viewers *v, struct pollfd *fds)
{
	for (size_t i = 0; i < v->v.n; i++)
		fds[i] = (struct pollfd){ .fd = v->v.v[i].fd,
					  .events = (short)(POLLIN |
							    (v->v.v[i].queue.n ? POLLOUT : 0)) };
	return (uint32_t)v->v.n;
}

void viewers_serve(struct viewers *v, const struct pollfd *fds, uint32_t n)
{
	double now = clock_s();
	size_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct viewer *w = &v->v.v[i];
		bool ok = !(fds[i].revents & (POLLERR | POLLNVAL));

		if (ok && (fds[i].revents & (POLLIN | POLLHUP)))
			ok = viewers_read(v, w);
		if (ok && (fds[i].revents & POLLOUT))
			ok = viewers_write(w);
		if (!ok || (w->queue.n && now > w->moved_at + STALLED_S))
			viewers_drop(w);
	}
	for (size_t i = 0; i < v->v.n; i++)
		if (v->v.v[i].fd >= 0)
			v->v.v[kept++] = v->v.v[i];
	v->v.n = kept;
}
