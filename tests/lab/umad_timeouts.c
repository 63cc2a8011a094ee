/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * umad_timeouts: what the kernel does for a program that sends MADs and ibsim's library does not.
 *
 * Preloaded before libumad2sim.so.  A request whose answer does not come within the timeout that
 * its sender gave is sent again as often as he said, then comes back to him with status ETIMEDOUT;
 * an answer that nobody waits for (any more) is dropped.  Without this an OpenSM waits for ever for
 * what ibsim does not carry, as TrapRepress, or for what a client did not answer before it was
 * killed.
 *
 * For programs that read from one thread, as OpenSM does; poll() of one umad at a time.
 *
 * UMAD_DIE=FILE: a number in that file, once it is there, is how many blocks of LFTs are yet to be
 * written; with the next one the file goes and the process gets SIGKILL, or, with "stop" behind the
 * number, SIGSTOP; with "lose", that block is not sent, and so never answered.
 *
 * UMAD_LOG=FILE: a line for each trap that came ("trap"), each block of LFTs that was sent ("set")
 * and each that a switch says it holds now ("held"), behind the microseconds of CLOCK_MONOTONIC.
 *
 * UMAD_COUNT=FILE: 256 numbers of 8 bytes, how many Set() of each SMP attribute were sent (the
 * upper half of attributes, which is 0 for all that counts here, aside).
 */
#include "tests/lab/umad_preload.h"

#include <umad.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define COUNTS (256 * sizeof(uint64_t))

enum { HEADER = sizeof(struct ib_user_mad), BYTES = HEADER + MAD_BYTES };

struct sent {
	struct sent *next;
	int fd;
	uint64_t due_ms;
	size_t len;
	union {
		struct ib_user_mad umad;
		uint8_t bytes[BYTES];
	};
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sent *waiting, *ready; /* requests without an answer; what read() is to give out */
static FILE *events;		     /* NULL: likewise */
static uint64_t *sets;		     /* by attribute, in a file; NULL: nobody wants to know */

static void note(const char *what)
{
	struct timespec t;

	if (!events)
		return;
	clock_gettime(CLOCK_MONOTONIC, &t);
	fprintf(events, "%llu %s\n",
		(unsigned long long)t.tv_sec * 1000000 + (unsigned long long)t.tv_nsec / 1000,
		what);
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("UMAD_LOG");

	events = path ? fopen(path, "ae") : NULL;
	if (events)
		setvbuf(events, NULL, _IOLBF, 0);
	next_find();
	sets = counts_in("UMAD_COUNT", COUNTS);
}

/* Of a MAD: base version, class, class version, method, status, 2 more, transaction. */
static bool is_answer(const uint8_t *mad)
{
	return mad[3] & 0x80;
}

/* The upper half of a transaction belongs to whoever carries it. */
static bool same_question(const uint8_t *a, const uint8_t *b)
{
	return a[1] == b[1] && !memcmp(a + 12, b + 12, 4);
}

static void append(struct sent **list, struct sent *s)
{
	while (*list)
		list = &(*list)->next;
	s->next = NULL;
	*list = s;
}

static struct sent *copy(int fd, const void *umad, size_t len)
{
	struct sent *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	s->fd = fd;
	s->len = len < BYTES ? len : BYTES;
	memcpy(s->bytes, umad, s->len);
	return s;
}

/* false: nobody waits for it. */
static bool settle(int fd, const uint8_t *mad)
{
	for (struct sent **p = &waiting; *p; p = &(*p)->next) {
		struct sent *s = *p;

		if (s->fd != fd || !same_question(s->umad.data, mad))
			continue;
		*p = s->next;
		free(s);
		return true;
	}
	return false;
}

static void tell(const struct sent *s, const char *what)
{
	const uint8_t *m = s->umad.data;

	fprintf(stderr,
		"umad_timeouts: class 0x%02x attribute 0x%02x%02x transaction 0x%02x%02x%02x%02x: %s\n",
		m[1], m[16], m[17], m[12], m[13], m[14], m[15], what);
}

static void give_up_or_repeat(uint64_t now)
{
	for (struct sent **p = &waiting; *p;) {
		struct sent *s = *p;

		if (now < s->due_ms) {
			p = &s->next;
			continue;
		}
		if (s->umad.retries) {
			tell(s, "no answer, sent again");
			s->umad.retries--;
			s->due_ms = now + s->umad.timeout_ms;
			next_write(s->fd, s->bytes, s->len);
			p = &s->next;
			continue;
		}
		tell(s, "no answer");
		*p = s->next;
		s->umad.status = ETIMEDOUT;
		append(&ready, s);
	}
}

static bool is_ready(int fd)
{
	const struct sent *s = ready;

	while (s && s->fd != fd)
		s = s->next;
	return s != NULL;
}

static bool is_smp(const uint8_t *mad, unsigned method, unsigned attribute)
{
	return (mad[1] == 0x81 || mad[1] == 0x01) && mad[3] == method && !mad[16] &&
	       mad[17] == attribute;
}

/* What has come, without waiting.  Returns false when there is nothing more. */
static bool take_one(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct sent *s;
	uint8_t buf[4096];
	ssize_t n;

	if (next_poll(&p, 1, 0) != 1)
		return false;
	n = next_read(fd, buf, sizeof(buf));
	if (n < HEADER + 24)
		return false;
	s = copy(fd, buf, (size_t)n);
	if (is_smp(s->umad.data, 0x05, 0x02))
		note("trap");
	else if (is_smp(s->umad.data, 0x81, 0x19) && !s->umad.status)
		note("held");
	if (s->umad.status) { /* comes back at once: the simulator knows that there is no way */
		settle(fd, s->umad.data);
		append(&ready, s);
	} else if (is_answer(s->umad.data) && !settle(fd, s->umad.data)) {
		tell(s, "an answer that nobody waits for");
		free(s);
	} else {
		append(&ready, s);
	}
	return true;
}

/* One at a time: each look at the socket is a system call, which a real umad would not take. */
static bool look(int fd)
{
	bool there;

	pthread_mutex_lock(&lock);
	there = is_ready(fd);
	while (!there && take_one(fd))
		there = is_ready(fd);
	give_up_or_repeat(now_ms());
	there = is_ready(fd);
	pthread_mutex_unlock(&lock);
	return there;
}

__attribute__((visibility("default"))) int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	return poll_looking(fds, n, timeout_ms, look);
}

__attribute__((visibility("default"))) ssize_t read(int fd, void *buf, size_t len)
{
	struct sent **p = &ready, *s;

	if (!ours(fd))
		return next_read(fd, buf, len);
	look(fd);
	pthread_mutex_lock(&lock);
	while (*p && (*p)->fd != fd)
		p = &(*p)->next;
	s = *p;
	if (s)
		*p = s->next;
	pthread_mutex_unlock(&lock);
	if (!s)
		return -EWOULDBLOCK; /* as libumad2sim says it */
	len = s->len < len ? s->len : len;
	memcpy(buf, s->bytes, len);
	free(s);
	return (ssize_t)len;
}

static bool is_smp_set(const uint8_t *mad)
{
	return (mad[1] == 0x81 || mad[1] == 0x01) && mad[3] == 2;
}

/* In the middle of what it writes: Set(LinearForwardingTable), of either class of SMPs.  True: this
 * one is to be lost. */
static bool die_in_time(const uint8_t *mad)
{
	static unsigned long blocks;
	const char *path = getenv("UMAD_DIE");
	char how[8] = "";
	unsigned long left;
	FILE *f;
	int n;

	if (!path || !is_smp_set(mad) || mad[16] || mad[17] != 0x19)
		return false;
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fscanf(f, "%lu %7s", &left, how);
	fclose(f);
	if (n < 1 || blocks++ < left)
		return false;
	unlink(path);
	blocks = 0; /* of one that lives on: until the next such file */
	if (!strcmp(how, "lose"))
		return true;
	raise(strcmp(how, "stop") ? SIGKILL : SIGSTOP);
	return false;
}

__attribute__((visibility("default"))) ssize_t write(int fd, const void *buf, size_t len)
{
	const struct ib_user_mad *umad = buf;
	struct sent *s;
	bool lost;

	if (!ours(fd) || len < HEADER + 24 || !umad->timeout_ms || is_answer(umad->data))
		return next_write(fd, buf, len);
	if (sets && is_smp_set(umad->data))
		__atomic_fetch_add(&sets[umad->data[17]], 1, __ATOMIC_RELAXED);
	if (is_smp(umad->data, 0x02, 0x19))
		note("set");
	lost = die_in_time(umad->data);
	s = copy(fd, buf, len);
	s->due_ms = now_ms() + umad->timeout_ms;
	if (lost)
		s->umad.retries = 0;
	pthread_mutex_lock(&lock);
	append(&waiting, s);
	pthread_mutex_unlock(&lock);
	return lost ? (ssize_t)len : next_write(fd, buf, len);
}
