/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disk_spy: a disk whose power fails.  Stands in front of write(), pwrite(), fsync(), ftruncate()
 * and rename(); beside the real directory it keeps what a real disk would have been made to keep:
 * the bytes of a file when it was synced, the names of a directory when that was.  To be included
 * by one file of a program.
 */
#pragma once

#include "fabric/base/memory/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DISK_DIED 42

enum disk_loss { DISK_KEEP, DISK_LOSE };

enum disk_fault {
	DISK_DIE,    /* before the call; of a write, so many percent are done */
	DISK_FAIL,   /* the call fails, once */
	DISK_FAIL_ON /* it and all after it */
};

static struct {
	bool on, busy, failing, lying; /* lying: syncs are taken down as done and are not */
	char base[256], shadow[256];
	uint64_t calls, at;
	enum disk_fault fault;
	unsigned cut_pct;
} disk;

/* at 0: never. */
static inline void disk_fault_at(const char *base, const char *shadow, uint64_t at,
				 enum disk_fault fault, unsigned cut_pct)
{
	memset(&disk, 0, sizeof(disk));
	snprintf(disk.base, sizeof(disk.base), "%s", base);
	snprintf(disk.shadow, sizeof(disk.shadow), "%s", shadow);
	disk.at = at;
	disk.fault = fault;
	disk.cut_pct = cut_pct;
	disk.on = true;
}

static inline bool disk_is_ours(int fd)
{
	char link[64], path[512];
	ssize_t n;

	if (!disk.on || disk.busy)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return false;
	path[n] = '\0';
	return !strncmp(path, disk.base, strlen(disk.base));
}

static inline void disk_put(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || syscall(SYS_write, fd, data, len) != (long)len)
		abort();
	close(fd);
}

static inline void disk_count(void)
{
	char path[320], text[32];

	snprintf(path, sizeof(path), "%s/count", disk.shadow);
	snprintf(text, sizeof(text), "%lu", (unsigned long)++disk.calls);
	disk_put(path, text, strlen(text));
}

/* Calls that the child made. */
static inline uint64_t disk_count_of(const char *shadow)
{
	char path[320], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "%s/count", shadow);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		return 0;
	close(fd);
	return strtoull(text, NULL, 10);
}

/* true: the call is to fail. */
static inline bool disk_step(bool write_call)
{
	disk_count();
	if (!disk.at || (disk.calls != disk.at && !(disk.failing && disk.fault == DISK_FAIL_ON)))
		return false;
	if (disk.fault == DISK_DIE) {
		if (!write_call || !disk.cut_pct)
			_exit(DISK_DIED);
		return false;
	}
	disk.failing = true;
	errno = disk.calls % 2 ? EIO : ENOSPC;
	return true;
}

static inline bool disk_dies_now(void)
{
	return disk.fault == DISK_DIE && disk.at && disk.calls == disk.at;
}

ssize_t write(int fd, const void *data, size_t len)
{
	if (disk_is_ours(fd)) {
		if (disk_step(true))
			return -1;
		if (disk_dies_now()) {
			syscall(SYS_write, fd, data, len * disk.cut_pct / 100);
			_exit(DISK_DIED);
		}
	}
	return syscall(SYS_write, fd, data, len);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
	if (disk_is_ours(fd)) {
		if (disk_step(true))
			return -1;
		if (disk_dies_now()) {
			syscall(SYS_pwrite64, fd, data, len * disk.cut_pct / 100, at);
			_exit(DISK_DIED);
		}
	}
	return syscall(SYS_pwrite64, fd, data, len, at);
}

int ftruncate(int fd, off_t len)
{
	if (disk_is_ours(fd) && disk_step(false))
		return -1;
	return (int)syscall(SYS_ftruncate, fd, len);
}

int rename(const char *from, const char *to)
{
	if (disk.on && !disk.busy && !strncmp(from, disk.base, strlen(disk.base)) &&
	    disk_step(false))
		return -1;
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* "d<inode>": lines of type, inode and name. */
static inline void disk_keep_dir(int fd, const struct stat *st)
{
	char path[320], text[8192] = "";
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY);
	DIR *d = fdopendir(own);
	struct dirent *e;
	size_t len = 0;

	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%c %lu %s\n",
						e->d_type == DT_DIR ? 'd' : 'f',
						(unsigned long)e->d_ino, e->d_name);
	closedir(d);
	snprintf(path, sizeof(path), "%s/d%lu", disk.shadow, (unsigned long)st->st_ino);
	disk_put(path, text, len);
}

static inline void disk_keep_file(int fd, const struct stat *st)
{
	char link[64], path[320], *data = malloc((size_t)st->st_size + 1);
	ssize_t n;
	int own;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	own = open(link, O_RDONLY);
	n = own < 0 ? -1 : read(own, data, (size_t)st->st_size);
	if (n != st->st_size)
		abort();
	close(own);
	snprintf(path, sizeof(path), "%s/f%lu", disk.shadow, (unsigned long)st->st_ino);
	disk_put(path, data, (size_t)n);
	free(data);
}

int fsync(int fd)
{
	struct stat st;

	if (!disk_is_ours(fd))
		return 0;
	if (disk_step(false))
		return -1;
	if (disk.lying || fstat(fd, &st))
		return 0;
	disk.busy = true;
	if (S_ISDIR(st.st_mode))
		disk_keep_dir(fd, &st);
	else
		disk_keep_file(fd, &st);
	disk.busy = false;
	return 0;
}

static inline void disk_remove(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *path;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		path = xasprintf("%s/%s", dir, e->d_name);
		if (unlink(path)) {
			disk_remove(path);
			rmdir(path);
		}
		free(path);
	}
	if (d)
		closedir(d);
}

static inline char *disk_read(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	char *data = NULL;

	*len = 0;
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st)) {
		data = calloc((size_t)st.st_size + 1, 1);
		*len = (size_t)read(fd, data, (size_t)st.st_size);
	}
	close(fd);
	return data;
}

/* Makes dir what was kept of the directory with that inode; new inodes are taken down as kept. */
static inline void disk_restore(const char *dir, const char *shadow, unsigned long ino)
{
	char *list = xasprintf("%s/d%lu", shadow, ino), *lines, *next;
	size_t len;

	lines = disk_read(list, &len);
	free(list);
	for (char *at = lines; at && *at; at = next) {
		char type, name[256], *path, *kept, *data;
		unsigned long child;

		next = strchr(at, '\n') + 1;
		if (sscanf(at, "%c %lu %255[^\n]", &type, &child, name) != 3)
			abort();
		path = xasprintf("%s/%s", dir, name);
		kept = xasprintf("%s/f%lu", shadow, child);
		if (type == 'd') {
			mkdir(path, 0700);
			disk_restore(path, shadow, child);
		} else {
			data = disk_read(kept, &len);
			disk_put(path, data ? data : "", data ? len : 0); /* no bytes: the name */
			free(data);
		}
		free(kept);
		free(path);
	}
	free(lines);
}

/* What was restored is on the disk: later failures start from it. */
static inline void disk_all_kept(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY);
	DIR *d = opendir(dir);
	struct dirent *e;
	struct stat st;

	fstat(fd, &st);
	disk_keep_dir(fd, &st);
	close(fd);
	while (d && (e = readdir(d))) {
		char *path = xasprintf("%s/%s", dir, e->d_name);

		if (e->d_type == DT_DIR && e->d_name[0] != '.')
			disk_all_kept(path);
		if (e->d_type == DT_REG) {
			fd = open(path, O_RDONLY);
			fstat(fd, &st);
			disk_keep_file(fd, &st);
			close(fd);
		}
		free(path);
	}
	closedir(d);
}

/* In the parent, after the child has died: only what was synced is left. */
static inline void disk_power_off(const char *base, const char *shadow)
{
	struct stat st;

	if (stat(base, &st))
		abort();
	disk_remove(base);
	disk_restore(base, shadow, (unsigned long)st.st_ino);
	disk_remove(shadow);
	snprintf(disk.shadow, sizeof(disk.shadow), "%s", shadow);
	disk_all_kept(base);
}
