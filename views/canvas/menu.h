/* SPDX-License-Identifier: GPL-2.0-or-later */
/* menu: a list over a view, to choose from. */
#pragma once

#include "views/canvas/canvas.h"
#include "views/canvas/list.h"
#include "views/data/state/request.h"

#include <stdbool.h>
#include <stdint.h>

struct menu {
	bool open;
	struct list list;
	uint32_t n;	/* lines */
	struct rect at; /* of them, as drawn last */
};

/* Draws a frame with a title, at most w cells wide, and sets m->at, where the caller draws the
 * lines from m->list.top on. */
void menu_frame(struct menu *m, struct canvas *c, struct rect over, int w, const char *title);
/* Visible lines. */
uint32_t menu_seen(const struct menu *m);
/* Shows a description of the line under the cursor in the rule below; "": none. */
void menu_about(const struct menu *m, struct canvas *c, const char *text);
/* The line under the mouse; UINT32_MAX: none. */
uint32_t menu_line_at(const struct menu *m, const struct input *in);
/* Moves the cursor to the line under the mouse, or closes the menu when there is none. */
void menu_click(struct menu *m, const struct input *in);
/* Moves by keys and the wheel; false: something else. */
bool menu_move(struct menu *m, const struct input *in);
