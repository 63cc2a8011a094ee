/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store: files that are on disk when the function returns, and locks between processes. */
#pragma once

#include "fabric/base/message/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Creates the directory and its parents (mode 0700 for the new ones). */
int store_mkdir(const char *path, struct err *err);
/* A new file with that content, synced.  -EEXIST when it is there. */
int store_write(const char *path, const void *data, size_t len, struct err *err);
/* The same under a temporary name beside it, then renamed: whoever reads it has the old content or
 * the new one. */
int store_replace(const char *path, const void *data, size_t len, mode_t mode, struct err *err);
/* May a file get that name, by a rename?  -EINVAL and a sentence where a folder, a pipe or a device
 * has it: that would be gone, or be waited for. */
int store_may_replace(const char *path, struct err *err);
/* The whole file; zero-terminated beyond len; caller frees.  Reports to file_progress();
 * -ECANCELED when that is cancelled. */
int store_read(char **data, size_t *len, const char *path, struct err *err);
/* All of it, to a file or a pipe that waits, or -errno; short writes are continued. */
int store_put(int fd, const void *data, size_t len);
int store_append(int fd, const char *path, const void *data, size_t len, struct err *err);
int store_sync(int fd, const char *path, struct err *err);
/* Makes names created, renamed or removed in it durable. */
int store_sync_dir(const char *path, struct err *err);
/* Removes a directory and the files in it; errors are left to whoever finds it again. */
void store_remove(const char *dir);

/* Takes the lock of a file (created when needed) without waiting, or waits for it, and writes
 * holder into it.  -EBUSY: somebody has it; err says who.  *fd is released by store_unlock(). */
int store_lock(int *fd, const char *path, const char *holder, bool wait, struct err *err);
void store_unlock(int fd);	     /* -1 is fine */
bool store_locked(const char *path); /* right now, by any process; takes nothing */
