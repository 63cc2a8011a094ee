/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * repairer: installed tables of a fabric, kept with what makes their repair fast: the loads of
 * cables, and which (channel, VL) waits for which, in an order.
 *
 * It is made once, in a pass over all LIDs.  Then cables and switches of that fabric may go and
 * come back, as often as they like: only paths that break are looked at.  What is new in a fabric
 * (hosts, switches, cables, rates) takes a new one.
 */
#pragma once

#include "engines/engine.h"
#include "fabric/model/tables/entry_changes.h"

struct repairer;

struct repair_report {
	uint32_t lids;		  /* to which some switch had lost its path */
	uint64_t needed, changed; /* entries (needed_entries.h) */
	uint32_t away;		  /* entries that are not as they were in the beginning */
	unsigned vls;		  /* data VLs that ports must have */
	bool forgot; /* paths of the beginning may not be free of deadlocks beside those of now */
};

/*
 * From params->current, which every path has to arrive by and which are copied; of params vls,
 * threads and ignore_rates count.  -EDEADLK: they can deadlock, or packets are dropped; -ENOTSUP:
 * their SLs are by source; others as those of the engine.
 */
int repairer_new(struct repairer **out, const struct fabric *f, const struct engine_params *params,
		 struct progress *progress, struct err *err);
void repairer_free(struct repairer *x); /* NULL is fine */

/* As they are now, borrowed; those of another moment where they are held on to. */
const struct tables *repairer_tables(const struct repairer *x);

/*
 * Cables are down now as down says: by channel of the fabric, both directions alike.  Paths over
 * those that went get others; what came back is used where it is needed.  A switch whose cables are
 * all down is gone, with its ends: its entries stay as they are.  What changes is added to out,
 * destination by destination; written in this order, switch by switch, no path goes in a circle on
 * the way, and paths of before and after do not wait for each other in a circle.  For an order in
 * blocks, and packets that meet old and new entries on their way, see engines/transition.
 *
 * -ENETUNREACH: some switches are cut off; -ENOSPC: there is no way without a deadlock on the VLs
 * that may be used.  The tables are those of before then, and it has to be made again.
 * Time in proportion to what breaks, and O(channels); where a path finds no way beside what others
 * have depended on in the past, too, a pass over all LIDs forgets that.
 */
int repairer_update(struct repairer *x, const bool *down, struct entry_changes *out,
		    struct repair_report *report, struct err *err);

/* What repairer_update() would change, for whom it is only a question: all is as before afterwards,
 * also where nothing was found, and can be asked again. */
int repairer_try(struct repairer *x, const bool *down, struct entry_changes *out,
		 struct repair_report *report, struct err *err);

/* Moves paths back to where they were in the beginning, as far as the cables are there again: LID
 * by LID, until that many entries have changed (0: all).  After the last one the tables are those
 * it was made from.  report: away is 0, or as many as before where no more can be moved: their
 * cables are not there, or, where it forgot, they would close a cycle with others. */
void repairer_move_back(struct repairer *x, uint32_t most, struct entry_changes *out,
			struct repair_report *report);
