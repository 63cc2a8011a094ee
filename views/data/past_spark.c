/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/past_spark.h"

#include <string.h>
#include <strings.h>

static const char *const names[HISTORY_METRICS] = { "util", "wait", "errors" };

const char *history_metric_name(enum history_metric m)
{
	return names[m];
}

enum history_metric history_metric_find(const char *name)
{
	enum history_metric m = 0;

	if (!strcasecmp(name, "utilisation"))
		return HISTORY_UTIL;
	while (m < HISTORY_METRICS && strcasecmp(names[m], name) != 0)
		m++;
	return m;
}

void past_spark(const struct state *s, enum history_metric m, struct canvas *c, struct rect r,
		int x, int y, int w, uint32_t chan)
{
	uint8_t past[HISTORY_LEN];
	int n;

	if (!s->history || w <= 0)
		return;
	n = (int)history_get(s->history, chan, m, past);
	if (n > w)
		canvas_spark(c, r, x, y, past + n - w, w);
	else
		canvas_spark(c, r, x + w - n, y, past, n);
}
