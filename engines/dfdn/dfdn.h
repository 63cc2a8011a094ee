/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dfdn: balanced shortest paths; the virtual lane increases along the path.
 *
 * Deadlock-free by SL2VL tables rather than by layers, after Schneider, Bibartiu and Hoefler,
 * "Ensuring Deadlock-Freedom in Low-Diameter InfiniBand Networks" (HOTI16): DF-D2 where no path
 * has more than three switches, DF-DN elsewhere, with VLs counted from the source or from the
 * destination, whichever needs fewer SLs.  Other than in the paper the VL need not rise at every
 * hop (dfdn_tree.h), a path may skip VLs, and where first fit does not do the most constrained
 * path comes first (dfdn_tight.h).
 *
 * The paths are those of dfsssp (balanced over whole paths) or, with DFDN_MINHOP, of minhop
 * (balanced at every switch alone); VLs are never more than switches on the longest path.
 */
#pragma once

#include "engines/engine.h"

/* Refuses what is not connected, and with -ENOSPC what needs more VLs than may be used or more
 * than 16 SLs. */
extern const struct engine engine_dfdn;
