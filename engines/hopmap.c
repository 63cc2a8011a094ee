/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/hopmap.h"

#include "fabric/base/mem.h"
#include "fabric/base/tile.h"

#include <stdlib.h>
#include <string.h>

void hopmap_init(struct hopmap *p, const struct fabric *f, const struct tables *t)
{
	*p = (struct hopmap){ .f = f, .t = t, .width = 2, .nblock = tables_blocks(t) };
	for (uint32_t u = 0; u < f->nsw; u++)
		if (f->sw_nports[u] + 2u > p->width)
			p->width = f->sw_nports[u] + 2u;
	p->place = xcalloc((size_t)f->nsw * p->width, 1);
	memset(p->place, PLACE_NONE, (size_t)f->nsw * p->width);
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t u = f->chan_src[c];

		p->place[(size_t)u * p->width + f->chan_port[c]] = (uint8_t)(c - f->chan_off[u]);
	}
	p->block = xcalloc(p->nblock, sizeof(*p->block));
}

void hopmap_done(struct hopmap *p)
{
	for (uint32_t i = 0; i < p->nblock; i++)
		free(p->block[i]);
	free(p->block);
	free(p->place);
	*p = (struct hopmap){ .f = NULL };
}

void hopmap_read(struct hopmap *p, uint32_t block)
{
	uint32_t nsw = p->f->nsw;
	uint8_t *out = xcalloc((size_t)nsw * LFT_BLOCK, 1);
	uint8_t *rows = xcalloc((size_t)nsw * LFT_BLOCK, 1);

	/* switch by switch the places stay in the cache */
	for (uint32_t u = 0; u < nsw; u++) {
		const uint8_t *row = tables_row(p->t, u) + (size_t)block * LFT_BLOCK;

		for (uint32_t k = 0; k < LFT_BLOCK; k++)
			rows[(size_t)u * LFT_BLOCK + k] = hopmap_place(p, u, row[k]);
	}
	tile_turn(out, nsw, rows, LFT_BLOCK, nsw, LFT_BLOCK);
	free(rows);
	p->block[block] = out;
}
