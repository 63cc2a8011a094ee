/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_progress: who wants to know how far this thread is with a large file.
 *
 * Readers tell it about once per megabyte, as "reading" (bytes); writers of large dumps after each
 * switch, as "writing" (switches; tables.ibr: rows).  Where it cancels, both end with -ECANCELED.
 */
#ifndef FABRIC_FILES_FILE_PROGRESS_H
#define FABRIC_FILES_FILE_PROGRESS_H

#include "fabric/base/err.h"
#include "fabric/base/progress.h"

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
/* done of total switches are written.  -ECANCELED with a sentence: nobody wants the rest. */
int file_progress_write(uint32_t done, uint32_t total, struct err *err);

#endif
