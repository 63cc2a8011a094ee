/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chan_detail: four lines on one channel, under the heatmap and under the table of links. */
#pragma once

#include "views/view.h"

#define CHAN_DETAIL_LINES 4

/* Rates, routes with their rank and lanes, whose they are, and the past with what the preview
 * makes of it.  O(channels). */
void chan_detail_draw(const struct context *ctx, const struct state *s, struct canvas *c,
		      struct rect r, uint32_t chan);
