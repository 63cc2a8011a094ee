/* SPDX-License-Identifier: GPL-2.0-or-later */
/* when: a moment of the wall clock as people and accounting systems write it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * "2026-11-20T10:00:00Z", the same with +01:00 or +0100, with a blank for the T, without seconds
 * or without a time of day; Unix seconds, with or without @.  Without a zone it is this machine's,
 * and *local, unless NULL, says so (it stays as it is otherwise).  False: none of these, and
 * *unix_s is 0.
 */
bool when_parse(int64_t *unix_s, const char *text, bool *local);

/* The same of what has been, and "03:10" or "03:10:30", the last one before now_s on this machine's
 * clock; "-90m", as long ago as when_parse_span() says.  False: none of these, or still to come. */
bool when_parse_past(int64_t *unix_s, const char *text, int64_t now_s);

/* "30d", "12h", "90m", "2w", "45s", or plain seconds: 1 s to 100 years. */
bool when_parse_span(int64_t *seconds, const char *text);
