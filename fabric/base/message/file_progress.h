/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_progress: progress of this thread in a large file.
 *
 * Readers report about once per megabyte, as "reading" (bytes); writers of large dumps after
 * each switch or node, as "writing" (switches, nodes; tables.ibr: rows), and while they wait for
 * the disk, as "to disk" (bytes).  When it is cancelled, all of them return -ECANCELED.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"

#include <stdio.h>

/* Of the calling thread; NULL: nobody, as at the beginning. */
struct progress *file_progress(void);
/* p lives until the next call.  Returns the one of before. */
struct progress *file_progress_set(struct progress *p);

/* How far a file is read.  Zeroed at its beginning. */
struct file_pace {
	uint64_t unsaid, total; /* bytes */
};

/* got more bytes of f were read.  True: nobody wants the rest. */
bool file_progress_read(struct file_pace *p, FILE *f, size_t got);
/* done of total switches or nodes are written.  -ECANCELED with a message when cancelled. */
int file_progress_write(uint32_t done, uint32_t total, struct err *err);
/* fsync() of what was written to fd, in pieces that are reported if there is a progress.
 * -ECANCELED, or -errno of fsync(). */
int file_progress_sync(int fd);
