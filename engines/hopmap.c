/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/hopmap.h"

#include "fabric/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define TILE 64 /* switches whose rows are read together */

void hopmap_init(struct hopmap *p, const struct fabric *f, struct tables *t)
{
	*p = (struct hopmap){ .f = f, .t = t };
	p->of_port = xcalloc(f->nport, 1);
	memset(p->of_port, PLACE_NONE, f->nport);
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t u = f->chan_src[c];

		p->of_port[f->port_off[u] + f->chan_port[c]] = (uint8_t)(c - f->chan_off[u]);
	}
	p->nblock = tables_blocks(t);
	p->block = xcalloc(p->nblock, sizeof(*p->block));
}

void hopmap_done(struct hopmap *p)
{
	for (uint32_t i = 0; i < p->nblock; i++)
		free(p->block[i]);
	free(p->block);
	free(p->of_port);
	*p = (struct hopmap){ .f = NULL };
}

void hopmap_read(struct hopmap *p, uint32_t block)
{
	const struct fabric *f = p->f;
	uint8_t *out = xcalloc((size_t)f->nsw * LFT_BLOCK, 1);

	for (uint32_t first = 0; first < f->nsw; first += TILE) {
		uint32_t end = first + TILE < f->nsw ? first + TILE : f->nsw;

		for (uint32_t u = first; u < end; u++) {
			const uint8_t *entry = tables_row(p->t, u) + (size_t)block * LFT_BLOCK;

			for (uint32_t k = 0; k < LFT_BLOCK; k++)
				out[(size_t)k * f->nsw + u] = hopmap_place(p, u, entry[k]);
		}
	}
	p->block[block] = out;
	p->reads += (uint64_t)f->nsw * LFT_BLOCK;
}
