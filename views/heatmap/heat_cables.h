/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heat_cables: the nearest a heatmap comes: the cables of one cell, in a list. */
#pragma once

#include "views/canvas/list.h"
#include "views/heatmap/heat_cells.h"

#include <stdbool.h>
#include <stdint.h>

#define HEAT_CABLES 1024 /* of one cell; more are not listed */

struct heat_cables {
	bool open;
	char title[160];
	struct list list;
	uint32_t n;
	uint32_t chan[HEAT_CABLES]; /* in the direction of the cell, worst first */
};

/* Opens the cell of a place; false when there is no cable in it. */
bool heat_cables_open(struct heat_cables *k, const struct heat_sight *at, const struct context *ctx,
		      const struct state *s, uint32_t row, uint32_t col);
/* FAB_NONE without one. */
uint32_t heat_cables_cursor(const struct heat_cables *k);
void heat_cables_draw(struct heat_cables *k, const struct context *ctx, struct canvas *c,
		      struct rect r, const struct state *s);
