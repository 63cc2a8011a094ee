/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heat_worst: the links of a heatmap's worst cells by name, beside a matrix that leaves room. */
#pragma once

#include "views/heatmap/heat_cells.h"

#define HEAT_WORST	 30  /* rows: a key that shows them sends less than 10 kB with the matrix */
#define HEAT_WORST_CELLS 500 /* of larger matrices there is no list, for the same reason */
#define HEAT_WORST_W	 60  /* columns that it needs */

struct heat_worst {
	uint32_t chan[HEAT_WORST];
	uint32_t n;
	struct rect at; /* of the rows drawn last */
};

/* Of the cells in sight, worst first; here: the channel under the cursor, FAB_NONE without one. */
void heat_worst_draw(struct heat_worst *l, const struct heat_cells *cells,
		     const struct heat_window *w, const struct context *ctx, const struct state *s,
		     struct canvas *c, struct rect r, uint32_t here);
/* The channel of the row at a place of the screen; FAB_NONE: none. */
uint32_t heat_worst_at(const struct heat_worst *l, int x, int y);
