/* SPDX-License-Identifier: GPL-2.0-or-later */
/* umad_preload: what libraries share that are preloaded before ibsim's libumad2sim.so.  The first
 * header of such a file. */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
/* its poll() and read() are in the way of ours */
#undef _FORTIFY_SOURCE

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FD_FIRST  1024 /* libumad2sim's descriptors */
#define FD_END	  2048
#define MAD_BYTES 256
#define LOOK_MS	  20 /* how often somebody who waits without an end looks at what is overdue */

static int (*next_poll)(struct pollfd *, nfds_t, int);
static ssize_t (*next_read)(int, void *, size_t);
static ssize_t (*next_write)(int, const void *, size_t);

static inline void next_find(void)
{
	*(void **)&next_poll = dlsym(RTLD_NEXT, "poll");
	*(void **)&next_read = dlsym(RTLD_NEXT, "read");
	*(void **)&next_write = dlsym(RTLD_NEXT, "write");
}

/* Numbers in the file that the environment names, which others read; NULL: nobody wants to know. */
static inline uint64_t *counts_in(const char *variable, size_t bytes)
{
	const char *path = getenv(variable);
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	void *map = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (!ftruncate(fd, (off_t)bytes))
		map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

static inline bool ours(int fd)
{
	return fd >= FD_FIRST && fd < FD_END;
}

static inline uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* poll() of one umad, whose look() takes what has come and says whether there is something. */
static inline int poll_looking(struct pollfd *fds, nfds_t n, int timeout_ms, bool (*look)(int fd))
{
	uint64_t end = timeout_ms < 0 ? UINT64_MAX : now_ms() + (uint64_t)timeout_ms, now;
	struct pollfd p;

	if (n != 1 || !ours(fds->fd))
		return next_poll(fds, n, timeout_ms);
	p = (struct pollfd){ .fd = fds->fd, .events = POLLIN };
	fds->revents = 0;
	while (!look(fds->fd)) {
		now = now_ms();
		if (now >= end)
			return 0;
		next_poll(&p, 1, end - now < LOOK_MS ? (int)(end - now) : LOOK_MS);
	}
	fds->revents = POLLIN;
	return 1;
}
