/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cable_events: cables, line cards and switches of a fabric that go and come back at random, so
 * that whoever is left is connected. */
#pragma once

#include "fabric/base/hash/rng.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>

enum cable_event { LOSE_CABLE, LOSE_CARD, LOSE_SWITCH, CABLE_BACK, SWITCH_BACK, CABLE_EVENTS };

struct cable_events {
	const struct fabric *f;
	struct rng rng;
	bool *down; /* by channel */
	bool *gone; /* by switch: all its cables are down */
};

void cable_events_init(struct cable_events *e, const struct fabric *f, uint64_t seed);
void cable_events_done(struct cable_events *e);

/* One of that kind; false where there can be none.  A line card is half of a switch's cables. */
bool cable_events_happen(struct cable_events *e, enum cable_event kind);
void cable_events_all_back(struct cable_events *e);
bool cable_events_any_gone(const struct cable_events *e);

/* What is left, LIDs as they were.  The caller owns one reference. */
struct fabric *cable_events_fabric(const struct cable_events *e);
/* Tables of the whole fabric there. */
struct tables *cable_events_tables(const struct cable_events *e, const struct fabric *now,
				   const struct tables *t);
