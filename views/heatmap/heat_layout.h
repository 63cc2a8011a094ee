/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heat_layout: which channel is in which cell of which matrix; computed once per fabric.
 *
 * A plane is a matrix: rows are switches or sets of them (a group, a rack, a line of a torus),
 * columns are switches, sets or places ("the 3rd agg of its pod", "coordinate 5 in this
 * dimension").  Direction 0 shows the channels of the plane, direction 1 their opposites.  In
 * the planes of a tree direction 0 goes up, along a torus it counts up; in all others a row sends
 * and both directions hold the same.
 */
#pragma once

#include "engines/geometry/topology_kind.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct racks;

struct heat_plane {
	char title[64];
	char row_name[16], col_name[16];
	const char *dir[2]; /* names of the directions: "up", "down" */
	bool up;	    /* each cable is here once, in one direction; else once in each */
	uint32_t set;	    /* planes of the same set hold every cable between them */
	uint32_t nrow, ncol;
	uint32_t *row_sw;  /* nrow; NULL: rows are no switches ... */
	uint32_t *col_sw;  /* ncol; NULL: columns are no switches ... */
	char **row_text;   /* ... but what is said here */
	char **col_text;   /* the same; NULL: places, by their number */
	uint32_t *row_off; /* nrow+1: channels of a row, ascending column */
	uint32_t *chan, *col;
};

#define HEAT_PLANES 10

struct heat_layout {
	const struct fabric *fabric; /* a reference of its own */
	uint32_t nplane;
	struct heat_plane plane[HEAT_PLANES];
	const char *note; /* of the shape: how its dimensions are known, or why it has none; "" */
	struct arena *arena;
};

/* r may be NULL: no racks are known. */
struct heat_layout *heat_layout_new(const struct fabric *f, const struct topology_kind *s,
				    const struct racks *r);
void heat_layout_free(struct heat_layout *l); /* NULL is fine */

/* Where a channel is in a plane. */
struct heat_spot {
	uint32_t row, col;
	bool opposite; /* in direction 1 */
};

/* False when it is not in it.  O(channels). */
bool heat_plane_find(const struct heat_plane *p, const struct fabric *f, uint32_t chan,
		     struct heat_spot *spot);
