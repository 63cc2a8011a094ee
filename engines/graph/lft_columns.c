/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/lft_columns.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/tile.h"

#include <stdlib.h>
#include <string.h>

uint32_t *lft_columns_ports(const struct fabric *f)
{
	uint32_t *out = xcalloc(f->nport, sizeof(*out));

	for (uint32_t p = 0; p < f->nport; p++)
		out[p] = f->port[p].chan;
	return out;
}

void lft_columns_init(struct lft_columns *c, const struct fabric *f, const uint32_t *out)
{
	c->f = f;
	c->out = out;
	c->port = xcalloc((size_t)f->nsw * COLUMNS_MAX, 1);
}

void lft_columns_done(struct lft_columns *c)
{
	free(c->port);
	c->port = NULL;
}

/* LIDs from the first on that follow each other. */
static uint32_t lft_columns_without_gap(const struct dest *d, uint32_t n)
{
	uint32_t k = 1;

	while (k < n && d[k].lid == d[0].lid + k)
		k++;
	return k;
}

void lft_columns_turn(uint8_t *column, const uint8_t *rows, uint32_t stride, uint32_t nsw,
		      const struct dest *d, uint32_t n)
{
	for (uint32_t k = 0, run; k < n; k += run) {
		run = lft_columns_without_gap(d + k, n - k);
		tile_turn(column + (size_t)k * nsw, nsw, rows + d[k].lid, stride, nsw, run);
	}
}

void lft_columns_turn_back(uint8_t *rows, const uint8_t *column, uint32_t stride, uint32_t nsw,
			   const struct dest *d, uint32_t n)
{
	for (uint32_t k = 0, run; k < n; k += run) {
		run = lft_columns_without_gap(d + k, n - k);
		tile_turn(rows + d[k].lid, stride, column + (size_t)k * nsw, nsw, run, nsw);
	}
}

void lft_columns_read(struct lft_columns *c, const struct tables *t, const struct dest *d,
		      uint32_t n)
{
	lft_columns_turn(c->port, t->lft, t->stride, c->f->nsw, d, n);
	for (uint32_t k = 0; k < n; k++)
		c->port[(size_t)k * c->f->nsw + d->sw] = 0; /* port 0 has no channel */
}

void lft_columns_chans(const struct lft_columns *c, uint32_t k, uint32_t *chan)
{
	for (uint32_t u = 0; u < c->f->nsw; u++)
		chan[u] = lft_columns_chan(c, k, u);
}

uint32_t lft_columns_differ(const uint8_t *a, const uint8_t *b, uint32_t n, uint32_t *at)
{
	uint32_t m = 0;

	for (uint32_t u = 0; u < n;) {
		uint32_t end = u + 8;

		/* eight at a time, since few differ */
		if (end <= n && !memcmp(a + u, b + u, 8)) {
			u = end;
			continue;
		}
		for (end = end < n ? end : n; u < end; u++)
			if (a[u] != b[u])
				at[m++] = u;
	}
	return m;
}

uint32_t lft_columns_run(const struct dest *d, uint32_t n)
{
	uint32_t k = 1;

	while (k < COLUMNS_MAX && k < n && d[k].sw == d->sw)
		k++;
	return k;
}
