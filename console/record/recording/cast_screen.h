/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cast_screen: the screen of a recording at a moment.
 *
 * Handles what casts of this program use: cursor addresses, erasing all, colours, and text; other
 * control sequences are ignored.
 */
#pragma once

#include "console/record/recording/cast_read.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct cast_pen {
	int16_t fg, bg; /* of 256 colours, -1: the terminal's own */
	bool bold, reverse;
};

struct cast_cell {
	uint32_t ch; /* 0: right half of a wide one */
	struct cast_pen pen;
};

struct cast_screen {
	int w, h, x, y;
	struct cast_pen pen;
	struct cast_cell *cell;
};

void cast_screen_init(struct cast_screen *s, int w, int h);
void cast_screen_free(struct cast_screen *s);
void cast_screen_event(struct cast_screen *s, const struct cast_event *ev);
/* Initialises s and applies the first n events.  -ECANCELED: file_progress() was cancelled; s has
 * to be freed also then. */
int cast_screen_at(struct cast_screen *s, const struct cast_events *e, uint32_t n);
/* Lines without blanks at their ends; caller frees. */
char *cast_screen_text(const struct cast_screen *s);
/* Control sequences that repaint a w x h terminal from last (NULL: unknown) to s. */
void cast_screen_paint(FILE *f, const struct cast_screen *s, const struct cast_screen *last, int w,
		       int h);
