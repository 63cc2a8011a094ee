/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shift_loads: the flows on every channel in every shift over all hosts, and the entries of tables
 * moved to where these meet least.
 *
 * Hosts in the order of their names each send to the one that many places further, rail by rail.
 */
#pragma once

#include "engines/graph/graph.h"
#include "engines/graph/spdag.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct shift_loads;

/* Of the base LIDs, which t routes; both have to stay.  *out NULL: the fabric is too large for
 * that. -ECANCELED.  O(switches * terminals * hops + terminals^2). */
int shift_loads_new(struct shift_loads **out, const struct fabric *f, struct tables *t,
		    struct pace *p);
void shift_loads_free(struct shift_loads *x); /* NULL is fine */

/* Takes the edge of the DAG for the entry of switch u to the base LID of a terminal on the root by
 * which its flows meet the fewest others; every switch has to follow the DAG.  True when that is
 * another one than before. */
bool shift_loads_move(struct shift_loads *x, const struct spdag *g, uint32_t u, uint32_t term);
