/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cast: what a screen showed, as an asciicast of version 2 (asciinema): a header, then one JSON
 * array a line, [seconds, "o"|"r"|"m", text].
 *
 * Only cells that differ from the previous frame are written.  A new size is an "r" event, followed
 * by a full repaint; old players (asciinema 2.2) ignore "r" and "m".  Not thread-safe.
 */
#pragma once

#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"
#include "views/canvas/canvas.h"

#include <stdint.h>

struct cast;

/* A new file (0640), -EEXIST when it exists.  start_s: clock_s() at its second 0; epoch_s: at the
 * start of the session; the header has the seconds between ("at_s"), so that parts can be joined.
 */
int cast_open(struct cast **out, const char *path, int w, int h, int colours, double epoch_s,
	      double start_s, struct err *err);
/* What is added from now on happened then, by clock_s(); without it, when it is added. */
void cast_at(struct cast *c, double s);
/* colours: of the terminal (256, 16, 0).  After a failure nothing of the frame is in the file, and
 * the next one is a full repaint. */
int cast_frame(struct cast *c, const struct canvas *canvas, int colours, struct err *err);
/* A marker that players can jump to. */
int cast_mark(struct cast *c, const char *label, struct err *err);
int cast_sync(struct cast *c, struct err *err);
/* Resets the terminal; nothing can be added afterwards.  NULL is fine. */
int cast_end(struct cast *c, struct err *err);
void cast_free(struct cast *c); /* NULL is fine */

uint64_t cast_size(const struct cast *c);		    /* bytes so far ... */
void cast_digest(struct digest *out, const struct cast *c); /* ... and their SHA-256 */
