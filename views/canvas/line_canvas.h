/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * line_canvas: a layer of straight lines below the text of a canvas.
 *
 * A cell shows the dots of all lines through it (2 x 4, in Braille characters) in the colour of the
 * worst; without colours or in ASCII, its glyph.
 */
#pragma once

#include "views/canvas/canvas.h"
#include "views/data/chan_value.h"

#include <stdbool.h>
#include <stdint.h>

struct line_canvas_cell {
	uint8_t dots;
	uint8_t bad;
	char glyph;
	uint8_t role;
};

struct line_canvas {
	int w, h;
	bool glyphs;
	uint32_t lit;		       /* different dots, or cells with a glyph */
	uint32_t ncell;		       /* cells with any */
	struct line_canvas_cell *cell; /* w * h */
};

/* Empties it; zeroed before its first use. */
void line_canvas_clear(struct line_canvas *l, int w, int h, bool glyphs);
void line_canvas_done(struct line_canvas *l);

/* From (x0, y0) to (x1, y1) in cells, where the middle of the first is (0.5, 0.5); clipped.
 * Returns the number of dots drawn.  O(visible dots). */
uint32_t line_canvas_add(struct line_canvas *l, float x0, float y0, float x1, float y1,
			 const struct chan_value *v);
/* Cells without a line are not drawn. */
void line_canvas_draw(const struct line_canvas *l, struct canvas *c, struct rect r);
