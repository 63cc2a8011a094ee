/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sync_spy: stands in front of fsync() and rename(): counts them, knows what has reached the
 * disk, and ends the process at a chosen one.  To be included by one file of a program.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPY_FILES 256

static struct {
	uint64_t calls, die_at; /* die_at 0: never; dies before the call takes effect */
	uint64_t fail_at;	/* fsync fails from that call on, once */
	bool real;		/* really ask the disk */
	struct {
		ino_t ino;
		off_t size;
		uint64_t when;
	} file[SPY_FILES]; /* ring of the last ones synced */
	unsigned n;
	uint64_t renamed; /* when */
} spy;

static inline void spy_count(void)
{
	if (++spy.calls == spy.die_at)
		_exit(42);
}

int fsync(int fd)
{
	struct stat st;

	spy_count();
	if (spy.fail_at && spy.calls == spy.fail_at) {
		errno = EIO;
		return -1;
	}
	if (!fstat(fd, &st)) {
		spy.file[spy.n % SPY_FILES].ino = st.st_ino;
		spy.file[spy.n % SPY_FILES].size = st.st_size;
		spy.file[spy.n % SPY_FILES].when = spy.calls;
		spy.n++;
	}
	return spy.real ? (int)syscall(SYS_fsync, fd) : 0;
}

int rename(const char *from, const char *to)
{
	spy_count();
	spy.renamed = spy.calls;
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* Synced with its present size (files), or after that call (directories)? */
static inline bool spy_synced(const char *path, uint64_t after)
{
	struct stat st;
	unsigned have = spy.n < SPY_FILES ? spy.n : SPY_FILES;

	if (stat(path, &st))
		return false;
	for (unsigned i = 1; i <= have; i++) {
		unsigned k = (spy.n - i) % SPY_FILES;

		if (spy.file[k].ino == st.st_ino)
			return spy.file[k].when > after &&
			       (S_ISDIR(st.st_mode) || spy.file[k].size == st.st_size);
	}
	return false;
}
