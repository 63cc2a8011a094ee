/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/lft_hops.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/tile.h"

#include <stdlib.h>
#include <string.h>

void lft_hops_init(struct lft_hops *p, const struct fabric *f, const struct tables *t)
{
	*p = (struct lft_hops){ .f = f, .t = t, .width = 2, .nblock = tables_blocks(t) };
	for (uint32_t u = 0; u < f->nsw; u++)
		if (f->sw_nports[u] + 2u > p->width)
			p->width = f->sw_nports[u] + 2u;
	p->place = xcalloc((size_t)f->nsw * p->width, 1);
	memset(p->place, PLACE_NONE, (size_t)f->nsw * p->width);
	p->next = xcalloc((size_t)f->nsw * p->width, sizeof(*p->next));
	for (size_t i = 0; i < (size_t)f->nsw * p->width; i++)
		p->next[i] = (uint16_t)(i / p->width);
	for (uint32_t c = 0; c < f->nchan; c++) {
		size_t i = lft_hops_index(p, f->chan_src[c], f->chan_port[c]);

		p->place[i] = (uint8_t)(c - f->chan_off[f->chan_src[c]]);
		p->next[i] = (uint16_t)f->chan_dst[c];
	}
	p->block = xcalloc(p->nblock, sizeof(*p->block));
}

void lft_hops_done(struct lft_hops *p)
{
	for (uint32_t i = 0; i < p->nblock; i++)
		free(p->block[i]);
	free(p->block);
	free(p->place);
	free(p->next);
	*p = (struct lft_hops){ .f = NULL };
}

uint8_t *lft_hops_fill(struct lft_hops *p, uint32_t lid)
{
	uint32_t block = lid / LFT_BLOCK;

	if (!p->block[block])
		p->block[block] = xcalloc((size_t)p->f->nsw * LFT_BLOCK, 1);
	return p->block[block] + (size_t)(lid % LFT_BLOCK) * p->f->nsw;
}

void lft_hops_read(struct lft_hops *p, uint32_t block)
{
	uint32_t nsw = p->f->nsw;

	p->block[block] = xcalloc((size_t)nsw * LFT_BLOCK, 1);
	tile_turn(p->block[block], nsw, p->t->lft + (size_t)block * LFT_BLOCK, p->t->stride, nsw,
		  LFT_BLOCK);
}
