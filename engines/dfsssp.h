/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dfsssp: shortest paths balanced over the whole fabric, free of deadlocks by virtual lanes.
 *
 * Destinations go in the order of their LIDs.  OpenSM goes switch by switch instead, those with
 * most terminals first: with LIDs in the order of the cabling the outcome is the same, with
 * LIDs in random order OpenSM's and ours differ in which links are shared.
 */
#ifndef ENGINES_DFSSSP_H
#define ENGINES_DFSSSP_H

#include "engines/engine.h"

extern const struct engine engine_dfsssp;

#endif
