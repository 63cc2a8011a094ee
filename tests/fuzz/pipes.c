/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pipes: pairs of connected stream sockets in memory, for programs that are linked with
 * --wrap=socketpair,... (Makefile): a fuzzer makes and ends thousands of them a second.  As real
 * ones that do not block: a full one takes a part or nothing, an end that is closed reads as the
 * end once it is empty.  Other descriptors go to the real functions.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ENDS	 16
#define FD_FIRST (1 << 20)
#define ROOM	 4096
#define PEER_PID 4711

/* What can be read at this end; the other one is at index ^ 1. */
struct end {
	bool open;
	size_t n;
	uint8_t data[ROOM];
};

static struct end ends[ENDS];

int __wrap_socketpair(int domain, int type, int protocol, int fds[2]);
ssize_t __wrap_send(int fd, const void *data, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t n, int flags);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout);
int __wrap_close(int fd);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int __real_close(int fd);

static struct end *end_of(int fd)
{
	return fd >= FD_FIRST && fd < FD_FIRST + ENDS ? &ends[fd - FD_FIRST] : NULL;
}

static struct end *other(struct end *e)
{
	return &ends[(e - ends) ^ 1];
}

static struct end *need(int fd)
{
	struct end *e = end_of(fd);

	if (!e || !e->open)
		abort(); /* a descriptor that was closed, or never opened */
	return e;
}

int __wrap_socketpair(int domain, int type, int protocol, int fds[2])
{
	(void)domain;
	(void)type;
	(void)protocol;
	for (int i = 0; i < ENDS; i += 2) {
		if (ends[i].open || ends[i + 1].open)
			continue;
		for (int k = 0; k < 2; k++) {
			ends[i + k].open = true;
			ends[i + k].n = 0;
			fds[k] = FD_FIRST + i + k;
		}
		return 0;
	}
	errno = EMFILE;
	return -1;
}

ssize_t __wrap_send(int fd, const void *data, size_t n, int flags)
{
	struct end *to = other(need(fd));

	(void)flags;
	if (!to->open) {
		errno = EPIPE;
		return -1;
	}
	if (n > ROOM - to->n)
		n = ROOM - to->n;
	if (!n) {
		errno = EAGAIN;
		return -1;
	}
	memcpy(to->data + to->n, data, n);
	to->n += n;
	return (ssize_t)n;
}

ssize_t __wrap_recv(int fd, void *data, size_t n, int flags)
{
	struct end *e = need(fd);

	(void)flags;
	if (!e->n && !other(e)->open)
		return 0;
	if (!e->n) {
		errno = EAGAIN;
		return -1;
	}
	if (n > e->n)
		n = e->n;
	memcpy(data, e->data, n);
	memmove(e->data, e->data + n, e->n - n);
	e->n -= n;
	return (ssize_t)n;
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	int ready = 0;

	(void)timeout;
	for (nfds_t i = 0; i < n; i++) {
		struct end *e = fds[i].fd < 0 ? NULL : need(fds[i].fd);

		fds[i].revents = 0;
		if (!e)
			continue;
		if (e->n || !other(e)->open)
			fds[i].revents |= POLLIN;
		if (!other(e)->open)
			fds[i].revents |= POLLHUP;
		if (other(e)->n < ROOM)
			fds[i].revents |= POLLOUT;
		fds[i].revents &= (short)(fds[i].events | POLLHUP);
		ready += fds[i].revents != 0;
	}
	return ready;
}

int __wrap_close(int fd)
{
	struct end *e = end_of(fd);

	if (!e)
		return __real_close(fd);
	need(fd)->open = false;
	return 0;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	struct ucred who = { .pid = PEER_PID, .uid = geteuid() };

	need(fd);
	if (level != SOL_SOCKET || name != SO_PEERCRED || *len < sizeof(who))
		abort();
	memcpy(value, &who, sizeof(who));
	return 0;
}
