/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_read: the lines of records that were written before. */
#pragma once

#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False: no more lines are needed. */
typedef bool record_line_fn(void *ctx, json_t *line);

/* Calls fn for each line of a file that is JSON, with plain strings.  -ECANCELED when file_progress() says so. */
int record_lines(const char *path, record_line_fn *fn, void *ctx, struct err *err);

/* The newest session of a directory other than sid: its name, and hash and number of its last whole
 * line.  False: there is none. */
bool record_previous(char *sid_out, size_t size, struct digest *head, int64_t *seq, const char *dir,
		     const char *sid);
