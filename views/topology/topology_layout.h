/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_layout: where switches are in a drawing of the fabric; computed once per fabric.
 *
 * Trees: a row per level, pods together.  HyperX, torus and mesh: by coordinates, planes side by
 * side.  Groups of switches that are neighbours of each other (dragonfly): group by group.  Else
 * rows by the distance from the switch with most cables.  Nothing depends on chance or on the
 * order of discovery: equal fabrics give equal pictures.
 *
 * A node is a switch, or in the picture of blocks a pod, plane, group or a run of a row.
 */
#pragma once

#include "engines/geometry/topology_kind.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct topology_layout_node {
	float x, y;	       /* 0..w, 0..h; nodes of a row are at least 1 apart */
	float room;	       /* to the next in its row */
	uint32_t first, count; /* its switches: sw[first] ... */
};

/* All cables between two nodes. */
struct topology_layout_edge {
	uint32_t a, b;
	uint32_t first, count; /* chan[first] ...: both directions */
	bool around;	       /* of a ring, from its end to its beginning */
	float arc; /* around switches between them in a line: how far, of the place to the next line
		    */
	bool across; /* to another plane: drawn for the node under the cursor only */
};

#define PICTURE_ROWS 16

struct topology_layout {
	const struct fabric *fabric; /* a reference of its own */
	char what[64];		     /* "by levels", "129 groups of 16" */
	char block[16];		     /* what a node of several switches is: "pod", "group" */
	bool arcs;		     /* edges have them: more than one between two lines */
	bool levels;		     /* rows are spread over the height there is */
	uint32_t nrow;		     /* with names; levels only */
	char row_name[PICTURE_ROWS][16];
	float w, h;
	uint32_t nnode, nedge;
	struct topology_layout_node *node;
	struct topology_layout_edge *edge;
	uint32_t *sw;	   /* of the nodes, nsw */
	uint32_t *node_of; /* by switch */
	uint32_t *chan;
	struct arena *arena;
};

/* fine: a node per switch; blocks: NULL where there are not clearly fewer of them.
 * O(channels * degree + switches log switches). */
void topology_layout_new(struct topology_layout **fine, struct topology_layout **blocks,
			 const struct fabric *f, const struct topology_kind *s);
void topology_layout_free(struct topology_layout *p); /* NULL is fine */

/* The node next to one in a direction (one of dx, dy is not 0); itself when there is none. */
uint32_t topology_layout_next(const struct topology_layout *p, uint32_t node, int dx, int dy);
