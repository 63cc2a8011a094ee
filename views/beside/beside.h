/* SPDX-License-Identifier: GPL-2.0-or-later */
/* beside: tagged rows of a table side by side, over the view: a line for each field that is known,
 * those that differ first in sight by their colour, of two rows with the change.  Left and Right
 * move on where there are more rows than room. */
#pragma once

#include "views/canvas/menu.h"
#include "views/table/table.h"

#include <stdbool.h>
#include <stdint.h>

#define BESIDE_MOST 24 /* rows */

struct beside {
	struct menu menu;
	enum row_kind kind;
	uint64_t key[BESIDE_MOST];
	uint32_t n;
	uint32_t first, shown;	    /* of them, in the columns there is room for */
	const struct field **field; /* menu.n of them */
};

/* The rows that are tagged, in their order on the screen; false: fewer than two are. */
bool beside_open(struct beside *m, const struct table *t, const struct table_ops *ops,
		 const struct table_in *in);
void beside_done(struct beside *m);
void beside_input(struct beside *m, const struct input *in);
/* t: the table that it was opened for; a row that is gone has no values. */
void beside_draw(struct beside *m, const struct table *t, const struct table_in *in,
		 struct canvas *c);
