/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fattree: the planes and cables up of a fat tree, on top of its levels (tree.h).
 *
 * A k-ary n-tree, an extended generalised fat tree, or one with parallel cables (Zahavi,
 * "Fat-tree routing and node ordering providing contention free traffic for MPI global
 * collectives", 2012), with fewer hosts, switches or cables than a full one.  What is left of a
 * tree when the levels below are taken away falls into planes, each of them a smaller tree; a
 * packet that goes up chooses one plane per level.
 */
#pragma once

#include "engines/geometry/tree.h"
#include "fabric/model/topology/chan_weight.h"

struct fattree {
	const struct tree *tree; /* borrowed */
	uint32_t *plane; /* by switch: number of its plane among those of the level below's */
	/* Choices up that a destination has used up below a level: the planes multiplied. */
	uint64_t div[TREE_LEVELS + 1];
	/*
	 * Cables up, in turn over the planes, so that consecutive destinations take different
	 * ones: slot[slot_off[u]] onwards, as many as pattern[pattern_of[u]] says, which is shared
	 * by all switches of a level with equally many.  FAB_NONE where a cable is missing that
	 * most switches of the plane have.  slot_plane: the plane above to which it leads.  With
	 * weights, cables have slots in proportion to their rates.
	 */
	uint32_t *slot_off, *slot, *slot_plane, *pattern_of;
	struct fattree_pattern {
		uint32_t level, nslot;
	} * pattern;
	uint32_t npattern;
	/* Number of every end in the order of the leaves (neighbours in the tree are neighbours
	 * here; rail by rail), then of the names of nodes; ends above the leaves come last. */
	uint32_t *number;
	uint32_t root; /* the leaf with the most cables up */
	bool whole;    /* no way down is missing, and no slot */
	bool shares;   /* cables have slots by their rates */
};

/* Of a tree without faults (rc 0), which has to stay.  weights: NULL: a slot for each cable.
 * O(channels * levels). */
struct fattree *fattree_new(const struct fabric *f, const struct tree *tree,
			    const struct chan_weights *weights);
void fattree_free(struct fattree *t); /* NULL is fine */
