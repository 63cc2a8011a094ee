/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dependencies: which (channel, VL) waits for which, kept free of cycles while more are added.
 *
 * First all those of paths that stay are marked, by many threads at once; then they are ordered,
 * and from then on one by one is added where it closes no cycle (Pearce and Kelly, "A dynamic
 * topological sort algorithm for directed acyclic graphs", 2007).  The VL may change from one
 * channel to the next, as SL2VL tables want it.
 */
#pragma once

#include "engines/graph/graph.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct dependencies {
	const struct fabric *f;
	struct turns turns;
	unsigned nvl;	   /* VLs are below it */
	uint16_t *next;	   /* by turn * nvl + VL on its first channel: bits of VLs on the second */
	uint32_t *place;   /* by channel * nvl + VL: in the order ... */
	uint32_t *at;	   /* ... and what is at a place */
	uint64_t *added;   /* to be taken back: both channels of a turn, 32 bits each */
	uint8_t *added_vl; /* both VLs, 4 bits each */
	uint32_t nadded, cap;
	/* of a search */
	uint32_t *reach, *back, *pool;
	uint8_t *seen;
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
/* Takes back all but the first n that were added. */
void dependencies_undo(struct dependencies *d, uint32_t n);
