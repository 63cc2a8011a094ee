/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write_judge: plays the writes of a transition in random orders and looks for loops and cycles.
 *
 * Simple code that knows nothing of how the waves were found.  Every packet has a clock: in an
 * order of writes an entry is old up to its turn and new from then on, and no packet goes back
 * in time.  The judge also takes all orders of a wave together.
 */
#pragma once

#include "engines/transition/transition.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct judge_count {
	uint64_t waves, orders, states; /* states: after one more write */
	uint64_t walks, verified;	/* point states that verify_tables() has judged, too */
};

/* NULL when all went well, else what did not.  orders: random ones per wave. */
const char *judge_transition(const struct fabric *f, const struct tables *old,
			     const struct tables *new, const struct transition *t, bool sl_any,
			     uint32_t orders, uint64_t seed, struct judge_count *count);

/* Is there an order of single writes (one entry of one LID at a time) for all LIDs that change
 * but those drained?  Every order is tried: at most 16 entries may change, and SL2VL must not. */
bool judge_any_order(const struct fabric *f, const struct tables *old, const struct tables *new,
		     const bool *drained);
