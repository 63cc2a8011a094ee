/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heat_totals: the worst, the 90th percentile and the mean of a row or column of a heatmap, all of
 * it, in sight or not: behind each row, whose worst is among its cells, and below the columns. */
#pragma once

#include "views/heatmap/heat_cells.h"

#define HEAT_SHARES 101 /* 0 to 100 % */
struct heat_total {
	double worst, sum; /* of shares, */
	uint32_t n;	   /* that are known */
	uint32_t by_pct[HEAT_SHARES];
};

/* Those of columns are kept until what they are of is another one. */
struct heat_totals {
	struct heat_total *col; /* by cell of the window */
	uint32_t ncol, cap;
	const void *rates, *metrics, *plane;
	uint64_t job;
	enum chan_metric metric;
	enum palette palette;
	uint32_t col_n;
	uint8_t dir;
};

#define HEAT_TOTALS_W 12 /* columns behind the rows */
#define HEAT_TOTALS_H 3	 /* lines below them */

/* Shares of which a mean says something. */
bool heat_totals_suit(enum chan_metric m);
/* Heads above, a line behind each row in sight, and below the columns where below is set. */
void heat_totals_draw(struct heat_totals *t, const struct heat_sight *at, const struct context *ctx,
		      const struct state *s, struct canvas *c, bool below);
void heat_totals_done(struct heat_totals *t);
