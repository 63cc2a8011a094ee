/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * repair_play: a fabric in which cables, line cards and switches go and come back, repaired each
 * time, and what must hold then.
 *
 * After every event the whole verifier judges what is left, and says the same as the kept verdict
 * in all figures, as the metrics do; the changes are those that were told, and no others; their
 * writes are played in random orders (write_judge.h); nothing moves when nothing is broken, and
 * with all cables back all paths come back.  Where a repair is refused, the engine does it on its
 * own, judged, too.
 */
#pragma once

#include "engines/metrics/kept_metrics.h"
#include "engines/repair/repairer.h"
#include "engines/verify/kept/kept_verdict.h"
#include "tests/unit/kit/cable_events.h"

struct repair_play {
	struct cable_events e;
	const struct tables *t; /* of the beginning */
	struct repairer *r;
	struct kept_verdict *k;
	struct kept_metrics *m;
	struct entry_changes changes;
	struct repair_report report;
	uint32_t orders; /* of writes to be played after each event; 0: none */
	char why[600];	 /* what went wrong */
	/* sums */
	uint32_t events, refused, stuck, one_wave, waves, drained;
	uint64_t needed, changed;
};

/* p->orders is set.  False with why; true and p->r NULL where the tables can deadlock. */
bool repair_play_begin(struct repair_play *p, const struct fabric *f, const struct tables *t,
		       uint64_t seed);
void repair_play_end(struct repair_play *p);

/* False with why. An event that cannot be is none. */
bool repair_play_event(struct repair_play *p, enum cable_event kind);
/* Some of what was moved goes back, that many entries at a time, until no more can. */
bool repair_play_move_back(struct repair_play *p, uint32_t most);
/* All cables are there again, and all paths as they were. */
bool repair_play_all_back(struct repair_play *p);
