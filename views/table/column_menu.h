/* SPDX-License-Identifier: GPL-2.0-or-later */
/* column_menu: a list over a table, of the columns it may have and their order. */
#pragma once

#include "views/canvas/menu.h"
#include "views/table/table.h"

struct column_menu {
	struct menu menu;
	enum row_kind kind;	    /* of the table that it was opened for */
	const struct field **field; /* all of them: those in the table first, in its order */
	uint32_t shown;		    /* so many are in the table */
};

void column_menu_done(struct column_menu *m);
void column_menu_open(struct column_menu *m, const struct table *t, const struct table_ops *ops);

/* One request while it is open.  The table follows at once.  NULL, or a sentence about what
 * cannot be done. */
const char *column_menu_input(struct column_menu *m, struct table *t, const struct table_ops *ops,
			      const struct input *in);

/* Over the rows of the table. */
void column_menu_draw(struct column_menu *m, const struct table *t, struct canvas *c);
