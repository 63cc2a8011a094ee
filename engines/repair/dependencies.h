/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dependencies: which (channel, VL) waits for which, kept free of cycles while more are added.
 *
 * First all those of paths that stay are marked, by many threads at once; then they are ordered,
 * and from then on one by one is added where it closes no cycle: what is ahead of its end is
 * searched as far as its beginning, by turns with what is behind that, until one of both is all
 * known (after Bender, Fineman, Gilbert and Tarjan, "A new approach to incremental cycle
 * detection", 2016); that moves.  The VL may change from one channel to the next, as SL2VL tables
 * want it.
 */
#pragma once

#include "engines/graph/graph.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct dependencies {
	const struct fabric *f;
	struct turns turns;
	unsigned nvl;	/* VLs are below it */
	uint16_t *next; /* by turn * nvl + VL on its first channel: bits of VLs on the second */
	/* by channel * nvl + VL: a number that is smaller than those of what it waits for, and what
	 * is before and after it in the order of the numbers; one more is the end of the list */
	uint64_t *place;
	uint32_t *before, *after;
	uint64_t *added;   /* to be taken back: both channels of a turn, 32 bits each */
	uint8_t *added_vl; /* both VLs, 4 bits each */
	uint32_t nadded, cap;
	/* as next: those that would close a cycle with what is there for good */
	uint16_t *refused;
	size_t *refused_list;
	uint32_t nrefused, refused_cap;
	uint32_t settled; /* so many of added are there for good */
	/* of a search */
	uint32_t *reach, *back;
	uint8_t *seen; /* DEPENDENCIES_AHEAD, _BEHIND */
};

struct dependencies *dependencies_new(const struct fabric *f, unsigned nvl);
void dependencies_free(struct dependencies *d); /* NULL is fine */

/* The turn from c on that VL to e, which leaves where c arrives, on vl2; any thread may. */
static inline void dependencies_mark(struct dependencies *d, uint32_t c, unsigned vl, uint32_t e,
				     unsigned vl2)
{
	uint16_t *p = &d->next[(size_t)turns_at(&d->turns, c, e) * d->nvl + vl];
	uint16_t bit = (uint16_t)(1u << vl2);

	if (!(__atomic_load_n(p, __ATOMIC_RELAXED) & bit))
		__atomic_fetch_or(p, bit, __ATOMIC_RELAXED);
}

/* Orders what was marked, once; false: it has a cycle. O(turns * VLs). */
bool dependencies_order(struct dependencies *d);

/* False when it would close a cycle; nothing is changed then. */
bool dependencies_add(struct dependencies *d, uint32_t c, unsigned vl, uint32_t e, unsigned vl2);
/* What was added so far stays, or is taken back by dependencies_undo_settled(). */
static inline void dependencies_settle(struct dependencies *d)
{
	d->settled = d->nadded;
}
/* Takes back all but the first n that were added, which are all that are settled or more. */
void dependencies_undo(struct dependencies *d, uint32_t n);
/* The same of those that are settled. */
void dependencies_undo_settled(struct dependencies *d, uint32_t n);
