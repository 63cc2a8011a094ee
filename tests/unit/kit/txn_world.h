/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn_world: a fabric with connections that send without end, and an update of its tables: what is
 * to be written and in which waves, written block by block while the packets go on.
 */
#pragma once

#include "engines/transition/transition.h"
#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/vec.h"
#include "fabric/sim/packet/packets.h"

#include <stdbool.h>
#include <stdint.h>

#define WORLD_STEP_ns  2000
#define WORLD_LIMIT_ns 20000000 /* whatever takes longer than this stands */

struct world_write {
	uint32_t wave, sw, block;
	uint64_t now; /* LIDs of the block; 0: SL2VL of (in, out) */
	uint8_t in, out;
};

struct world_conn {
	uint32_t src;
	uint16_t dlid; /* base */
	bool escape;   /* sends to the escape LID now */
};

struct world {
	const struct fabric *f;
	const struct tables *old, *new;
	const struct transition *plan;
	struct packets *p;
	struct rng rng;
	uint32_t nconn;
	struct world_conn *conn;
	VEC(struct world_write) writes;
	bool deadlock;
};

/* Two tables with escape LIDs on a fabric by chance, and their plan.  largest: switches of a random
 * net, from 8 on; others have up to 36.  false: this seed has none. */
struct world_pair {
	struct fabric *f;
	struct tables *old, *new;
	struct transition *plan;
	char spec[96];
};
bool world_pair(struct world_pair *out, unsigned largest, uint64_t seed);
void world_pair_free(struct world_pair *w);

/* Connections, under way for 20 us already, and all writes, in the waves of the plan or
 * in one.  life_ns: of a packet, 0: for ever. */
void world_begin(struct world *w, const struct world_pair *pair, bool waves, uint64_t life_ns,
		 uint64_t seed);
void world_end(struct world *w);

/* Time passes, but not beyond a deadlock. */
void world_wait(struct world *w, uint64_t ns);
/* The new contents, or the old ones again. */
void world_write(struct world *w, uint32_t i, bool back);
/* Are they there? */
bool world_holds(const struct world *w, uint32_t i, bool back);
bool world_holds_all(const struct world *w, bool back);

/* Sends from now on to the escape LID or to the base LID, with the SL of t. */
void world_migrate(struct world *w, uint32_t c, const struct tables *t, bool escape);
uint8_t world_sl(const struct world *w, uint32_t c, const struct tables *t, bool escape);
/* Until nothing of who is on hold is under way; false: not within WORLD_LIMIT_ns. */
bool world_drained(struct world *w);
