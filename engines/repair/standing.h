/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * standing: what the installed tables still carry: which paths arrive, the routes on every channel,
 * and what waits for what.
 */
#pragma once

#include "engines/repair/repair_state.h"

/*
 * Fills broken, load, sls and vls of r from all its destinations, and marks the dependencies of
 * the paths that stand where r has deps.  -ECANCELED.  Counts p up by the destinations.  Time
 * O(LIDs * switches * SLs in use); the result does not depend on the number of threads.
 */
int standing_find(struct repair_state *r, struct pace *p);
