/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agents_heard: what the agents of updates said last, whoever leads the updates, and who of them is
 * to be called back because nobody leads his any more.
 *
 * No clock, no I/O.  One thread.
 */
#pragma once

#include "fabric/base/memory/vec.h"
#include "fabric/ib/phase_notice.h"

#include <stdbool.h>

struct heard_agent {
	uint64_t guid; /* of its port; 0: not known, then the LID counts */
	uint64_t txn, at_ms;
	uint32_t seq;
	uint16_t lid, repeat, flags;
	uint8_t phase; /* of the question */
	bool asks;     /* and was not answered yet */
};

struct agents_heard {
	VEC(struct heard_agent) v; /* by GUID or LID */
	/* The transaction of a coordinator that sends its notices to the SM itself. */
	uint64_t outside_txn, outside_until_ms;
};

void agents_heard_free(struct agents_heard *h);
/* What an agent sent; older than what it said before: ignored. */
void agents_heard_take(struct agents_heard *h, const struct phase_notice *n, uint64_t guid,
		       uint16_t lid, uint64_t now_ms);
/* What a coordinator sent that is no client here: it answers its agents until it has called them
 * back, or they return by themselves. */
void agents_heard_outside(struct agents_heard *h, const struct phase_notice *n, uint64_t now_ms);
/* The next notice that calls agents back who asked; one is for all of a transaction.  false: none
 * of them is to be called back now. */
bool agents_heard_next(struct agents_heard *h, struct phase_notice *out, uint64_t now_ms);
