/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * regrow: new paths to one LID for the switches that do not get there any more.
 *
 * Level by level from the LID's switch, each next to a switch from which a path arrives; so paths
 * are as short as those that stay allow, and whoever is led there all the same by its own entry
 * keeps it.  Otherwise the least loaded path wins.  First on the SLs and VLs that are installed,
 * at most two hops longer where that helps; then on any.  Where that does not do, the LID goes the
 * way of another on its switch, whose paths are all there; at last all its paths are new.
 */
#pragma once

#include "engines/repair/lid_tree.h"
#include "engines/repair/repair_state.h"

struct regrow;

struct regrow *regrow_new(struct repair_state *r);
void regrow_free(struct regrow *g); /* NULL is fine */

/* All paths to the destination with that index, of which some do not arrive; what becomes another
 * is added to r->changes.  The entries of those n switches are no good, wherever they lead.  False:
 * there is no way without a deadlock.  The tree of the result is that of regrow_tree(). */
bool regrow_lid(struct regrow *g, uint32_t dest, const uint32_t *at, uint32_t n);
const struct lid_tree *regrow_tree(const struct regrow *g);
/* By destination: how many others go its way because of what was done until now. */
uint32_t *regrow_siblings(struct regrow *g);
