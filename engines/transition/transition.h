/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * transition: in which order the entries of new tables can be written so that no mixture of old
 * and new ever closes a cycle of dependencies or a forwarding loop.
 *
 * The model.  The writes of one wave happen in any order and at any time within it: every entry
 * that a wave changes is old or new at each switch on its own.  A wave begins when the one before
 * is written and read back and the packets that were under way then are gone (a packet lives no
 * longer than HOQLife lets it wait, times the hops; a network without a cycle of dependencies
 * drains).  A packet that met an old entry at one switch may meet a new one at the next, and
 * packets of both kinds may wait for each other.  So for each wave and LID all hops are
 * looked at that are possible (old and new where the wave writes, one where it does not); the
 * SLs that sources may use flow along them through the SL2VL tables; and what may wait for what
 * is the union over all LIDs.  A wave is safe when no LID's hops can go round in a circle
 * and the union over (channel, VL) has no cycle (Dally and Seitz).
 *
 * Nothing may be lost, either: where an old SL through new SL2VL tables, or a new one through
 * old ones, is dropped or gets a VL that the link does not have (OperVLs as far as known; 15 where
 * not), the LID cannot be there in that wave.  Losses that the old or the new tables have
 * by themselves are others' business (verify, plan_check_vls()).
 *
 * Per LID and wave that is exact: a dependency is there when some timing of the writes makes
 * some packet cause it.  What it leaves aside, on the safe side: that the LIDs of one block
 * change together, that the switches' own packets from port 0 are not counted (management is on
 * VL 15), and that no deadlock need follow from a cycle.
 *
 * Hosts: with sl_any a source may use the old or the new SL of a path at any time from the
 * beginning; without, old SLs only until the last wave, then either (hosts learn of new SLs in
 * phase 4, or when they next ask; connections may keep the old SL for ever).  Both count from
 * then on: the new forwarding must carry the old SLs as well, or their LIDs need the drain.
 *
 * SL2VL tables that differ are one wave of their own, before the LFTs or after them.
 *
 * The drain: LIDs whose traffic is moved away (phase 2: to the escape LIDs, which do not change
 * and have a VL of their own) before the first wave, and comes back after the last with the new
 * SLs.  Their entries are written along with others' and can neither loop nor wait.
 *
 * Old tables that have cycles already: a wave is safe when it adds none; inside the
 * components that the old dependencies of the LIDs that stay make up, those and no others may
 * come and go.  A changing LID that loops in the old tables needs the drain.
 *
 * A block of 64 LIDs is written once in each wave in which one of its LIDs changes; the rest
 * of it then is as it was or already new.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

enum transition_why {
	TRANSITION_OLD_LOOP, /* the old entries of the LID loop */
	TRANSITION_OLD_SL,   /* packets that keep the old SL would close a cycle in the new tables,
			      * or be lost there: no order of writes can help */
	TRANSITION_OTHERS,   /* the same, but only together with other LIDs that keep theirs */
	TRANSITION_NO_ORDER, /* no order was found in which it could stay */
};

struct transition_drain {
	uint16_t lid;
	uint8_t why; /* enum transition_why */
};

/* One block as it is to be written in a wave: the LIDs in now have their new entries from this
 * wave on; the others are as before. */
struct transition_write {
	uint32_t wave, sw, block;
	uint64_t now; /* bit k: LID block * 64 + k */
};

struct transition {
	struct transition_write *writes; /* ascending (wave, sw, block) */
	uint32_t nwrites;
	uint32_t blocks; /* that change: what one wave would write */
	uint32_t nwaves;
	uint32_t sl2vl_wave; /* in which SL2VL tables are written, if any differ */

	struct transition_drain *drain; /* ascending LIDs */
	uint32_t ndrain;
	uint32_t lids;	  /* LIDs in use of which an entry or an SL changes */
	bool irreducible; /* none of drain can be left out alone: OLD_LOOP and OLD_SL are certain,
			   * each by itself; each of the others was tried on top of all that
			   * stay, with the same search (params->quick: in three fixed waves).
			   * Another set may be smaller: the smallest one is as hard to find as a
			   * smallest set of arcs that meets all cycles.  False when the work ran
			   * out, as it may in updates of minutes */
	bool old_cyclic;  /* the old tables have cycles of dependencies of their own */
};

struct transition_params {
	bool sl_any;
	bool quick;	 /* all that changes in one wave, or in three fixed ones as far as it fits:
			  * what is done anyway when so much changes on so large a fabric that
			  * the whole search would take minutes.  Who is drained is found in one
			  * go, LIDs ascending, and irreducible */
	uint64_t effort; /* hops and dependencies to look at for a smaller drain after the first
			  * order was found; 0: 4 times all there are, and 40 million */
};

/*
 * Both tables must be of f; new must be connected, loop-free and deadlock-free (-EINVAL with a
 * sentence when that is noticed).  params may be NULL.  Progress steps: "changes", "new routes" and
 * others, each LIDs done of all; some come several times.  -ECANCELED.  Deterministic.  The search
 * takes LIDs as early as it can, in order of LIDs; a LID that cannot move at once moves switch by
 * switch from the destination outwards. Time O(LIDs * switches * SLs) per wave, and the searches in
 * the graph, whose work is limited by counts; where even so it would take minutes (params->quick)
 * it is in fixed waves.  Memory O(channels * VLs + dependencies).
 */
int transition_plan(struct transition **out, const struct fabric *f, const struct tables *old,
		    const struct tables *new, const struct transition_params *params,
		    struct progress *progress, struct err *err);
void transition_free(struct transition *t); /* NULL is fine */
