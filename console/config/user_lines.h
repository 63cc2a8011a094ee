/* SPDX-License-Identifier: GPL-2.0-or-later */
/* user_lines: small text files that the console keeps for its user, and that people may edit. */
#pragma once

#include "fabric/base/message/err.h"

#include <stddef.h>
#include <stdio.h>

/* *text is zero-terminated beyond len, for the caller to free; NULL: there is no such file. -EFBIG:
 * more than most bytes; else as store_read(). */
int user_lines_load(char **text, size_t *len, const char *path, size_t most, struct err *err);

/* Writes it again: put() is given what is there now ("" where it is not) and writes all of it.
 * Whoever else does so meanwhile is waited for; readers have the old file or the new one, for this
 * user alone.  Folders are made. */
typedef void user_lines_put(FILE *out, const char *text, size_t len, const void *ctx);
int user_lines_change(const char *path, size_t most, user_lines_put *put, const void *ctx,
		      struct err *err);

/* Without blanks at both ends, in place. */
char *user_lines_trim(char *text);
