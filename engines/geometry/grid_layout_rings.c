/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dimensions of two, joined to rings of four.  On machines cabled by rule every switch has the
 * same two ports in a ring: two dimensions of two that share their ports are one ring. */
#include "engines/geometry/grid_layout_priv.h"

#include "fabric/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Ports that the cables of a dimension are in, by number. */
struct ports {
	uint32_t count[FAB_MAX_PORT + 1];
	uint32_t all;
};

static void grid_layout_count_ports(struct ports *of, const struct grid_layout *l,
				    const struct fabric *f)
{
	for (uint32_t c = 0; c < f->nchan; c++) {
		const uint16_t *x = &l->coord[(size_t)f->chan_src[c] * GRID_LAYOUT_DIMS];
		const uint16_t *y = &l->coord[(size_t)f->chan_dst[c] * GRID_LAYOUT_DIMS];

		for (uint32_t d = 0; d < l->ndim; d++) {
			if (x[d] == y[d])
				continue;
			of[d].count[f->chan_port[c]]++;
			of[d].all++;
		}
	}
}

static uint32_t grid_layout_alike(const struct ports *a, const struct ports *b)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p <= FAB_MAX_PORT; p++)
		n += a->count[p] < b->count[p] ? a->count[p] : b->count[p];
	return n;
}

/* 00 10 11 01: each next to the one before. */
static uint16_t grid_layout_around(uint16_t a, uint16_t b)
{
	return b ? (a ? 2 : 3) : a;
}

/* b goes into a. */
static void grid_layout_join_two(struct grid_layout *l, struct ports *ports, const struct fabric *f,
				 uint32_t a, uint32_t b)
{
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint16_t *x = &l->coord[(size_t)sw * GRID_LAYOUT_DIMS];

		x[a] = grid_layout_around(x[a], x[b]);
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
static bool grid_layout_most_alike(uint32_t *a, uint32_t *b, const struct grid_layout *l,
				   const struct ports *ports)
{
	uint32_t best = 0;
	bool found = false;

	for (uint32_t i = 0; i < l->ndim; i++)
		for (uint32_t k = i + 1; k < l->ndim; k++) {
			uint32_t n = grid_layout_alike(&ports[i], &ports[k]);

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
static bool grid_layout_no_other(const struct grid_layout *l, const struct ports *ports, uint32_t a,
				 uint32_t b)
{
	uint32_t n = grid_layout_alike(&ports[a], &ports[b]);
	bool clear = n > 0;

	for (uint32_t d = 0; d < l->ndim; d++)
		if (l->dim[d] == 2 && d != a && d != b)
			clear &= 2 * grid_layout_alike(&ports[a], &ports[d]) < n &&
				 2 * grid_layout_alike(&ports[b], &ports[d]) < n;
	return clear;
}

void grid_layout_sort_dims(struct grid_layout *l, const struct fabric *f)
{
	for (uint32_t i = 1; i < l->ndim; i++)
		for (uint32_t k = i; k > 0 && l->dim[k - 1] < l->dim[k]; k--) {
			uint32_t dim = l->dim[k];
			bool ring = l->ring[k];

			l->dim[k] = l->dim[k - 1];
			l->dim[k - 1] = dim;
			l->ring[k] = l->ring[k - 1];
			l->ring[k - 1] = ring;
			for (uint32_t sw = 0; sw < f->nsw; sw++) {
				uint16_t *x = &l->coord[(size_t)sw * GRID_LAYOUT_DIMS], at = x[k];

				x[k] = x[k - 1];
				x[k - 1] = at;
			}
		}
}

void grid_layout_join_rings(struct grid_layout *l, const struct fabric *f)
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
	ports = xcalloc(GRID_LAYOUT_DIMS, sizeof(*ports));
	grid_layout_count_ports(ports, l, f);
	while (grid_layout_most_alike(&a, &b, l, ports)) {
		sure &= grid_layout_no_other(l, ports, a, b);
		grid_layout_join_two(l, ports, f, a, b);
	}
	if (two > 2)
		l->from = sure ? GRID_LAYOUT_PORTS : GRID_LAYOUT_ANY;
	grid_layout_sort_dims(l, f);
	free(ports);
}
