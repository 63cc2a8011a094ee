/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/summary/history_spark.h"

void history_spark(const struct state *s, enum history_metric m, struct canvas *c, struct rect r,
		   int x, int y, int w, uint32_t chan)
{
	uint8_t v[HISTORY_LEN];
	int n;

	if (!s->history || w <= 0)
		return;
	n = (int)history_get(s->history, chan, m, v);
	if (n > w)
		canvas_spark(c, r, x, y, v + n - w, w);
	else
		canvas_spark(c, r, x + w - n, y, v, n);
}
