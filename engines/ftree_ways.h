/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ftree_ways: the channels that all switches of a fat tree take towards some LIDs of one switch, as
 * the turns have it.
 */
#pragma once

#include "engines/geometry/fattree.h"
#include "engines/geometry/fattree_turns.h"
#include "engines/graph/graph.h"
#include "engines/graph/spdag.h"
#include "engines/graph/updown.h"
#include "fabric/model/topology/chan_weight.h"

#include <stdbool.h>
#include <stdint.h>

#define FTREE_LIDS 64 /* at a time */

/* What the turns go by, for all. */
struct ftree_net {
	const struct fabric *f;
	const uint8_t *level; /* of the tree of levels */
	struct fattree *tree;
	struct fattree_turns *turns;
	struct updown ud;
	const struct chan_weights *weights; /* the caller's */
	uint8_t *slots_of;		    /* by channel */
	uint32_t *slot_dst;		    /* by slot of the tree: switch to which it leads */
	uint32_t *first_slot; /* by pattern, and one more: number of its first slot among all's */
	/* slots that lead to a switch: into_off[switch] onwards */
	uint32_t *into_off;
	struct ftree_slot {
		uint32_t sw, number; /* the switch that it leaves, and which of all patterns' */
	} * into;
	/* numbers of slots without cables: missing_off[switch] onwards */
	uint32_t *missing_off, *missing;
	bool *only_slots[2]; /* by switch: all its channels that go down the ranking, or up, are */
	bool *slots_up;	     /* by switch: all slots go up the ranking */
	uint32_t *like;	     /* by switch: one that has all the neighbours above it that it has */
};

/* f and levels have to stay.  shares: cables take turns by their rates. */
void ftree_net_init(struct ftree_net *net, const struct fabric *f, const struct tree *levels,
		    const struct chan_weights *weights, bool shares);
void ftree_net_done(struct ftree_net *net);

/* Cable up that a number takes from u, FAB_NONE: it is missing, or u is at the top. */
uint32_t ftree_net_up(const struct ftree_net *net, uint32_t u, uint32_t number);
bool ftree_net_is_top(const struct ftree_net *net, uint32_t u);

/* The best neighbours above a switch. */
struct ftree_above {
	uint32_t root; /* on the way there */
	uint32_t hops; /* of the best */
	uint32_t first, n;
};

struct ftree_ways {
	struct arena *mem; /* owns the arrays */
	struct spdag dag;  /* its edges: only those of the first ndown positions, which go down */
	uint32_t ndown;
	bool whole;		   /* no slot on the ways is without its cable */
	uint8_t *way;		   /* by position: how it chooses */
	uint32_t *nedge;	   /* by position */
	struct ftree_above *above; /* by switch, when it was asked for */

	/* the LIDs at hand */
	uint32_t n;
	uint32_t *chan;	  /* by position * n + LID; FAB_NONE: left open */
	uint64_t *open;	  /* by switch: LIDs, a bit each */
	uint64_t *waits;  /* by switch: LIDs whose slots lead to one that is open for them */
	uint64_t *takers; /* by slot of all patterns: LIDs whose turn it is */
	uint32_t *taken;  /* by pattern's first slot, onwards: slots with any ... */
	uint32_t *ntaken; /* ... by pattern, how many */
	uint32_t *turn;	  /* by pattern * n + LID: slot */
	uint32_t *child;  /* by level * n + LID: channel down that it would come up, or FAB_NONE */
	uint32_t *routes; /* by switch * n + LID */
};

void ftree_ways_init(struct ftree_ways *w, const struct ftree_net *net);
void ftree_ways_done(struct ftree_ways *w);

/* Towards that switch from now on. */
void ftree_ways_turn_to(struct ftree_ways *w, const struct ftree_net *net, uint32_t root);

/* The channels by which position i may go on; room for 256. */
uint32_t ftree_ways_edges(const struct ftree_ways *w, const struct ftree_net *net, uint32_t i,
			  uint32_t *chan);

/* Channels for n LIDs with these numbers.  free: leaves those open that cannot have theirs, and
 * those behind them; else they take any.  Returns which LIDs have open ones, a bit each. */
uint64_t ftree_ways_choose(struct ftree_ways *w, const struct ftree_net *net,
			   const uint32_t *number, uint32_t n, bool free);

/* Adds routes times weights of what comes over ways that are not open. */
void ftree_ways_add_loads(struct ftree_ways *w, const struct ftree_net *net, uint64_t *load);

/* Entries of the LIDs but those of open ways, which may be written later on. */
void ftree_ways_write(const struct ftree_ways *w, const struct ftree_net *net, struct tables *t,
		      const struct dest *d);
