/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines: a text file line by line, whatever its ends of line, byte order mark or length. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define LINES_MAX                                                                                  \
	(1u << 20) /* longer lines are skipped with a warning; without a report: -EMSGSIZE */

struct lines;

/* Reads from f's current position; f stays the caller's.  path is for messages.  Begins the report,
 * which may be NULL. */
struct lines *lines_new(FILE *f, const char *path, struct read_report *report);
void lines_free(struct lines *l); /* NULL is fine */

/* The next line, without its end, zero-terminated and writable until the next call; NULL at the
 * end.  Zero bytes within a line become blanks.  A line cut off by a read error is not returned. */
char *lines_next(struct lines *l, size_t *len);
/* The same, without lines that are blank or begin with #. */
char *lines_next_data(struct lines *l);
uint64_t lines_number(const struct lines *l); /* of the line last returned, from 1 */
/* Has the line last returned no end, so that it is the last one and a part of it may be missing? */
bool lines_unended(const struct lines *l);
const char *lines_path(const struct lines *l);
int lines_error(const struct lines *l); /* 0, or -errno when reading failed */

/* The result of a reader: rc; else why reading stopped; else -EINVAL with none, a sentence about a
 * file in which nothing was found, where that is not NULL. */
int lines_end(const struct lines *l, int rc, const char *none, struct err *err);
/* Of dumps, which programs write: 0; what lines_error() says; -ENODATA where the last line has no
 * end, so that a part of the file is missing. */
int lines_whole(const struct lines *l, struct err *err);

/* Small scanners.  Each moves *s behind what it took and returns false, leaving *s, when the
 * text there is something else. */
bool scan_blank(const char **s); /* skips blanks and tabs; always true */
bool scan_word(const char **s, const char *word);
bool scan_hex(uint64_t *out, const char **s); /* with or without 0x, at most 16 digits */
bool scan_dec(uint64_t *out, const char **s); /* at most 19 digits */
bool scan_end(const char **s);		      /* blanks, then the end of the line */
