/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sent: what the entries of one LID put on which channel, kept until it is added to the loads.
 *
 * Most switches of low-diameter networks send the routes of their own terminals and no more, which
 * everybody knows: a byte says which channel they take.  Those that others send through have the
 * rest of theirs in a list.  Threads choose some LIDs, then share the switches: what passes from
 * one core to the other costs more than the sums, so it is kept small.
 */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdint.h>

struct sent_more {
	uint32_t sw, routes;
};

struct sent {
	uint32_t root;
	uint8_t *place;		/* by switch: its channel among those of the switch; the caller's */
	struct sent_more *more; /* by block of switches: ... */
	uint32_t *begin;	/* ... where each begins, one more at the end */
};

void sent_init(struct sent *s, const struct fabric *f);
void sent_done(struct sent *s); /* fine when all is 0 */

/* Blocks of switches, which may be added at the same time. */
uint32_t sent_blocks(const struct fabric *f);

/* Those of a LID that ends at root: the places of all other switches, which are copied to s->place,
 * and the routes that n of them pass on for others. */
void sent_set(struct sent *s, const struct fabric *f, uint32_t root, const uint8_t *place,
	      const struct sent_more *more, uint32_t n);

/* Adds what n LIDs send at the switches of some blocks to the loads by channel, sign times; weight:
 * routes by source switch. */
void sent_add(const struct sent *s, uint32_t n, const struct fabric *f, const uint32_t *weight,
	      uint64_t *load, int64_t sign, uint32_t from, uint32_t to);
