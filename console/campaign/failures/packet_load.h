/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packet_load: what hosts get through a routing as packets, in simulated time.
 *
 * Shifts: in each of some phases host i, in the order of names, sends a message to host i + d, d
 * spread over all distances; the next phase begins when all has arrived.  All-to-all: each host
 * sends to eight others at a time.  A deadlock ends a phase with what has arrived.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/tables/tables.h"

#include <stdbool.h>
#include <stdint.h>

struct packet_load {
	double shift_GBps, all_to_all_GBps; /* payload for each host */
	uint32_t deadlocks;		    /* phases that ended in one */
};

/* Deterministic.  -ECANCELED.  O(hosts * hops * log links). */
int packet_load_measure(struct packet_load *out, const struct fabric *f, const struct tables *t,
			uint64_t seed, struct err *err);
