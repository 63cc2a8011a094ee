/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen_code: the bytes that make a screen of one that is shown another one, as few as will do,
 * for terminals whose sequences are those of ECMA-48.
 *
 * A change of colours takes up to 23 bytes and a step over other cells three or four.  So where
 * colours change from cell to cell all cells of one style are written first, then those of the
 * next.
 */
#pragma once

#include "views/canvas/canvas.h"

#define SCREEN_UNKNOWN UINT32_MAX /* ch of a cell of which it is not known what is there */

/* Parameters of SGR; "" for a colour: the terminal's own. */
struct screen_style {
	char fg[24], bg[24];
	bool bold, reverse;
};

struct screen_bytes {
	char *v;
	size_t n, cap;
};

struct screen_code {
	bool utf8;	 /* else what is not ASCII is a ? */
	bool erase_char; /* ECH is known */
	bool repeat;	 /* REP is known */
	struct screen_style role[ROLE_COUNT];

	/* private */
	struct screen_bytes out, other, spare;
	int x, y;      /* where the cursor is; x -1: not known */
	int16_t style; /* that is set: role, and 256 with reverse; -1: the terminal's own */
};

/* *bytes is the sequence, of the length returned, until the next call.  shown: w * h cells that are
 * there, which are those of c afterwards; all not known: the screen is cleared first. */
size_t screen_code_frame(struct screen_code *s, const char **bytes, struct cell *shown, int w,
			 int h, const struct canvas *c);
void screen_code_done(struct screen_code *s);
