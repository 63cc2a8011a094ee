/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/geometry/grid/grid.h"

#include "fabric/base/memory/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct grid *grid_new(uint32_t nsw, uint32_t ndims, const uint32_t *size,
		      const enum grid_kind *kind)
{
	struct grid *g = xcalloc(1, sizeof(*g));

	g->nsw = nsw;
	g->ndims = ndims;
	g->ncell = 1;
	for (uint32_t d = 0; d < ndims; d++) {
		g->size[d] = size[d];
		g->kind[d] = kind[d];
		g->ncell *= size[d];
	}
	g->coord = xcalloc((size_t)nsw * ndims, sizeof(*g->coord));
	g->at = xcalloc(g->ncell, sizeof(*g->at));
	memset(g->at, 0xff, g->ncell * sizeof(*g->at));
	return g;
}

void grid_free(struct grid *g)
{
	if (!g)
		return;
	free(g->coord);
	free(g->at);
	free(g);
}

uint32_t grid_cell(const struct grid *g, const uint16_t *coord)
{
	uint32_t cell = 0;

	for (uint32_t d = g->ndims; d--;)
		cell = cell * g->size[d] + coord[d];
	return cell;
}

uint32_t grid_dim(const struct grid *g, uint32_t a, uint32_t b)
{
	const uint16_t *x = grid_coord(g, a), *y = grid_coord(g, b);
	uint32_t dim = FAB_NONE;

	for (uint32_t d = 0; d < g->ndims; d++) {
		if (x[d] == y[d])
			continue;
		if (dim != FAB_NONE)
			return FAB_NONE;
		dim = d;
	}
	return dim;
}

bool grid_has_rings(const struct grid *g)
{
	bool rings = false;

	for (uint32_t d = 0; d < g->ndims; d++)
		rings |= grid_is_ring(g, d);
	return rings;
}

uint32_t grid_plane(const struct grid *g, uint32_t sw, uint32_t *all)
{
	uint32_t plane = 0;

	*all = 1;
	for (uint32_t d = g->ndims; d-- > 2;) {
		plane = plane * g->size[d] + grid_coord(g, sw)[d];
		*all *= g->size[d];
	}
	return plane;
}

char *grid_dims_text(char *buf, size_t len, const struct grid *g)
{
	size_t at = 0;

	snprintf(buf, len, "1");
	for (uint32_t d = 0; d < g->ndims && at < len; d++)
		at += (size_t)snprintf(buf + at, len - at, "%s%u", d ? "x" : "", g->size[d]);
	return buf;
}

void grid_first_parallel(const struct fabric *f, uint32_t *near, uint32_t *first)
{
	for (uint32_t u = 0; u < f->nsw; u++) {
		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			uint32_t *at = &near[f->chan_dst[c]];

			*at = *at == FAB_NONE ? c : *at;
			first[c] = *at;
		}
		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
			near[f->chan_dst[c]] = FAB_NONE;
	}
}
