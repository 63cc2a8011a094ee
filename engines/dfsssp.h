/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dfsssp: shortest paths balanced over the whole fabric, free of deadlocks by virtual lanes.
 *
 * Destinations go in the order of their LIDs.  OpenSM goes switch by switch, those with most
 * terminals first; where LIDs follow the cabling and switches are alike, that is the same order.
 * The order matters: on trees only that of the cabling is perfect, on direct networks a random
 * one balances better (dragonfly of 2,064 switches: at most 20,536 routes over a channel against
 * 27,344).
 */
#pragma once

#include "engines/engine.h"

extern const struct engine engine_dfsssp;
