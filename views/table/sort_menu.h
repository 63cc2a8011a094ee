/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sort_menu: a list over a table, of the columns that it can be sorted by. */
#pragma once

#include "views/canvas/menu.h"
#include "views/table/table.h"

struct sort_menu {
	struct menu menu;
	enum row_kind kind;	    /* of the table that it was opened for */
	const struct field **field; /* to choose from: those in sight first */
};

void sort_menu_done(struct sort_menu *m);
/* The cursor is on what the table is sorted by now. */
void sort_menu_open(struct sort_menu *m, const struct table *t, const struct table_ops *ops);

/* One request while it is open; sort: what was chosen, else NULL. */
void sort_menu_input(struct sort_menu *m, const struct field **sort, const struct input *in);

/* Over the rows of the table. */
void sort_menu_draw(struct sort_menu *m, const struct table *t, struct canvas *c);
