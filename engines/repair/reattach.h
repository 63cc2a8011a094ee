/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reattach: new paths to one LID for the switches below a break, and a look at no others.
 *
 * Each goes next to a switch from which a path arrives, the nearest first.  One whose entry leads
 * there all the same keeps it, where its path gets at most a hop longer than the shortest that is
 * left; else the least loaded of the shortest paths wins.  First on the SLs and VLs that are
 * installed, two hops longer where that helps; then on any.
 */
#pragma once

#include "engines/repair/lid_tree.h"
#include "engines/repair/repair_state.h"

struct reattach;

struct reattach *reattach_new(struct repair_state *r);
void reattach_free(struct reattach *x); /* NULL is fine */

/*
 * Paths to that destination of the switches below those n, whose entries lead nowhere.  What
 * changes is added to r->changes.  False: there is no way without a deadlock, and all is as before,
 * but that the loads of those paths are off.  Time O(switches below * cables of a switch).
 */
bool reattach_lid(struct reattach *x, uint32_t dest, const uint32_t *at, uint32_t n);
/* The same where these are all switches that do not get there, and no loads were counted. */
bool reattach_known(struct reattach *x, uint32_t dest, const uint32_t *broken, uint32_t n);
/* Does the path of a switch that came back arrive, and without a deadlock?  Adds what it depends on
 * then. */
bool reattach_stands(struct reattach *x, uint32_t dest, uint32_t sw);

/* Gives those switches, each once, their entries and SLs of before (port_was, sl_was) and adds that
 * to r->changes.  False where a path would not arrive then, or might deadlock: nothing is changed.
 */
bool reattach_move_back(struct reattach *x, uint32_t dest, const struct entry_change *moves,
			uint32_t n);
/* Of the switches that were looked at last: hops, LID_TREE_BROKEN without a path. */
const struct lid_tree *reattach_tree(const struct reattach *x);
