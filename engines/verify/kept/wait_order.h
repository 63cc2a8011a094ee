/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_order: an order of all (channel, VL) in which whoever waits comes before what it waits for,
 * kept while dependencies are added; one that is there proves that there is no deadlock.
 *
 * Between both ends of a new one the order is made again (Pearce and Kelly 2007).  Dependencies are
 * those that flow_counts counts.
 */
#pragma once

#include "engines/verify/kept/flow_counts.h"

#include <stdbool.h>
#include <stdint.h>

struct wait_order {
	const struct flow_counts *flows;
	uint32_t nvl;
	uint32_t *place, *at; /* by chan * nvl + VL, and back */
	uint32_t *ahead, *behind, *places;
	uint8_t *seen;
};

/* Of all dependencies that there are; false: they have a cycle. */
bool wait_order_init(struct wait_order *o, const struct flow_counts *flows);
void wait_order_done(struct wait_order *o);

/* That one more comes; false: it closes a cycle.  It need not be counted yet. */
bool wait_order_add(struct wait_order *o, uint32_t c, unsigned vl, uint32_t e, unsigned vl2);
