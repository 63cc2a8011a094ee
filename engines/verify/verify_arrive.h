/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_arrive: over which channels the traffic to a LID reaches the switch where it ends, by SL.
 *
 * From one LID to the next of a switch only those sources are counted anew whose way or SL has
 * changed.
 */
#ifndef ENGINES_VERIFY_VERIFY_ARRIVE_H
#define ENGINES_VERIFY_VERIFY_ARRIVE_H

#include "engines/verify/verify_walk.h"
#include "fabric/model/fabric.h"

#include <stdint.h>

struct arrivals {
	const struct fabric *f;
	uint32_t *last; /* by switch: last channel of its way */
	uint32_t
		*count; /* by channel into the switch, in the order of those out, and SL: sources */
};

void arrivals_init(struct arrivals *a, const struct fabric *f);
void arrivals_done(struct arrivals *a);

/* Counts anew; sent: SLs by source switch.  All switches must arrive. */
void arrivals_count(struct arrivals *a, const struct walk *w, const uint16_t *sent);
/* After arrivals_count() for the LID before: a switch whose way or SLs are others now, with the SLs
 * that it had then.  O(hops). */
void arrivals_update(struct arrivals *a, const struct walk *w, uint32_t u, uint16_t sent,
		     uint16_t old);

/* SLs that come over the reverse of channel c, which leaves the switch. */
uint16_t arrivals_sls(const struct arrivals *a, const struct walk *w, uint32_t c);

#endif
