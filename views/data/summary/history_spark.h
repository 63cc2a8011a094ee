/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history_spark: the history of a channel in a line of cells. */
#pragma once

#include "views/canvas/canvas.h"
#include "views/data/state/state.h"
#include "views/data/summary/history.h"

/* The newest w samples, the newest in the last cell from x on; nothing without a history. */
void history_spark(const struct state *s, enum history_metric m, struct canvas *c, struct rect r,
		   int x, int y, int w, uint32_t chan);
