/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cast: what a screen showed, as an asciicast of version 2 (asciinema): a header, then one JSON
 * array a line, [seconds, "o"|"r"|"m", text].
 *
 * Frames are compared with the one before and only cells that differ are written: a screen that
 * stands still costs nothing.  Sizes that change are told by "r" and drawn again; players of old
 * (asciinema 2.2) pass "r" and "m" over.  Not thread-safe.
 */
#ifndef CONSOLE_RECORD_CAST_H
#define CONSOLE_RECORD_CAST_H

#include "fabric/base/digest.h"
#include "fabric/base/err.h"
#include "views/canvas/canvas.h"

#include <stdint.h>

struct cast;

/* A new file (0640), -EEXIST when it is there, with second 0 now.  epoch_s: clock_s() at the begin
 * of the session; the header says how long ago that is ("at_s"), so that parts can be joined. */
int cast_open(struct cast **out, const char *path, int w, int h, int colours, double epoch_s,
	      struct err *err);
/* What a terminal of so many colours (256, 16, 0) shows.  After a failure nothing of the frame is
 * in the file, and the next one has it all. */
int cast_frame(struct cast *c, const struct canvas *canvas, int colours, struct err *err);
/* A place that players can jump to. */
int cast_mark(struct cast *c, const char *label, struct err *err);
int cast_sync(struct cast *c, struct err *err);
/* Colours off and the cursor below the picture; then no more can be added.  NULL is fine. */
int cast_end(struct cast *c, struct err *err);
void cast_free(struct cast *c); /* NULL is fine */

uint64_t cast_size(const struct cast *c);		    /* bytes so far ... */
void cast_digest(struct digest *out, const struct cast *c); /* ... and their SHA-256 */

#endif
