/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refill: a step towards even loads, from tables whose paths all arrive: cables that came back get
 * paths again, slower ones get fewer.
 *
 * Entries on the most loaded channels move to others that bring packets nearer to the destination,
 * with the SLs that the paths have.  Packets may meet old and new entries in any mixture: no path
 * goes in a circle then, and none waits for another in one, so that the entries may be written in
 * any order and nobody has to stop sending.
 */
#pragma once

#include "engines/repair/reattach.h"
#include "engines/repair/repair_state.h"

/* Adds to r->changes; r->load has all paths of r->t, which are those of r->was, and r->deps is in
 * order.  share: of the blocks of 64 LIDs in use, which may change, but no fewer than a few.
 * -ECANCELED.  Time O(LIDs * switches). */
int refill(struct repair_state *r, struct reattach *x, double share, struct progress *progress);
