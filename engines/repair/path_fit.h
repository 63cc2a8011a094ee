/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_fit: on which SL a path that is new closes no cycle with those that are there.
 */
#pragma once

#include "engines/repair/lid_tree.h"
#include "engines/repair/repair_state.h"

/* May paths from sw to the LID be as x has them, on the SLs that they have?  What they depend on is
 * added then, and nothing is where they may not. */
bool path_fit_as_is(struct repair_state *r, const struct lid_tree *x, uint32_t sw, uint32_t lid);

/* The same on that SL, which the paths have from then on. */
bool path_fit_on(struct repair_state *r, const struct lid_tree *x, uint32_t sw, uint32_t lid,
		 uint8_t sl);

/* Only notes that SL. */
void path_fit_set(struct repair_state *r, uint32_t sw, uint32_t lid, uint8_t sl);

/* Could a packet with that SL be led on from sw, as if it had come from an end?  Adds nothing.
 * Of switches without ends, which have no packets of their own but may be led through. */
bool path_fit_through(struct repair_state *r, const struct lid_tree *x, uint32_t sw, uint8_t sl);
