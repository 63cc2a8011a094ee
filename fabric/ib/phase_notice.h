/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * phase_notice: the messages between coordinator and nodes, independent of the transport.
 *
 * Traps 68 and 69 bring it to every subscriber, trap 144 brings the answer back.  Any of them
 * may be lost, doubled, late or overtaken; (txn, seq) says what is newer.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PHASE_NOTICE_VERSION 1

/* What is above is refused, whoever says it. */
#define PHASE_TXN_MAX  (1ull << 40)
#define PHASE_SEQ_MAX  0x0fffffffu /* 4,095 processes that take over, 65,535 notices each */
#define PHASE_HOLD_MAX 3600	   /* s */

enum phase_notice_flag {
	NOTICE_ABORT = 1,  /* 69: the update is called off, no table was changed */
	NOTICE_FAILED = 2, /* 144: what was asked for did not work; not drained, or not back */
	NOTICE_ASK = 4,	   /* 144: what now?  Sent on escape LIDs after a long silence; or at the
			    * start, on base LIDs, txn may be 0: is an update in progress? */
	/* 144, with FAILED: the question was refused and changed nothing, because ... */
	NOTICE_LATER = 8,  /* the agent has seen a later transaction, or a later process of it */
	NOTICE_BOUNDS = 16 /* a number of it is out of bounds */
};

#define NOTICE_REFUSALS (NOTICE_LATER | NOTICE_BOUNDS)

struct phase_notice {
	uint8_t version; /* PHASE_NOTICE_VERSION; others are not for us */
	uint8_t phase;	 /* PHASE_UNPATH (68) or PHASE_REPATH (69); in an answer, of the question */
	uint16_t flags;	 /* enum phase_notice_flag */
	uint16_t repeat; /* of an answer, counted up: an SM swallows traps that are equal */
	uint16_t hold_s; /* 68: an agent must not leave the escape LIDs by itself earlier; 0: own */
	uint32_t seq;	 /* grows with every notice of a transaction; an answer repeats it */
	uint64_t txn;	 /* the transaction; a later one has a higher number; 0 is none */
};

static inline bool phase_notice_in_bounds(const struct phase_notice *n)
{
	return n->txn <= PHASE_TXN_MAX && n->seq <= PHASE_SEQ_MAX && n->hold_s <= PHASE_HOLD_MAX;
}
