/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/history.h"

#include "fabric/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEPT	 600
#define KEPT_MAX (32u << 20)

struct history {
	uint32_t nchan, kept;
	uint64_t total; /* rows ever pushed; row i is at i % kept */
	uint64_t hidden;
	uint8_t *util; /* [kept][nchan] */
};

static uint32_t rows_kept(uint32_t nchan)
{
	uint64_t fit = nchan ? KEPT_MAX / nchan : KEPT;

	return fit > KEPT ? KEPT : fit < HISTORY_LEN ? HISTORY_LEN : (uint32_t)fit;
}

struct history *history_new(uint32_t nchan)
{
	struct history *h = xcalloc(1, sizeof(*h));

	h->nchan = nchan;
	h->kept = rows_kept(nchan);
	h->util = xcalloc((size_t)h->kept * nchan + 1, 1);
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
	uint8_t *row = h->util + (size_t)(h->total % h->kept) * h->nchan;

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

void history_hide(struct history *h, uint64_t newest)
{
	h->hidden = newest < h->total ? newest : h->total;
}

uint32_t history_count(const struct history *h)
{
	uint64_t shown = h->total - h->hidden, kept = h->total < h->kept ? h->total : h->kept;

	/* of the rows that are kept, those before the hidden ones */
	if (kept < h->hidden)
		return 0;
	if (shown > kept - h->hidden)
		shown = kept - h->hidden;
	return shown < HISTORY_LEN ? (uint32_t)shown : HISTORY_LEN;
}

uint32_t history_get(const struct history *h, uint32_t chan, uint8_t out[HISTORY_LEN])
{
	uint32_t n = history_count(h);
	uint64_t from = h->total - h->hidden - n;

	for (uint32_t i = 0; i < n; i++)
		out[i] = h->util[(size_t)((from + i) % h->kept) * h->nchan + chan];
	return n;
}
