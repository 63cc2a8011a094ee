/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * first_fit_order: the paths to one LID in an order in which each comes after the one it joins.
 *
 * Kept from one LID of a destination switch to the next, at whose tree only what has moved is
 * looked at.
 */
#ifndef ENGINES_GRAPH_FIRST_FIT_ORDER_H
#define ENGINES_GRAPH_FIRST_FIT_ORDER_H

#include "engines/graph/lft_columns.h"

/* The paths to one LID, by position: a switch comes after its next switch. */
struct order {
	uint32_t *at; /* switch at a position */
	uint32_t *pos, *depth, *count, *stack;
	uint32_t *parent; /* position of the next switch */
	uint32_t *chan;
	uint32_t *hop, *next; /* by switch: channel and switch that follow, of one LID */
	uint32_t *moved;      /* switches with another next channel than for the LID before */
	uint32_t nmoved;
	bool *need;	/* an open path comes through */
	bool *inner;	/* it may be that paths come through */
	bool *same;	/* path is that of the LID before */
	bool *kept;	/* path is that of the tables to keep */
	uint16_t *have; /* layers that hold the whole path */
	uint16_t *pass; /* layers of kept paths that come through */
};

void order_init(struct order *o, uint32_t nsw);
void order_done(struct order *o);

/* Positions for LID k of the columns, which hangs on switch root; k - 1 was the one before.
 * FAB_NONE, or a switch from which there is no way.  *few: all that differs from the LID before is
 * in moved, by position, which leads to who has stayed; same is not filled then.  O(nsw). */
uint32_t order_find(struct order *o, const struct fabric *f, const struct lft_columns *col,
		    uint32_t k, uint32_t root, bool *few);

/* Fills same where order_find() said *few. */
void order_spread_moves(struct order *o, uint32_t nsw);

#endif
