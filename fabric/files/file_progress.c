/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/files/file_progress.h"

#include <errno.h>
#include <sys/stat.h>

#define SAY_BYTES (1u << 20)

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

bool file_progress_read(struct file_pace *p, FILE *f, size_t got)
{
	struct stat st;
	off_t at;

	p->unsaid += got;
	if (!watcher || p->unsaid < SAY_BYTES)
		return false;
	p->unsaid = 0;
	if (!p->total && !fstat(fileno(f), &st) && S_ISREG(st.st_mode))
		p->total = (uint64_t)st.st_size;
	at = ftello(f);
	return progress_step(watcher, "reading", at > 0 ? (uint64_t)at : 0, p->total);
}

int file_progress_write(uint32_t done, uint32_t total, struct err *err)
{
	if (!progress_step(watcher, "writing", done, total))
		return 0;
	return err_set(err, -ECANCELED, "cancelled");
}
