/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_last: the records of a directory, and where the last one ended. */
#ifndef CONSOLE_RECORD_LAST_H
#define CONSOLE_RECORD_LAST_H

#include "fabric/base/digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names (without folder) of all NAME.jsonl, oldest first: names begin with the time.  Caller
 * frees each and the list.  A directory that cannot be read has none. */
char **record_files(const char *dir, uint32_t *n);

/* The session before the one called sid: its name and the hash of its last whole line.
 * false: there is none. */
bool record_last(char *sid_out, size_t size, struct digest *head, const char *dir, const char *sid);

#endif
