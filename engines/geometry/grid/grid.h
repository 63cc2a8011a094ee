/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grid: switches at the points of a k-dimensional grid, as found in a fabric.
 *
 * What finds one (hyperx.h, ...) goes by cables alone: names, GUIDs and LIDs do not matter but
 * for the numbering, which is: larger dimensions first, coordinates by the first switch that
 * has them.
 */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRID_DIMS_MAX 16

enum grid_kind {
	GRID_FULL, /* every two switches of a line are neighbours (HyperX) */
	GRID_RING, /* the next one, and the last is next to the first (torus) */
	GRID_LINE, /* the next one (mesh) */
};

/* How sure its coordinates are. */
enum grid_from {
	GRID_FROM_CABLES, /* no other reading of the cables */
	GRID_FROM_NAMES,
	GRID_FROM_RING_PORTS, /* rings of four by the ports of their cables */
	GRID_FROM_PORTS,      /* dimensions by the ports of their cables */
	GRID_FROM_ANY,	      /* rings of four by chance: other pairs would do as well */
};

struct grid {
	uint32_t ndims; /* 0: a single switch */
	uint32_t size[GRID_DIMS_MAX];
	enum grid_kind kind[GRID_DIMS_MAX];
	uint32_t nsw;
	uint32_t ncell;	  /* product of the sizes */
	uint16_t *coord;  /* ndims of each switch: coord[sw * ndims + dim], below size[dim] */
	uint32_t *at;	  /* by cell (grid_cell()): the switch there, or FAB_NONE */
	uint32_t missing; /* pairs of neighbours without a cable; those of a missing switch do not
			     count */
	enum grid_from from;
};

/* A grid without switches at its points yet: all of at is FAB_NONE.  Free with grid_free(). */
struct grid *grid_new(uint32_t nsw, uint32_t ndims, const uint32_t *size,
		      const enum grid_kind *kind);
void grid_free(struct grid *g); /* NULL is fine */

static inline const uint16_t *grid_coord(const struct grid *g, uint32_t sw)
{
	return g->coord + (size_t)sw * g->ndims;
}

/* Number of a point: the first dimension counts fastest. */
uint32_t grid_cell(const struct grid *g, const uint16_t *coord);

/* The only dimension in which two switches differ; FAB_NONE when none or more than one. */
uint32_t grid_dim(const struct grid *g, uint32_t a, uint32_t b);

/* Is the last of a dimension next to the first?  Three are a ring and a full graph. */
static inline bool grid_is_ring(const struct grid *g, uint32_t d)
{
	return g->kind[d] == GRID_RING || (g->kind[d] == GRID_FULL && g->size[d] == 3);
}

bool grid_has_rings(const struct grid *g);

/* Planes are numbered over the dimensions from the third on; all gets how many there are. */
uint32_t grid_plane(const struct grid *g, uint32_t sw, uint32_t *all);

/* "12x8"; returns buf. */
char *grid_dims_text(char *buf, size_t len, const struct grid *g);

/* first: by channel, the first one that is parallel to it.  near: by switch, scratch, all FAB_NONE
 * before and after.  O(channels). */
void grid_first_parallel(const struct fabric *f, uint32_t *near, uint32_t *first);
