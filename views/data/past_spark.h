/* SPDX-License-Identifier: GPL-2.0-or-later */
/* past_spark: the past of a channel in a line of cells, by the figure that the operator looks at.
 */
#ifndef VIEWS_DATA_PAST_SPARK_H
#define VIEWS_DATA_PAST_SPARK_H

#include "views/canvas/canvas.h"
#include "views/data/history.h"
#include "views/data/state.h"

const char *history_metric_name(enum history_metric m); /* "util", "wait", "errors" */
/* "utilisation" is util, too; HISTORY_METRICS: it is none of them. */
enum history_metric history_metric_find(const char *name);

/* The newest w samples, the newest in the last cell from x on; nothing without a history. */
void past_spark(const struct state *s, enum history_metric m, struct canvas *c, struct rect r,
		int x, int y, int w, uint32_t chan);

#endif
