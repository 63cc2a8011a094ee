/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grid_steps: channels that go the same way in the same place of a dimension, "from 3 to 4 in x":
 * those that are opposite sides of squares of cables.
 *
 * Ends of two steps are the same layer when they meet at switches and never span a square; the
 * steps of a dimension then order its layers, and the channels of a switch tell its coordinates.
 */
#pragma once

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct grid_steps {
	const struct fabric *f;
	struct arena *arena;
	bool mend;	 /* layers in pieces, and switches on no square */
	uint32_t *first; /* by channel: the first one that is parallel */
	uint32_t *step;	 /* by channel: union-find, then the number of its step or FAB_NONE */
	uint32_t *near;	 /* by switch: channel there from the switch at hand */
	uint32_t *mids;	 /* by switch: paths of two hops there */
	uint32_t *mid;	 /* by switch: two channels each of two ways */
	uint32_t *far;
	uint32_t nfar;
	uint32_t nstep;
	uint32_t *size, *back; /* of a step: channels; the same the other way */
	uint32_t *meet, *span; /* nstep * nstep: at switches; with a square */
	uint32_t *layer;       /* by step: where it begins */
	uint32_t *dim;	       /* by step */
};

/* mend: also where cables of a layer are missing, so that it falls into pieces.  -EINVAL with what
 * is in the way; grid_steps_free() in any case. */
int grid_steps_find(struct grid_steps *q, const struct fabric *f, bool mend, struct err *err);
void grid_steps_free(struct grid_steps *q);
