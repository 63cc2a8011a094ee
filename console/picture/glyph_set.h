/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glyph_set: letters of a font as pixels, all of one size.
 *
 * FreeType reads the font in a process that can do nothing else (apart_read()): fonts are programs
 * of others.
 */
#pragma once

#include "console/picture/png_font.h"
#include "fabric/base/message/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct glyph_want {
	uint32_t ch;
	bool bold, wide; /* over two cells */
};

struct glyph_set {
	int w, h;		 /* of a cell, in pixels: w even, h a multiple of 4 */
	struct glyph_want *want; /* in order */
	size_t n;
	size_t *at; /* of each, in cover */
	uint8_t *cover;
};

/* Those of want, in any order and also repeated, in letters of so many pixels.  What the font does
 * not have is its sign for that.  -errno with a sentence that begins with the font's path. */
int glyph_set_read(struct glyph_set *out, const struct png_font *font, unsigned size,
		   const struct glyph_want *want, size_t n, struct err *err);
void glyph_set_done(struct glyph_set *s);
/* How much of each pixel is of the letter, 0 to 255: h rows of w, or of 2 * w where it is wide;
 * NULL: it is none of those. */
const uint8_t *glyph_set_cover(const struct glyph_set *s, const struct glyph_want *want);
