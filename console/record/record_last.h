/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_last: the records of a directory, and where the last one ended. */
#ifndef CONSOLE_RECORD_RECORD_LAST_H
#define CONSOLE_RECORD_RECORD_LAST_H

#include "fabric/base/digest.h"
#include "fabric/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Session and part (from 1 on) of a file name, SID.jsonl or SID.2.jsonl. */
unsigned record_name(char *sid, size_t size, const char *name);

/* Names (without folder) of all NAME.jsonl, oldest first: names begin with the time.  Caller
 * frees each and the list.  A directory that cannot be read has none. */
char **record_files(const char *dir, uint32_t *n);
/* -errno with the sentence where dir cannot be listed. */
int record_dir_check(const char *dir, struct err *err);

/* The session before the one called sid: its name, and hash and number of its last whole line.
 * false: there is none. */
bool record_last(char *sid_out, size_t size, struct digest *head, int64_t *seq, const char *dir,
		 const char *sid);

#endif
