/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/history.h"

#include "fabric/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct history {
	uint32_t nchan;
	uint64_t total; /* rows ever pushed; row i is at i % HISTORY_LEN */
	uint8_t *util;	/* [HISTORY_LEN][nchan] */
};

struct history *history_new(uint32_t nchan)
{
	struct history *h = xcalloc(1, sizeof(*h));

	h->nchan = nchan;
	h->util = xcalloc((size_t)HISTORY_LEN * nchan, 1);
	return h;
}

void history_free(struct history *h)
{
	if (!h)
		return;
	free(h->util);
	free(h);
}

void history_push(struct history *h, const struct fabric *f, const struct rates *r)
{
	uint8_t *row = h->util + (size_t)(h->total % HISTORY_LEN) * h->nchan;

	if (f->nchan != h->nchan || (r && r->nport != f->nport))
		return;
	h->total++;
	memset(row, HISTORY_UNKNOWN, h->nchan);
	if (!r)
		return;
	for (uint32_t c = 0; c < h->nchan; c++) {
		double u = r->port[f->port_off[f->chan_src[c]] + f->chan_port[c]].util_pct;

		if (isfinite(u))
			row[c] = (uint8_t)lround(fmin(fmax(u, 0), 100));
	}
}

uint32_t history_count(const struct history *h)
{
	return h->total < HISTORY_LEN ? (uint32_t)h->total : HISTORY_LEN;
}

uint32_t history_get(const struct history *h, uint32_t chan, uint8_t out[HISTORY_LEN])
{
	uint32_t n = history_count(h);

	for (uint32_t i = 0; i < n; i++)
		out[i] = h->util[(size_t)((h->total - n + i) % HISTORY_LEN) * h->nchan + chan];
	return n;
}
