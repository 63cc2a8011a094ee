/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_arrivals: over which channels the traffic to a LID reaches the switch where it ends, by
 * SL. From one LID to the next of a switch only those sources are counted again whose path or SL
 * has changed.
 */
#pragma once

#include "engines/verify/verify_walk.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/fabric.h"

#include <stdint.h>

struct arrivals {
	const struct fabric *f;
	uint32_t *last; /* by switch: last channel of its path */
	uint32_t
		*count; /* by channel into the switch, in the order of those out, and SL: sources */
};

/* mem holds its arrays. */
void arrivals_init(struct arrivals *a, const struct fabric *f, struct arena *mem);
/* Counts from nothing; sent: SLs by source switch.  All switches must arrive.  O(nsw). */
void arrivals_count(struct arrivals *a, const struct walk *w, const uint16_t *sent);
/* After arrivals_count() for the LID before: a switch whose path or SLs are others now, with the
 * SLs that it had then.  O(hops). */
void arrivals_update(struct arrivals *a, const struct walk *w, uint32_t u, uint16_t sent,
		     uint16_t old);
/* SLs that come over the reverse of channel c, which leaves the switch. */
uint16_t arrivals_sls(const struct arrivals *a, const struct walk *w, uint32_t c);
