/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/geometry/grid/grid_rings.h"

#include "fabric/base/memory/mem.h"

#include <stdbool.h>
#include <stdlib.h>

#define DIMS GRID_DIMS_MAX

/* Ports that the cables of a dimension are in, by number. */
struct ports {
	uint32_t count[FAB_MAX_PORT + 1];
	uint32_t all;
};

static void grid_rings_count_ports(struct ports *of, const struct grid_layout *l,
				   const struct fabric *f)
{
	for (uint32_t c = 0; c < f->nchan; c++) {
		const uint16_t *x = &l->coord[(size_t)f->chan_src[c] * DIMS];
		const uint16_t *y = &l->coord[(size_t)f->chan_dst[c] * DIMS];

		for (uint32_t d = 0; d < l->ndim; d++) {
			if (x[d] == y[d])
				continue;
			of[d].count[f->chan_port[c]]++;
			of[d].all++;
		}
	}
}

static uint32_t grid_rings_alike(const struct ports *a, const struct ports *b)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p <= FAB_MAX_PORT; p++)
		n += a->count[p] < b->count[p] ? a->count[p] : b->count[p];
	return n;
}

/* 00 10 11 01: each next to the one before. */
static uint16_t grid_rings_around(uint16_t a, uint16_t b)
{
	return b ? (a ? 2 : 3) : a;
}

/* b goes into a. */
static void grid_rings_join_two(struct grid_layout *l, struct ports *ports, const struct fabric *f,
				uint32_t a, uint32_t b)
{
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint16_t *x = &l->coord[(size_t)sw * DIMS];

		x[a] = grid_rings_around(x[a], x[b]);
		for (uint32_t d = b; d + 1 < l->ndim; d++)
			x[d] = x[d + 1];
	}
	l->dim[a] = 4;
	for (uint32_t d = b; d + 1 < l->ndim; d++) {
		l->dim[d] = l->dim[d + 1];
		l->ring[d] = l->ring[d + 1];
		ports[d] = ports[d + 1];
	}
	l->ndim--;
}

/* The two dimensions of two whose ports are most alike; false: there are no two. */
static bool grid_rings_most_alike(uint32_t *a, uint32_t *b, const struct grid_layout *l,
				  const struct ports *ports)
{
	uint32_t best = 0;
	bool found = false;

	for (uint32_t i = 0; i < l->ndim; i++)
		for (uint32_t k = i + 1; k < l->ndim; k++) {
			uint32_t n = grid_rings_alike(&ports[i], &ports[k]);

			if (l->dim[i] != 2 || l->dim[k] != 2 || (found && n <= best))
				continue;
			*a = i;
			*b = k;
			best = n;
			found = true;
		}
	return found;
}

/* Two that are clearly more alike than either is to a third. */
static bool grid_rings_no_other(const struct grid_layout *l, const struct ports *ports, uint32_t a,
				uint32_t b)
{
	uint32_t n = grid_rings_alike(&ports[a], &ports[b]);
	bool clear = n > 0;

	for (uint32_t d = 0; d < l->ndim; d++)
		if (l->dim[d] == 2 && d != a && d != b)
			clear &= 2 * grid_rings_alike(&ports[a], &ports[d]) < n &&
				 2 * grid_rings_alike(&ports[b], &ports[d]) < n;
	return clear;
}

void grid_rings_join(struct grid_layout *l, const struct fabric *f)
{
	uint32_t two = 0, rings = 0, lines = 0, a, b;
	struct ports *ports;
	bool sure = true;

	grid_layout_sort_dims(l, f);
	for (uint32_t d = 0; d < l->ndim; d++) {
		two += l->dim[d] == 2;
		rings += l->ring[d];
		lines += l->dim[d] > 2 && !l->ring[d];
	}
	/* 7x2x2 of lines is a mesh, not a ring of four on a line; a square alone is a square */
	if (two < 2 || (lines && !rings) || l->ndim < 3)
		return;
	ports = xcalloc(DIMS, sizeof(*ports));
	grid_rings_count_ports(ports, l, f);
	while (grid_rings_most_alike(&a, &b, l, ports)) {
		sure &= grid_rings_no_other(l, ports, a, b);
		grid_rings_join_two(l, ports, f, a, b);
	}
	if (two > 2)
		l->from = sure ? GRID_FROM_RING_PORTS : GRID_FROM_ANY;
	grid_layout_sort_dims(l, f);
	free(ports);
}
