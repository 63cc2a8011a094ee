/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fattree: the levels, planes and cables up of a fat tree, as found from the cables alone.
 *
 * A k-ary n-tree, an extended generalised fat tree, or one with parallel cables (Zahavi,
 * "Fat-tree routing and node ordering providing contention free traffic for MPI global
 * collectives", 2012), with fewer hosts, switches or cables than a full one.  What is left of a
 * tree when the levels below are taken away falls into planes, each of them a smaller tree; a
 * packet that goes up chooses one plane per level.
 */
#ifndef ENGINES_GEOMETRY_FATTREE_H
#define ENGINES_GEOMETRY_FATTREE_H

#include "fabric/base/err.h"
#include "fabric/model/fabric.h"

#include <stdbool.h>
#include <stdint.h>

#define FATTREE_LEVELS 8
#define FATTREE_IDLE   255 /* level of a switch that no two leaves need to reach each other */

struct fattree {
	uint32_t nlevel; /* levels 0 (leaves) to nlevel - 1 */
	uint8_t *level;	 /* by switch; FATTREE_IDLE */
	uint32_t *plane; /* by switch: number of its plane among those of the level below's */
	/* Choices up that a destination has used up below a level: the planes multiplied. */
	uint64_t div[FATTREE_LEVELS + 1];
	/*
	 * Cables up, in turn over the planes, so that consecutive destinations take different
	 * ones: slot[slot_off[u]] onwards, as many as pattern[pattern_of[u]] says, which is shared
	 * by all switches of a level with equally many.  FAB_NONE where a cable is missing that
	 * most switches of the plane have.  slot_plane: the plane above to which it leads.
	 */
	uint32_t *slot_off, *slot, *slot_plane, *pattern_of;
	struct fattree_pattern {
		uint32_t level, nslot;
	} * pattern;
	uint32_t npattern;
	/* Number of every end in the order of the leaves (neighbours in the tree are neighbours
	 * here), then by port; ends above the leaves come last. */
	uint32_t *number;
	uint32_t root;	  /* the leaf with the most cables up */
	uint32_t missing; /* ways from a switch down to a subtree that have no cable at all */
	bool whole;	  /* nothing of that is missing, and no slot */
};

/* -EINVAL with what is in the way of a fat tree; -ENETUNREACH when the fabric is not connected.
 * At least two thirds of the ways from switches down to subtrees must be cabled.
 * Time O(nchan * levels). */
int fattree_find(struct fattree **out, const struct fabric *f, struct err *err);
void fattree_free(struct fattree *t); /* NULL is fine */

#endif
