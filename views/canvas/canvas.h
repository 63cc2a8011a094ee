/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * canvas: a grid of styled characters that views draw on and a terminal shows.
 *
 * Coordinates of the drawing functions are relative to a rectangle and everything outside
 * of it is clipped.  Text is UTF-8; control characters, which node descriptions may well
 * contain, are drawn as '?'.  It does not depend on a terminal library.
 */
#pragma once

#include "views/canvas/palette.h"
#include "views/canvas/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct rect {
	int x, y, w, h;
};

struct cell {
	uint32_t ch;  /* code point; 0: right half of a wide one */
	uint8_t role; /* enum role */
	bool reverse;
	uint16_t press; /* what a click there presses (hint_click.h); 0: nothing */
};

struct canvas {
	int w, h;
	bool ascii;	   /* lines and bars are drawn with ASCII characters */
	struct cell *cell; /* w * h, row by row */
};

struct canvas *canvas_new(int w, int h, bool ascii);
void canvas_free(struct canvas *c); /* NULL is fine */
void canvas_clear(struct canvas *c);
struct rect canvas_rect(const struct canvas *c); /* all of it */

/* One character; clipped to r. */
void canvas_char(struct canvas *c, struct rect r, int x, int y, enum role role, uint32_t ch);
/* Text from x on; returns the column after it (also where that is clipped). */
int canvas_text(struct canvas *c, struct rect r, int x, int y, enum role role, const char *text);
int canvas_textf(struct canvas *c, struct rect r, int x, int y, enum role role, const char *fmt,
		 ...) __attribute__((format(printf, 6, 7)));
/* Text that ends before column end. */
void canvas_right(struct canvas *c, struct rect r, int end, int y, enum role role,
		  const char *text);
void canvas_rightf(struct canvas *c, struct rect r, int end, int y, enum role role, const char *fmt,
		   ...) __attribute__((format(printf, 6, 7)));
/* Text in a field of width columns, shortened in the middle when it does not fit. */
void canvas_name(struct canvas *c, struct rect r, int x, int y, int width, enum role role,
		 const char *text);
/* Text over several lines, broken between words; returns the number of lines used. */
int canvas_wrap(struct canvas *c, struct rect r, int x, int y, enum role role, const char *text);

void canvas_fill(struct canvas *c, struct rect r, enum role role, uint32_t ch);
/* Sets role and reverse of the cells, not their characters. */
void canvas_style(struct canvas *c, struct rect r, enum role role, bool reverse);
/* A click on these w cells presses that. */
void canvas_press(struct canvas *c, struct rect r, int x, int y, int w, uint16_t press);
/* A horizontal line over the whole width of r, with a title near its left end. */
void canvas_rule(struct canvas *c, struct rect r, int y, const char *title);
/* A bar of width columns: share of it full (0..1), the next extra of it marked '+'.  NAN: empty
 * with a '?'. */
void canvas_bar(struct canvas *c, struct rect r, int x, int y, int width, enum role role,
		double share, double extra);
/* One column per value, 0..100, anything above is unknown and shown as a blank. */
void canvas_spark(struct canvas *c, struct rect r, int x, int y, const uint8_t *pct, int n);

/* The control sequence (SGR) of a style: of 256 colours, or of the basic 16 below 16; -1: the
 * terminal's own. */
void canvas_put_sgr(FILE *f, int fg, int bg, bool bold, bool reverse);
/* The screen as text, one line per row without blanks at the ends; the caller frees. */
char *canvas_dump(const struct canvas *c);
