/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/parx/parx_rules.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>

void parx_rules_init(struct parx_rules *r, const struct grid *g)
{
	r->n = 2 * g->ndims;
	r->all = (uint32_t)((1ull << r->n) - 1);
	r->half = xcalloc(g->nsw, sizeof(*r->half));
	for (uint32_t u = 0; u < g->nsw; u++) {
		const uint16_t *x = grid_coord(g, u);

		for (uint32_t d = 0; d < g->ndims; d++) {
			uint32_t lower = 2u * x[d] < g->size[d];
			uint32_t upper = 2u * x[d] + 2u > g->size[d];

			r->half[u] |= (lower | upper << 1) << (2 * d);
		}
	}
}

void parx_rules_done(struct parx_rules *r)
{
	free(r->half);
	r->half = NULL;
}

uint8_t parx_lmc(uint32_t ndims)
{
	uint8_t lmc = 0;

	while (1u << lmc < 2 * ndims)
		lmc++;
	return lmc;
}

static uint32_t parx_rules_first_of(uint32_t a, uint32_t b, uint32_t c)
{
	return a ? a : b ? b : c;
}

struct lid_set parx_rules_lids(const struct parx_rules *r, uint8_t lmc, uint32_t src_half,
			       uint32_t dst_half)
{
	uint32_t lids = lmc < 5 ? (1u << (1u << lmc)) - 1 : UINT32_MAX;
	uint32_t both = src_half & dst_half, src = src_half & ~dst_half, dst = dst_half & ~src_half;
	uint32_t neither = (r->all & ~(src_half | dst_half)) | (lids & ~r->all);

	return (struct lid_set){ .small = parx_rules_first_of(neither, src, dst),
				 .large = parx_rules_first_of(both, src, dst) };
}
