/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * needed_entries: how many entries of a repair no other tables could have left as they were.
 *
 * An entry has to change where it leads nowhere, or where no path over it can be as short as the
 * one that the switch has now.  So this is the least for all tables whose paths are not longer.
 */
#pragma once

#include "engines/repair/lid_tree.h"
#include "engines/repair/repair_state.h"

struct needed_entries {
	uint64_t changed, needed;
	/* owned */
	uint32_t *dist, *queue;
	uint32_t dist_to; /* of which switch; FAB_NONE: of none yet */
};

void needed_entries_init(struct needed_entries *n, const struct fabric *f);
void needed_entries_done(struct needed_entries *n);
/* Cables went or came back: distances are others. */
void needed_entries_forget(struct needed_entries *n);

/* Adds the changes from the first on, which are those of a destination whose tree is x now.
 * O(changes), and O(channels) once for each switch in a row. */
void needed_entries_add(struct needed_entries *n, const struct repair_state *r,
			const struct dest *d, const struct lid_tree *x, uint32_t first);
