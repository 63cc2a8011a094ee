/* SPDX-License-Identifier: GPL-2.0-or-later */
/* menu: a list that lies over a view until something is chosen in it. */
#ifndef VIEWS_CANVAS_MENU_H
#define VIEWS_CANVAS_MENU_H

#include "views/canvas/canvas.h"
#include "views/canvas/list.h"
#include "views/data/request.h"

#include <stdbool.h>
#include <stdint.h>

struct menu {
	bool open;
	struct list list;
	uint32_t n;	/* lines */
	struct rect at; /* of them, as drawn last */
};

/* A frame with a title over a part of the canvas, at most w cells wide, and room for the lines in
 * m->at: those from m->list.top on are for the caller to draw. */
void menu_frame(struct menu *m, struct canvas *c, struct rect over, int w, const char *title);
/* Lines in sight, from m->list.top on. */
uint32_t menu_seen(const struct menu *m);
/* A sentence on the line under the cursor, in the rule below; "": none. */
void menu_about(const struct menu *m, struct canvas *c, const char *text);
/* The line under the mouse; UINT32_MAX: it is beside the menu. */
uint32_t menu_line_at(const struct menu *m, const struct input *in);
/* Moves the cursor to the line under the mouse, or closes the menu where it is beside it. */
void menu_click(struct menu *m, const struct input *in);
/* Moving by keys and by the wheel; false: something else. */
bool menu_move(struct menu *m, const struct input *in);

#endif
