/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/message/file_progress.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAY_BYTES  (1u << 20)
#define SYNC_BYTES (16u << 20) /* some 0.1 s of a slow disk */

static _Thread_local struct progress *watcher;

struct progress *file_progress(void)
{
	return watcher;
}

struct progress *file_progress_set(struct progress *p)
{
	struct progress *before = watcher;

	watcher = p;
	return before;
}

/* 0: not known.  What is read from memory has no file. */
static uint64_t file_progress_length(FILE *f)
{
	off_t at = fileno(f) < 0 ? ftello(f) : -1, end;
	struct stat st;

	if (at < 0)
		return !fstat(fileno(f), &st) && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	end = fseeko(f, 0, SEEK_END) ? 0 : ftello(f);
	fseeko(f, at, SEEK_SET);
	return end > 0 ? (uint64_t)end : 0;
}

bool file_progress_read(struct file_pace *p, FILE *f, size_t got)
{
	off_t at;

	p->unsaid += got;
	if (!watcher || p->unsaid < SAY_BYTES)
		return false;
	p->unsaid = 0;
	if (!p->total)
		p->total = file_progress_length(f);
	at = ftello(f);
	return progress_step(watcher, "reading", at > 0 ? (uint64_t)at : 0, p->total);
}

int file_progress_write(uint32_t done, uint32_t total, struct err *err)
{
	if (!progress_step(watcher, "writing", done, total))
		return 0;
	return err_set(err, -ECANCELED, "cancelled");
}

/* A disk error is reported once, by the call that meets it, and not by a later fsync(). */
static int file_progress_sync_error(void)
{
	return errno == EINVAL || errno == ENOSYS || errno == ESPIPE || errno == EOPNOTSUPP
		       ? 0 /* cannot be done in pieces: the fsync() that follows does all */
		       : -errno;
}

/* While the disk writes one piece it already has the next. */
static int file_progress_sync_pieces(int fd, off_t size)
{
	const unsigned begin = SYNC_FILE_RANGE_WRITE;
	const unsigned end = SYNC_FILE_RANGE_WAIT_BEFORE | begin | SYNC_FILE_RANGE_WAIT_AFTER;

	for (off_t at = 0, next; at < size; at = next) {
		next = at + SYNC_BYTES < size ? at + SYNC_BYTES : size;
		if (sync_file_range(fd, next, SYNC_BYTES, begin) ||
		    sync_file_range(fd, at, next - at, end))
			return file_progress_sync_error();
		if (progress_step(watcher, "to disk", (uint64_t)next, (uint64_t)size))
			return -ECANCELED;
	}
	return 0;
}

int file_progress_sync(int fd)
{
	struct stat st;
	int rc = 0;

	if (watcher && !fstat(fd, &st) && S_ISREG(st.st_mode))
		rc = file_progress_sync_pieces(fd, st.st_size);
	if (!rc && fsync(fd))
		rc = -errno;
	return rc;
}
