/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topology_placement: for topology_layout.c only: the places of switches and of blocks by kind of
 * fabric.
 */
#pragma once

#include "views/topology/topology_layout.h"

struct topology_placement_set {
	uint32_t n;
	float w, h;
	float *x, *y;
	uint32_t *of; /* by switch: which of the n */
};

struct topology_placement {
	char what[64], block[16];
	bool levels;
	uint32_t nrow;
	char row_name[PICTURE_ROWS][16];
	struct topology_placement_set sw, block_set; /* block_set.n 0: no blocks */
	const struct grid *grid;		     /* that of the topology; NULL: none */
	bool rings;				     /* of its dimensions some are */
};

void topology_placement_find(struct topology_placement *l, const struct fabric *f,
			     const struct topology_kind *s);
void topology_placement_done(struct topology_placement *l);
/* Sets around and across of an edge of the picture of switches. */
void topology_placement_mark(const struct topology_placement *l, struct topology_layout_edge *e);
