/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chan_detail: four lines on one channel, under the heatmap and under the table of links. */
#ifndef VIEWS_LINKS_CHAN_DETAIL_H
#define VIEWS_LINKS_CHAN_DETAIL_H

#include "views/canvas/view.h"

#define CHAN_DETAIL_LINES 4

/* Rates, routes with their rank and lanes, whose they are, and the past with what the preview
 * makes of it.  O(channels). */
void chan_detail_draw(const struct shell *shell, const struct state *s, struct canvas *c,
		      struct rect r, uint32_t chan);

/* Pieces of it for other places.  "VL0 71% VL1 18%" in buf, at most width columns; "" where lanes
 * are not known. */
const char *chan_lanes_text(char *buf, size_t len, const struct state *s, uint32_t chan, int width);
/* "81234:71% 81240:18%" in buf, at most width columns; "" without. */
const char *chan_jobs_text(char *buf, size_t len, const struct state *s, uint32_t chan, int width);
/* Utilisation to expect after the preview, in percent: today's, scaled as the routes of jobs over
 * the channel are; NAN unknown. */
double chan_planned_util(const struct state *s, uint32_t chan);

#endif
