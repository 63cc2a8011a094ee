/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shift_search: entries of tables moved, one after another, to where the flows of shifts over all
 * hosts meet least.
 */
#pragma once

#include "engines/graph/graph.h"
#include "engines/graph/balance/min_load_tree.h"
#include "engines/graph/shift_flows.h"
#include "engines/graph/spdag.h"
#include "fabric/model/tables/tables.h"

#include <stdbool.h>
#include <stdint.h>

struct shift_search_how {
	balance_build_fn build; /* which the tables follow; NULL: shortest paths */
	void *ctx;
	const struct chan_weights *weights;
	/* By LID: where all its paths have to climb, the place of a channel, by channel, or NULL;
	 * NULL: nowhere. */
	const uint32_t *const *places;
	/* May the entry of that switch to a terminal move?  NULL: all may. */
	bool (*is_free)(void *ctx, uint32_t sw, uint32_t term);
	uint32_t others;     /* what all other traffic counts; 0: nothing */
	unsigned fuller_pct; /* how many routes more than the fullest before a channel may get */
	unsigned mild;	 /* rounds before the others in which few flows more cost hardly more: they
			  * lead away from where each entry is best, yet many could be better */
	unsigned rounds; /* over all terminals, at most; they end when nothing moves */
};

#define SHIFT_SEARCH_ROUNDS 6
#define SHIFT_SEARCH_MILD   3	/* gain off trees */
#define SHIFT_SEARCH_OTHERS 400 /* good for bisections, too */

/* Base LIDs of terminals, where the fabric is small enough.  Paths keep their numbers of hops.
 * -ECANCELED.  *moved: entries; NULL is fine. */
int shift_search(uint64_t *moved, struct tables *t, const struct fabric *f,
		 const struct shift_search_how *how, struct pace *p);
