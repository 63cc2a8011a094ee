/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cell_shape: characters that are shapes, not letters: blocks, shades, lines and braille.  They are
 * drawn in whole pixels, so that those of neighbouring cells join, whatever the font.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Of a cell of w x h pixels, row by row: how much of each is of the character, 0 to 255.  false,
 * and nothing is drawn: it is left to the font. */
bool cell_shape_draw(uint8_t *cover, int w, int h, uint32_t ch);
/* Whether it would be drawn. */
bool cell_shape_is(uint32_t ch);
