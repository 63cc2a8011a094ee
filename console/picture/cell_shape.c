/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/picture/cell_shape.h"

#include <string.h>

#define FULL 255

#define LINES_FIRST   0x2500u
#define BLOCKS_FIRST  0x2580u
#define BLOCKS_END    0x25a0u
#define BRAILLE_FIRST 0x2800u
#define BRAILLE_END   0x2900u

struct cell_shape {
	uint8_t *cover;
	int w, h;
};

static void cell_shape_fill(const struct cell_shape *s, int x0, int y0, int x1, int y1,
			    uint8_t cover)
{
	for (int y = y0; y < y1; y++)
		memset(s->cover + y * s->w + x0, cover, (size_t)(x1 > x0 ? x1 - x0 : 0));
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* From and to in eighths of the cell: what ends at one begins at the same pixel in another. */
static void cell_shape_eighths(const struct cell_shape *s, int x0, int y0, int x1, int y1)
{
	cell_shape_fill(s, (x0 * s->w + 4) / 8, (y0 * s->h + 4) / 8, (x1 * s->w + 4) / 8,
			(y1 * s->h + 4) / 8, FULL);
}

/* U+2596 to U+259F: upper left 1, upper right 2, lower left 4, lower right 8. */
static const uint8_t quadrants[] = { 4, 8, 1, 13, 9, 7, 11, 2, 6, 14 };

static void cell_shape_block(const struct cell_shape *s, uint32_t ch)
{
	static const uint8_t shades[] = { 64, 128, 191 };
	int n = (int)(ch - BLOCKS_FIRST);

	if (n == 0x00)
		cell_shape_eighths(s, 0, 0, 8, 4);
	else if (n <= 0x08)
		cell_shape_eighths(s, 0, 8 - n, 8, 8);
	else if (n <= 0x0f)
		cell_shape_eighths(s, 0, 0, 0x10 - n, 8);
	else if (n == 0x10)
		cell_shape_eighths(s, 4, 0, 8, 8);
	else if (n <= 0x13)
		cell_shape_fill(s, 0, 0, s->w, s->h, shades[n - 0x11]);
	else if (n == 0x14)
		cell_shape_eighths(s, 0, 0, 8, 1);
	else if (n == 0x15)
		cell_shape_eighths(s, 7, 0, 8, 8);
	else
		for (int i = 0; i < 4; i++)
			if (quadrants[n - 0x16] & 1 << i)
				cell_shape_eighths(s, i % 2 * 4, i / 2 * 4, i % 2 * 4 + 4,
						   i / 2 * 4 + 4);
}

/* --- lines ------------------------------------------------------------------------------------ */

/* U+2500 to U+257F: the weights of the arms to the left, right, up and down, two bits each: none,
 * light, heavy.  0: dashes, double lines, arcs and diagonals are the font's. */
static const uint8_t arms[BLOCKS_FIRST - LINES_FIRST] = {
	0x05, 0x0a, 0x50, 0xa0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,		 0x44,
	0x48, 0x84, 0x88, 0x41, 0x42, 0x81, 0x82, 0x14, 0x18, 0x24, 0x28, 0x11,		 0x12,
	0x21, 0x22, 0x54, 0x58, 0x64, 0x94, 0xa4, 0x68, 0x98, 0xa8, 0x51, 0x52,		 0x61,
	0x91, 0xa1, 0x62, 0x92, 0xa2, 0x45, 0x46, 0x49, 0x4a, 0x85, 0x86, 0x89,		 0x8a,
	0x15, 0x16, 0x19, 0x1a, 0x25, 0x26, 0x29, 0x2a, 0x55, 0x56, 0x59, 0x5a,		 0x65,
	0x95, 0xa5, 0x66, 0x69, 0x96, 0x99, 0x6a, 0x9a, 0xa6, 0xa9, 0xaa, [0x74] = 0x01, 0x10,
	0x04, 0x40, 0x02, 0x20, 0x08, 0x80, 0x09, 0x90, 0x06, 0x60,
};

static int cell_shape_thick(const struct cell_shape *s, int weight)
{
	int light = (s->w + 4) / 8;

	light = light < 1 ? 1 : light;
	return weight == 0 ? 0 : weight == 1 ? light : 2 * light + 1;
}

static int cell_shape_most(int a, int b)
{
	return a > b ? a : b;
}

/* Each arm goes on to the far side of those across it. */
static void cell_shape_lines(const struct cell_shape *s, uint8_t weights)
{
	int left = cell_shape_thick(s, weights & 3), right = cell_shape_thick(s, weights >> 2 & 3),
	    up = cell_shape_thick(s, weights >> 4 & 3), down = cell_shape_thick(s, weights >> 6);
	int across = cell_shape_most(up, down), along = cell_shape_most(left, right);

	cell_shape_fill(s, 0, (s->h - left) / 2, (s->w - across) / 2 + across,
			(s->h - left) / 2 + left, FULL);
	cell_shape_fill(s, (s->w - across) / 2, (s->h - right) / 2, s->w,
			(s->h - right) / 2 + right, FULL);
	cell_shape_fill(s, (s->w - up) / 2, 0, (s->w - up) / 2 + up, (s->h - along) / 2 + along,
			FULL);
	cell_shape_fill(s, (s->w - down) / 2, (s->h - along) / 2, (s->w - down) / 2 + down, s->h,
			FULL);
}

/* --- braille ---------------------------------------------------------------------------------- */

/* As far from each other across cells as within one. */
static void cell_shape_braille(const struct cell_shape *s, unsigned dots)
{
	static const uint8_t column[] = { 0, 0, 0, 1, 1, 1, 0, 1 },
			     row[] = { 0, 1, 2, 0, 1, 2, 3, 3 };
	int wide = s->w / 2, high = s->h / 4, d = ((wide < high ? wide : high) + 1) / 2;

	for (int i = 0; i < 8; i++) {
		int x = column[i] * s->w / 2 + (wide - d) / 2,
		    y = row[i] * s->h / 4 + (high - d) / 2;

		if (dots & 1u << i)
			cell_shape_fill(s, x, y, x + d, y + d, FULL);
	}
}

bool cell_shape_is(uint32_t ch)
{
	if (ch >= LINES_FIRST && ch < BLOCKS_FIRST)
		return arms[ch - LINES_FIRST];
	return (ch >= BLOCKS_FIRST && ch < BLOCKS_END) || (ch >= BRAILLE_FIRST && ch < BRAILLE_END);
}

bool cell_shape_draw(uint8_t *cover, int w, int h, uint32_t ch)
{
	const struct cell_shape s = { cover, w, h };

	if (!cell_shape_is(ch))
		return false;
	memset(cover, 0, (size_t)w * (size_t)h);
	if (ch < BLOCKS_FIRST)
		cell_shape_lines(&s, arms[ch - LINES_FIRST]);
	else if (ch < BLOCKS_END)
		cell_shape_block(&s, ch);
	else
		cell_shape_braille(&s, ch - BRAILLE_FIRST);
	return true;
}
