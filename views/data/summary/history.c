/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/summary/history.h"

#include "fabric/base/memory/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEPT	 600
#define KEPT_MAX (32u << 20)

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

struct history {
	uint32_t nchan, kept;
	uint64_t total; /* rows ever pushed; row i is at i % kept */
	uint64_t hidden;
	uint8_t **row; /* [kept], made when first pushed: [HISTORY_METRICS][nchan] */
};

size_t history_row_bytes(uint32_t nchan)
{
	return (size_t)nchan * HISTORY_METRICS;
}

static uint32_t history_rows_kept(uint32_t nchan)
{
	uint64_t fit = nchan ? KEPT_MAX / history_row_bytes(nchan) : KEPT;

	return fit > KEPT ? KEPT : fit < HISTORY_LEN ? HISTORY_LEN : (uint32_t)fit;
}

struct history *history_new(uint32_t nchan)
{
	struct history *h = xcalloc(1, sizeof(*h));

	h->nchan = nchan;
	h->kept = history_rows_kept(nchan);
	h->row = xcalloc(h->kept, sizeof(*h->row));
	return h;
}

void history_free(struct history *h)
{
	if (!h)
		return;
	for (uint32_t i = 0; i < h->kept; i++)
		free(h->row[i]);
	free(h->row);
	free(h);
}

double history_errors_pct(double per_min)
{
	return per_min > 0 ? fmin(100, 20 + 25 * log10(1 + per_min)) : per_min;
}

double history_errors_of(double pct)
{
	return pct > 20 ? pow(10, (pct - 20) / 25) - 1 : 0;
}

static uint8_t history_byte_of(double pct)
{
	if (isnan(pct))
		return HISTORY_UNKNOWN;
	return pct >= 100 ? 100 : pct > 0 ? (uint8_t)(pct + 0.5) : 0;
}

void history_row(uint8_t *row, const struct fabric *f, const struct rates *r)
{
	uint8_t *wait = row + (size_t)f->nchan * HISTORY_WAIT;
	uint8_t *errors = row + (size_t)f->nchan * HISTORY_ERRORS;

	if (!r || r->nport != f->nport) {
		memset(row, HISTORY_UNKNOWN, history_row_bytes(f->nchan));
		return;
	}
	for (uint32_t c = 0; c < f->nchan; c++) {
		const struct port_rate *p = &r->port[f->port_off[f->chan_src[c]] + f->chan_port[c]];

		row[c] = history_byte_of(p->util_pct);
		wait[c] = history_byte_of(p->wait_pct);
		errors[c] = history_byte_of(history_errors_pct(p->errors_per_min));
	}
}

static uint8_t *history_next_row(struct history *h)
{
	uint8_t **row = &h->row[h->total++ % h->kept];

	if (!*row)
		*row = xcalloc(history_row_bytes(h->nchan), 1);
	return *row;
}

void history_push(struct history *h, const struct fabric *f, const struct rates *r)
{
	if (f->nchan == h->nchan && (!r || r->nport == f->nport))
		history_row(history_next_row(h), f, r);
}

void history_push_row(struct history *h, uint32_t nchan, const uint8_t *row)
{
	if (nchan == h->nchan)
		memcpy(history_next_row(h), row, history_row_bytes(nchan));
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

uint32_t history_get(const struct history *h, uint32_t chan, enum history_metric m,
		     uint8_t out[HISTORY_LEN])
{
	uint32_t n = history_count(h);
	uint64_t from = h->total - h->hidden - n;
	size_t at = (size_t)h->nchan * m + chan;

	for (uint32_t i = 0; i < n; i++)
		out[i] = h->row[(from + i) % h->kept][at];
	return n;
}
