/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moved_paths: whose paths to a LID are others after some entries have changed, and where they
 * lead, before and after.
 *
 * Those are the paths of the switches that changed and of all whose entries lead to them; below a
 * changed entry both trees are alike.
 */
#pragma once

#include "fabric/model/tables/entry_changes.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct moved_paths {
	const struct fabric *f;
	const struct tables *t; /* as they are after the changes */
	uint32_t lid, dsw;
	uint8_t dport;
	uint32_t *sw, n; /* whose paths these are; dsw is never among them */
	bool before;	 /* of which moment the rest is */
	/* by switch that is on such a path */
	uint32_t *chan, *hops; /* hops FAB_NONE: does not arrive */
	uint32_t *order;       /* sw, the farthest first; those that do not arrive are left out */
	uint32_t norder;
	/* scratch */
	uint32_t *stamp, serial, *stack, *start;
	uint32_t *mark, round;	    /* by switch: it is in sw */
	uint32_t *changed;	    /* by switch: mark of this LID's changes */
	uint8_t *port_was, *sl_was; /* of those */
};

void moved_paths_init(struct moved_paths *m, const struct fabric *f);
void moved_paths_done(struct moved_paths *m);

/* By those n changes of one LID; t holds them.  O(moved switches * their cables). */
void moved_paths_find(struct moved_paths *m, const struct tables *t, uint32_t lid,
		      const struct entry_change *list, uint32_t n);
/* Of one switch, or of all (FAB_NONE), after moved_paths_find(). */
void moved_paths_take(struct moved_paths *m, uint32_t sw);

/* Follows them, before or after the changes; chan and hops of all that they pass are known then. */
void moved_paths_follow(struct moved_paths *m, bool before);

/* SL of an end on a switch. */
uint8_t moved_paths_sl(const struct moved_paths *m, uint32_t end, uint32_t sw);
