/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hint_click: keys that the text of a view names, for the mouse: a click presses them.
 *
 * Only where a view says so: names from outside may look like a hint.
 */
#pragma once

#include "views/canvas/canvas.h"

#include <stdint.h>

/* What was drawn on these rows of r: "x: close", "z/u: zoom in/out", "R, then Y: roll back", also
 * broken between words.  A key is pressed by itself, what it does presses the first of them. */
void hint_click_mark(struct canvas *c, struct rect r, int y, int rows);
/* Draws the key of a command, to be clicked; returns the column after it. */
int hint_click_draw(struct canvas *c, struct rect r, int x, int y, const char *command);
/* The code of the key that a click there presses; 0: none. */
uint32_t hint_click_at(const struct canvas *c, int x, int y);
