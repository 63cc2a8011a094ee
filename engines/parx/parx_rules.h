/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parx_rules: which cables each LID of a port avoids (rules R1-R4 of SC19 Sec. 3.2.1).
 *
 * LID 2d of a port avoids the cables with both ends in the lower half of dimension d, LID 2d+1
 * those of the upper half; LIDs above 2 * dimensions avoid nothing.  In a dimension of odd size
 * the middle belongs to both halves: so every two switches that share all but the middle
 * have a LID that leads around, and every two different switches one that is minimal.
 */
#pragma once

#include "engines/geometry/grid/grid.h"
#include "fabric/model/tables/lid_choice.h"

#include <stdint.h>

struct parx_rules {
	uint32_t n;	/* rules: the first n LIDs of every port, at most 32 */
	uint32_t all;	/* bits 0..n-1 */
	uint32_t *half; /* by switch: bit i, it is in the half whose cables LID i avoids */
};

void parx_rules_init(struct parx_rules *r, const struct grid *g);
void parx_rules_done(struct parx_rules *r);

/* The least LMC that gives every rule a LID. */
uint8_t parx_lmc(uint32_t ndims);

/* Bit i: LID i avoids the cables between the two switches. */
static inline uint32_t parx_avoids(const struct parx_rules *r, uint32_t a, uint32_t b)
{
	return r->half[a] & r->half[b];
}

/*
 * Offsets of the LIDs that messages from one switch to another should take (Table 1, for any number
 * of dimensions, odd sizes and spare LIDs up to 2^lmc), given the halves that both are in.  Large
 * messages: the LIDs that avoid the cables where both are, else those where the source is.
 * Small messages: the LIDs that avoid cables only where neither is, and the spare ones; where
 * there are none, those of the source's own halves alone, else of the destination's.  Neither
 * is ever empty for two different switches.
 */
struct lid_set parx_rules_lids(const struct parx_rules *r, uint8_t lmc, uint32_t src_half,
			       uint32_t dst_half);
