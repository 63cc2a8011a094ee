/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heat_small: the heatmap of the whole fabric in a corner of another view: utilisation, worst of
 * each cell. */
#pragma once

#include "views/heatmap/heat_cells.h"

/* What the cells were read from. */
struct heat_small_key {
	const struct rates *rates;
	const struct sample *sample;
	uint64_t job, time_ns, tags;
	enum palette palette;
	struct heat_window window;
};

struct heat_small {
	struct heat_layout *layout;
	struct heat_rows rows;
	struct heat_window window;
	struct heat_cells cells;
	struct heat_small_key made;
};

/* A rule with the title, and the matrix in the rest of r.  Cells are read when something is new:
 * O(channels). */
void heat_small_draw(struct heat_small *h, const struct context *ctx, struct canvas *c,
		     struct rect r, const struct state *s);
void heat_small_done(struct heat_small *h);
