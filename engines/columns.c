/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/columns.h"

#include "fabric/base/mem.h"

#include <stdlib.h>

uint32_t *columns_ports(const struct fabric *f)
{
	uint32_t *out = xcalloc(f->nport, sizeof(*out));

	for (uint32_t p = 0; p < f->nport; p++)
		out[p] = f->port[p].chan;
	return out;
}

void columns_init(struct columns *c, const struct fabric *f, const uint32_t *out)
{
	c->f = f;
	c->out = out;
	c->hop = xcalloc((size_t)f->nsw * COLUMNS_MAX, sizeof(*c->hop));
}

void columns_done(struct columns *c)
{
	free(c->hop);
	c->hop = NULL;
}

void columns_read(struct columns *c, const struct tables *t, const struct dest *d, uint32_t n)
{
	const struct fabric *f = c->f;

	for (uint32_t u = 0; u < f->nsw; u++) {
		const uint8_t *row = tables_row(t, u);
		const uint32_t *out = c->out + f->port_off[u];
		uint8_t nports = u == d->sw ? 0 : f->sw_nports[u]; /* port 0 has no channel */

		for (uint32_t k = 0; k < n; k++) {
			uint8_t port = row[d[k].lid];

			c->hop[(size_t)k * f->nsw + u] = out[port <= nports ? port : 0];
		}
	}
}

uint32_t columns_run(const struct dest *d, uint32_t n)
{
	uint32_t k = 1;

	while (k < COLUMNS_MAX && k < n && d[k].sw == d->sw)
		k++;
	return k;
}
