/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * umad_rmpp: long answers of subnet administration, which the kernel carries in segments (13.6) for
 * agents that were registered with RMPP version 1, and ibsim's library cuts off after the first
 * MAD.
 *
 * Preloaded before libumad2sim.so (behind libumad_timeouts.so), by who answers and by who asks.  A
 * write() of an active RMPP message goes out as DATA segments, as many at a time as the other side
 * allows.  Segments that come in are acknowledged, and
 * read() gives out the whole message, or -1 with ENOSPC and its length where the buffer is too
 * short for it.  Segments are taken in order only: those behind a lost one are to be sent again.
 *
 * ibsim's library gives out the first 224 bytes of a MAD and 32 of other memory.  Segments have 168
 * bytes of data here therefore, where elsewhere they have 200: more go over the wire.
 *
 * Time passes while somebody waits in poll() or read(); poll() of one umad at a time.
 *
 * UMAD_RMPP=FILE: numbers of 8 bytes: segments that came in, acknowledgements that went out,
 * segments that went out, of them those that did again.  UMAD_RMPP_LOSE=N: every Nth of the
 * segments that go out is lost, and what was not acknowledged goes out again.  Otherwise nothing
 * does: the simulator loses a segment or an acknowledgement only with the program at its other end,
 * and a segment that comes again would meet the next program there.  UMAD_RMPP_HUGE=MB: the first
 * message that is complete is given out as so long.
 */
#include "tests/lab/umad_preload.h"

#include <umad.h>

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>

#define GOOD_BYTES 224
#define SA_CLASS   0x03
#define RESPONSE   0x80	 /* in the method */
#define ACK_MS	   200	 /* then a segment goes out again */
#define KEEP_MS	   10000 /* of what is complete, for acknowledgements that were lost */
#define TRIES	   8
#define WINDOW	   64 /* segments a receiver wants at a time, as the kernel's */
#define AGENTS	   64
#define MESSAGE	   (16u << 20)

enum { HEADER = sizeof(struct ib_user_mad), BYTES = HEADER + MAD_BYTES };
/* Of a MAD of subnet administration. */
enum {
	METHOD = 3,
	TID = 8,
	TID_BYTES = 8,
	VERSION = 24,
	TYPE = 25,
	FLAGS = 26,
	SEGMENT = 28,
	LENGTH = 32, /* or, of an acknowledgement, the last segment that may be sent */
	CLASS_HEADER = 36,
	DATA = 56,
	SEGMENT_DATA = GOOD_BYTES - DATA,
	REPEATED = DATA - CLASS_HEADER, /* bytes that each segment has and the length counts */
};
enum { TYPE_DATA = 1, TYPE_ACK, TYPE_STOP, TYPE_ABORT };
enum { ACTIVE = 1, FIRST = 2, LAST = 4 };
enum { SEGMENTS_IN, ACKS_OUT, SEGMENTS_OUT, SEGMENTS_AGAIN, COUNTS };

struct message {
	struct message *next;
	int fd;
	bool whole;
	uint32_t segments, done,
		allowed; /* in all (sending); acknowledged or here; the last one yet */
	unsigned tries;
	uint64_t due_ms;
	size_t len; /* of bytes */
	union {
		struct ib_user_mad umad;
		uint8_t bytes[BYTES];
	} first;	/* header of each segment */
	uint8_t *bytes; /* umad and MAD as the program has them */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct message *sending, *receiving, *ready;
static bool speaks[AGENTS]; /* registered with a version of RMPP */
static uint64_t own_counts[COUNTS], *counts = own_counts, lose, huge;
static int (*next_ioctl)(int, unsigned long, ...);

__attribute__((constructor)) static void umad_rmpp_begin(void)
{
	const char *every = getenv("UMAD_RMPP_LOSE");
	uint64_t *in_file = counts_in("UMAD_RMPP", sizeof(own_counts));

	next_find();
	*(void **)&next_ioctl = dlsym(RTLD_NEXT, "ioctl");
	huge = getenv("UMAD_RMPP_HUGE") ? strtoull(getenv("UMAD_RMPP_HUGE"), NULL, 10) << 20 : 0;
	lose = every ? strtoull(every, NULL, 10) : 0;
	counts = in_file ? in_file : own_counts;
}

static uint32_t get32(const uint8_t *d)
{
	return (uint32_t)d[0] << 24 | (uint32_t)d[1] << 16 | (uint32_t)d[2] << 8 | d[3];
}

static void put32(uint8_t *d, uint32_t v)
{
	for (int i = 4; i-- > 0; v >>= 8)
		d[i] = (uint8_t)v;
}

static void *grown(void *p, size_t len)
{
	p = realloc(p, len);
	if (!p)
		abort();
	return p;
}

static struct message *message_new(int fd, const void *umad, size_t len)
{
	struct message *m = calloc(1, sizeof(*m));

	if (!m)
		abort();
	m->fd = fd;
	m->len = len;
	m->bytes = grown(NULL, len);
	memcpy(m->bytes, umad, len);
	memcpy(m->first.bytes, umad, len < BYTES ? len : BYTES);
	return m;
}

static void message_append(struct message **list, struct message *m)
{
	while (*list)
		list = &(*list)->next;
	m->next = NULL;
	*list = m;
}

static void message_end(struct message **at)
{
	struct message *m = *at;

	*at = m->next;
	free(m->bytes);
	free(m);
}

static bool is_active(const struct ib_user_mad *u, size_t len)
{
	return len >= HEADER + DATA && u->data[1] == SA_CLASS && (u->data[FLAGS] & ACTIVE);
}

static bool is_rmpp(const struct ib_user_mad *u, size_t len)
{
	return is_active(u, len) && u->agent_id < AGENTS && speaks[u->agent_id];
}

/* Of the same two ends, but for the direction. */
static bool same_transfer(const struct message *m, int fd, const struct ib_user_mad *u,
			  uint8_t turn)
{
	const struct ib_user_mad *v = &m->first.umad;

	return m->fd == fd && v->addr.lid == u->addr.lid &&
	       v->data[METHOD] == (u->data[METHOD] ^ turn) &&
	       !memcmp(v->data + TID, u->data + TID, TID_BYTES);
}

/* --- sending --- */

static void send_segment(struct message *m, uint32_t n, bool again)
{
	size_t data = m->len - HEADER - DATA, at = (size_t)(n - 1) * SEGMENT_DATA;
	size_t part = data - at < SEGMENT_DATA ? data - at : SEGMENT_DATA;
	uint8_t *d = m->first.umad.data;

	d[VERSION] = 1;
	d[TYPE] = TYPE_DATA;
	d[FLAGS] = (uint8_t)(ACTIVE | (n == 1 ? FIRST : 0) | (n == m->segments ? LAST : 0));
	put32(d + SEGMENT, n);
	put32(d + LENGTH, n == 1	     ? (uint32_t)(m->segments * REPEATED + data)
			  : n == m->segments ? (uint32_t)(REPEATED + part)
					     : 0);
	memset(d + DATA, 0, SEGMENT_DATA);
	memcpy(d + DATA, m->bytes + HEADER + DATA + at, part);
	counts[SEGMENTS_OUT]++;
	counts[SEGMENTS_AGAIN] += again;
	if (!lose || counts[SEGMENTS_OUT] % lose)
		next_write(m->fd, m->first.bytes, BYTES);
}

static void send_window(struct message *m, uint32_t after, bool again)
{
	m->due_ms = now_ms() + (lose ? ACK_MS : KEEP_MS);
	for (uint32_t n = after + 1; n <= m->segments && n <= m->allowed; n++)
		send_segment(m, n, again);
}

static void send_message(int fd, const void *umad, size_t len)
{
	struct message *m = message_new(fd, umad, len);
	size_t data = len - HEADER - DATA;

	m->segments = data ? (uint32_t)((data + SEGMENT_DATA - 1) / SEGMENT_DATA) : 1;
	m->allowed = 1;
	message_append(&sending, m);
	send_window(m, 0, false);
}

static void acknowledged(int fd, const struct ib_user_mad *u)
{
	uint32_t n = get32(u->data + SEGMENT), allowed = get32(u->data + LENGTH), had;

	for (struct message **p = &sending; *p; p = &(*p)->next) {
		struct message *m = *p;

		if (!same_transfer(m, fd, u, RESPONSE))
			continue;
		if (u->data[TYPE] != TYPE_ACK || n >= m->segments) {
			message_end(p);
			return;
		}
		if (n < m->done || allowed < m->allowed)
			return;
		had = m->allowed > n ? m->allowed : n; /* those are on their way */
		m->done = n;
		m->allowed = allowed;
		m->tries = 0;
		send_window(m, had, false);
		return;
	}
}

/* The simulator gives a segment back, with the other side's agent: that is gone. */
static void given_back(int fd, const struct ib_user_mad *u)
{
	for (struct message **p = &sending; *p;)
		if ((*p)->fd == fd &&
		    !memcmp((*p)->first.umad.data + TID, u->data + TID, TID_BYTES))
			message_end(p);
		else
			p = &(*p)->next;
}

static void send_again(uint64_t now)
{
	for (struct message **p = &sending; *p;) {
		struct message *m = *p;

		if (now >= m->due_ms && (!lose || ++m->tries == TRIES)) {
			message_end(p);
			continue;
		}
		if (now >= m->due_ms)
			send_window(m, m->done, true);
		p = &m->next;
	}
	for (struct message **p = &receiving; *p;)
		if (now >= (*p)->due_ms)
			message_end(p);
		else
			p = &(*p)->next;
}

/* --- receiving --- */

static void acknowledge(struct message *m)
{
	uint8_t *d = m->first.umad.data;
	union {
		struct ib_user_mad umad;
		uint8_t bytes[BYTES];
	} ack = { .umad.agent_id = m->first.umad.agent_id };

	ack.umad.addr = m->first.umad.addr;
	ack.umad.addr.qkey = htobe32(0x80010000);
	memcpy(ack.umad.data, d, DATA);
	ack.umad.data[METHOD] ^= RESPONSE;
	ack.umad.data[VERSION] = 1;
	ack.umad.data[TYPE] = TYPE_ACK;
	ack.umad.data[FLAGS] = ACTIVE;
	put32(ack.umad.data + SEGMENT, m->done);
	put32(ack.umad.data + LENGTH, m->allowed);
	counts[ACKS_OUT]++;
	next_write(m->fd, ack.bytes, BYTES);
}

/* How much of a segment is data; negative: it cannot be. */
static long data_of(const struct ib_user_mad *u)
{
	long len = SEGMENT_DATA;

	if (u->data[FLAGS] & LAST)
		len = (long)get32(u->data + LENGTH) - REPEATED;
	return len > SEGMENT_DATA ? -1 : len;
}

static void give_out(struct message *m)
{
	struct message *r = message_new(m->fd, m->bytes, m->len);
	struct ib_user_mad *u = (struct ib_user_mad *)r->bytes;

	m->whole = true;
	free(m->bytes);
	m->bytes = NULL;
	if (huge > r->len) {
		r->bytes = grown(r->bytes, huge);
		memset(r->bytes + r->len, 0, huge - r->len);
		r->len = huge;
		u = (struct ib_user_mad *)r->bytes;
	}
	huge = 0;
	u->length = (uint32_t)r->len;
	message_append(&ready, r);
}

static void take_segment(struct message *m, const struct ib_user_mad *u)
{
	uint32_t n = get32(u->data + SEGMENT);
	long len = data_of(u);

	if (m->whole || n <= m->done) {
		acknowledge(m); /* the last one was lost */
		return;
	}
	if (n != m->done + 1 || len < 0 || m->len + (size_t)len > MESSAGE)
		return;
	m->bytes = grown(m->bytes, m->len + (size_t)len);
	memcpy(m->bytes + m->len, u->data + DATA, (size_t)len);
	m->len += (size_t)len;
	m->done = n;
	m->due_ms = now_ms() + KEEP_MS;
	if (u->data[FLAGS] & LAST)
		give_out(m);
	else if (n == m->allowed)
		m->allowed += WINDOW;
	else
		return;
	acknowledge(m);
}

static void take_data(int fd, const struct ib_user_mad *u)
{
	struct message *m = receiving;

	counts[SEGMENTS_IN]++;
	while (m && !same_transfer(m, fd, u, 0))
		m = m->next;
	if (!m && get32(u->data + SEGMENT) != 1)
		return;
	if (!m) {
		m = message_new(fd, u, HEADER + DATA);
		m->allowed = 1;
		m->due_ms = now_ms() + KEEP_MS;
		message_append(&receiving, m);
	}
	take_segment(m, u);
}

/* What has come, without waiting.  False: nothing more. */
static bool take_one(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	union {
		struct ib_user_mad umad;
		uint8_t bytes[4096];
	} in;
	ssize_t n;

	if (next_poll(&p, 1, 0) != 1)
		return false;
	n = next_read(fd, in.bytes, sizeof(in));
	if (n < HEADER)
		return false;
	if (in.umad.status && is_active(&in.umad, (size_t)n))
		given_back(fd, &in.umad);
	else if (!is_rmpp(&in.umad, (size_t)n))
		message_append(&ready, message_new(fd, in.bytes, (size_t)n));
	else if (in.umad.data[TYPE] == TYPE_DATA)
		take_data(fd, &in.umad);
	else
		acknowledged(fd, &in.umad);
	return true;
}

static struct message **ready_of(int fd)
{
	struct message **p = &ready;

	while (*p && (*p)->fd != fd)
		p = &(*p)->next;
	return p;
}

static bool look(int fd)
{
	bool there;

	pthread_mutex_lock(&lock);
	while (!*ready_of(fd) && take_one(fd))
		;
	send_again(now_ms());
	there = *ready_of(fd) != NULL;
	pthread_mutex_unlock(&lock);
	return there;
}

/* --- what the program calls --- */

__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...)
{
	/* the layout of the kernel's struct ib_user_mad_reg_req */
	struct {
		uint32_t id, methods[4];
		uint8_t qpn, mgmt_class, class_version, oui[3], rmpp_version;
	} * agent;
	va_list args;
	void *arg;
	int rc;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	rc = next_ioctl(fd, request, arg);
	agent = arg;
	if (ours(fd) && !rc && (uint32_t)request == (uint32_t)_IOWR(IB_IOCTL_MAGIC, 1, *agent) &&
	    agent->id < AGENTS)
		speaks[agent->id] = agent->rmpp_version;
	return rc;
}

__attribute__((visibility("default"))) int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	return poll_looking(fds, n, timeout_ms, look);
}

__attribute__((visibility("default"))) ssize_t read(int fd, void *buf, size_t len)
{
	struct message **p;
	ssize_t rc = -EWOULDBLOCK; /* as libumad2sim says it */

	if (!ours(fd))
		return next_read(fd, buf, len);
	look(fd);
	pthread_mutex_lock(&lock);
	p = ready_of(fd);
	if (*p && (*p)->len > len && (*p)->len > BYTES) {
		memcpy(buf, (*p)->bytes, len);
		errno = ENOSPC;
		rc = -1;
	} else if (*p) {
		rc = (ssize_t)((*p)->len < len ? (*p)->len : len);
		memcpy(buf, (*p)->bytes, (size_t)rc);
		message_end(p);
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

__attribute__((visibility("default"))) ssize_t write(int fd, const void *buf, size_t len)
{
	if (!ours(fd) || !is_rmpp(buf, len))
		return next_write(fd, buf, len);
	pthread_mutex_lock(&lock);
	send_message(fd, buf, len);
	pthread_mutex_unlock(&lock);
	return (ssize_t)len;
}
