/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host_play: a fabric in which hosts go, come back, move to other switches, and cables get slower,
 * go and come back; each time the engine repairs the tables of before, and what must hold then.
 *
 * Each state is a fabric of its own, as another sweep finds it; tables are carried over by GUIDs
 * (carry.h).  The whole verifier judges the repaired ones, and a kept verdict made from them says
 * the same; ibdmchk does, where it is asked; the writes are played in random orders; a host that
 * goes or comes moves nobody else's paths.
 */
#pragma once

#include "fabric/base/hash/rng.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"
#include "tests/unit/kit/cable_events.h"

struct host_play {
	const struct fabric *f; /* all that there ever is; small */
	struct cable_events e;
	bool *away;   /* by end */
	uint32_t *at; /* by end: its switch */
	bool *slow;   /* by channel */
	const struct fabric *now;
	const struct tables *t;
	uint32_t orders;   /* of writes to be played after each event */
	const char *files; /* a folder for the files of ibdmchk; NULL: it is not asked */
	char why[600];	   /* what went wrong */
	/* sums */
	uint32_t events, again; /* again: routed again, as there was no repair */
	uint32_t asked, refused; /* of ibdmchk; refused: it could not read what it was given */
	uint64_t needed, changed;
};

/* p->orders and p->files are set.  False with why. */
bool host_play_begin(struct host_play *p, const struct fabric *f, const char *engine, uint64_t seed);
void host_play_end(struct host_play *p);
/* One at random. */
bool host_play_event(struct host_play *p);
