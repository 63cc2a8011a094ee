/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parx: minimal paths and detours side by side on a HyperX (Domke et al., SC19, Algorithm 1).
 *
 * Every port has several LIDs; the paths to each of them avoid the cables of one half of one
 * dimension (parx_rules.h), so that a sender chooses between the shortest path and a detour
 * around a crowded cable (parx_choice.h).  Instead of taking the cables away, the paths have the
 * least (avoided cables, hops, load) in this order: nothing becomes unreachable that was not.
 *
 * More than the paper: any number of dimensions, odd sizes, missing cables (parx_dags.h).
 * Destinations that a demand names come first, as in the paper, but a LID counts only the sources
 * whose messages take it (parx_rules_lids()): on 12x8 with 672 hosts the maximum of large
 * messages falls from 1530 to 893 for a random permutation and from 6120 to 3570 for jobs of 14
 * against the same weight for all LIDs.  Where no demand is known paths go in dimension order,
 * which is at least as even when all traffic counts alike, and needs fewer VLs; and the terminals
 * of a switch are led apart, so that a job on two neighbouring switches has its bandwidth (SC19
 * Fig. 1) wherever these are.
 */
#pragma once

#include "engines/engine.h"

extern const struct engine engine_parx;
