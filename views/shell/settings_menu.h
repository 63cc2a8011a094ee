/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settings_menu: a list over any view, of the settings and what they are now. */
#pragma once

#include "views/canvas/menu.h"
#include "views/data/state/state.h"

struct settings_menu {
	struct menu menu;
};

/* What to do with the line that it returns. */
enum settings_act {
	SETTINGS_NONE,
	SETTINGS_DO,   /* run it: "set units=bits", "keep" */
	SETTINGS_TYPE, /* let the operator edit it: "set interval=2" */
};

void settings_menu_open(struct settings_menu *m, const struct state *s);
enum settings_act settings_menu_input(struct settings_menu *m, const struct state *s,
				      const struct input *in, char *line, size_t len);
/* Over a part of the canvas. */
void settings_menu_draw(struct settings_menu *m, const struct state *s, struct canvas *c,
			struct rect over);
