/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_order: numbers for all (channel, VL), smaller for whoever waits than for what it waits for,
 * kept while dependencies are added; as long as there are such there is no deadlock.
 *
 * Where a new dependency is against the numbers, those that what is waited for waits for are looked
 * for, and those that wait for who waits, one of each by turns: all between both numbers.  The list
 * that ends first moves past the other end (the search from both sides of Bender, Fineman, Gilbert
 * and Tarjan 2016).  Dependencies are those that flow_counts counts.
 */
#pragma once

#include "engines/verify/kept/flow_counts.h"

#include <stdbool.h>
#include <stdint.h>

struct wait_order {
	const struct flow_counts *flows;
	uint32_t nvl, all;
	/* by chan * nvl + VL: all of them in a ring by their numbers, which begins and ends at all
	 */
	uint64_t *number;
	uint32_t *prev, *next;
	uint32_t *ahead, *behind; /* lists of a search */
	uint8_t *side;		  /* in which of them it is */
};

/* Of all dependencies that there are; false: they have a cycle. */
bool wait_order_init(struct wait_order *o, const struct flow_counts *flows);
void wait_order_done(struct wait_order *o);

/* That one more comes; false: it closes a cycle.  It need not be counted yet. */
bool wait_order_add(struct wait_order *o, uint32_t c, unsigned vl, uint32_t e, unsigned vl2);
