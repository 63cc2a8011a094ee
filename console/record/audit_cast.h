/* SPDX-License-Identifier: GPL-2.0-or-later */
/* audit_cast: is the recorded screen what the lines of its record say it was? */
#ifndef CONSOLE_RECORD_AUDIT_CAST_H
#define CONSOLE_RECORD_AUDIT_CAST_H

#include "fabric/base/digest.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* FILE.cast beside FILE.jsonl; caller frees. */
char *audit_cast_path(const char *record_path);

struct audit_screen;

/* NULL: it is not there. */
struct audit_screen *audit_screen_open(const char *record_path);
/* The "cast" of the next line; false: what is wrong, as a sentence. */
bool audit_screen_line(struct audit_screen *s, const json_t *cast, char *why, size_t len);
/* After the last line of an ended part: nothing may follow. */
bool audit_screen_end(const struct audit_screen *s, char *why, size_t len);
uint64_t audit_screen_bytes(const struct audit_screen *s);
void audit_screen_close(struct audit_screen *s); /* NULL is fine */

#endif
