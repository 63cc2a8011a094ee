/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shift_detours: entries of tables moved, one after another, to where the flows of shifts over all
 * hosts meet least, over any channel, so that paths may get longer.
 *
 * All paths of a layer climb in an order of the channels, before and after: then no packet waits
 * for one that waits for it.  The order gives way where it can (nue_turns.h).  Flows that meet on a
 * channel cost their number to the power of 5/4: one among many costs little, one that finds a
 * channel for itself gains much.
 */
#pragma once

#include "engines/graph/shift_flows.h"
#include "engines/graph/graph.h"
#include "engines/nue/nue_turns.h"
#include "fabric/model/tables/tables.h"

#include <stdint.h>

struct shift_detours_how {
	const struct chan_weights *weights;
	struct nue_turns *const *turns; /* by LID: those of its layer, none yet */
	const uint16_t *const *hops; /* by destination switch: the fewest hops to it, by switch */
	uint32_t more;		     /* hops that a path may have */
	unsigned fuller_pct; /* how many routes more than the fullest has a channel may get */
};

struct shift_detours;

/* Base LIDs of terminals in t, which the search writes to; how and all it points to has to stay.
 * The fabric is small enough (shift_flows_fit()). */
struct shift_detours *shift_detours_new(struct tables *t, const struct fabric *f,
					const struct shift_detours_how *how);
void shift_detours_free(struct shift_detours *x);

/* So many rounds over all terminals, at others as in shift_price.  *moved: entries.  -ECANCELED. */
int shift_detours_move(uint64_t *moved, struct shift_detours *x, uint32_t others, unsigned rounds,
		       struct pace *p);
