/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slow_disk: stands in front of opendir(), fopen(), write() and fsync(), which do not return while
 * a folder is slow, and counts what the thread that draws asks for itself.  To be included by one
 * file of a program. */
#pragma once

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Atomic(const char *) slow_disk_folder; /* NULL: none */
static atomic_uint slow_disk_waits;	       /* calls that do not return */
static atomic_uint slow_disk_left;	       /* calls that have returned at last */
static unsigned slow_disk_on_screen;	       /* calls of the thread that set slow_disk_screen */
static pthread_t slow_disk_screen;

static void slow_disk_wait(const char *path)
{
	const char *folder = atomic_load(&slow_disk_folder);

	if (!folder || strncmp(path, folder, strlen(folder)))
		return;
	if (pthread_equal(pthread_self(), slow_disk_screen)) {
		slow_disk_on_screen++;
		return;
	}
	slow_disk_waits++;
	while (atomic_load(&slow_disk_folder) == folder)
		usleep(1000);
	slow_disk_waits--;
	slow_disk_left++;
}

static void slow_disk_wait_file(int fd)
{
	char link[40], path[PATH_MAX];
	ssize_t len;

	if (!atomic_load(&slow_disk_folder))
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	path[len > 0 ? len : 0] = '\0';
	slow_disk_wait(path);
}

DIR *opendir(const char *path)
{
	DIR *(*next)(const char *);

	slow_disk_wait(path);
	*(void **)&next = dlsym(RTLD_NEXT, "opendir");
	return next(path);
}

FILE *fopen(const char *path, const char *mode)
{
	FILE *(*next)(const char *, const char *);

	slow_disk_wait(path);
	*(void **)&next = dlsym(RTLD_NEXT, "fopen");
	return next(path, mode);
}

ssize_t write(int fd, const void *data, size_t len)
{
	ssize_t (*next)(int, const void *, size_t);

	slow_disk_wait_file(fd);
	*(void **)&next = dlsym(RTLD_NEXT, "write");
	return next(fd, data, len);
}

int fsync(int fd)
{
	int (*next)(int);

	slow_disk_wait_file(fd);
	*(void **)&next = dlsym(RTLD_NEXT, "fsync");
	return next(fd);
}
