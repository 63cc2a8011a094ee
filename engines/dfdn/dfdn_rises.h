/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dfdn_rises: the turns at which the VL must rise.
 *
 * HOTI16 lets it rise at every hop.  It is enough that it rises where a path turns from a
 * channel that leads down to one that leads up (updown.h): on one VL, packets then only turn in
 * ways that cannot close a cycle.  That takes fewer VLs and, as most turns have no say, fewer
 * SLs.
 */
#ifndef ENGINES_DFDN_DFDN_RISES_H
#define ENGINES_DFDN_DFDN_RISES_H

#include "engines/dfdn/dfdn_tree.h"
#include "engines/graph/graph.h"
#include "fabric/model/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct dfdn_rises {
	uint8_t *rise;	  /* by turn: 0 or 1 */
	uint32_t longest; /* path from a switch with ends, in hops */
	uint32_t most;	  /* rises on any of these paths; VLs needed, less one */
	bool needless;	  /* the turns of these paths close no cycle even on one VL */
};

/* Up is towards the roots.  Walks all paths: -ECANCELED; call dfdn_rises_done() all the same. */
int dfdn_rises_init(struct dfdn_rises *r, struct dfdn_tree *tree, const uint32_t *roots,
		    uint32_t nroots, struct pace *p);
void dfdn_rises_done(struct dfdn_rises *r);

#endif
