/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lft_hops: next hops LID by LID, for who follows the paths of many LIDs, or of the same ones
 * again.
 *
 * LFTs lie switch by switch, so that each hop of a path is in a page of its own.  Here the hops of
 * one LID lie together, a byte per switch, copied for the 64 LIDs of a block when the first of them
 * is asked for.
 */
#pragma once

#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdint.h>

#define PLACE_NONE UINT8_MAX /* the entry leads to no other switch */

/* A place is a channel, counted from the first one of its switch. */
struct lft_hops {
	const struct fabric *f;
	const struct tables *t;
	uint8_t *place;	 /* by switch * width + port */
	uint16_t *next;	 /* likewise: the switch there, or the same one */
	uint32_t width;	 /* ports of the largest switch, port 0, and one that nobody has */
	uint8_t **block; /* by LID / LFT_BLOCK: LID by LID a port per switch; NULL: not read yet */
	uint32_t nblock;
	uint64_t reads; /* entries that lft_hops_at() copied */
};

/* Of t, which lft_hops_done() does not need any more and only lft_hops_set() may change. */
void lft_hops_init(struct lft_hops *p, const struct fabric *f, const struct tables *t);
void lft_hops_done(struct lft_hops *p);

static inline size_t lft_hops_index(const struct lft_hops *p, uint32_t sw, uint8_t port)
{
	return (size_t)sw * p->width + (port < p->width ? port : p->width - 1);
}

/* Place of a port. */
static inline uint8_t lft_hops_place(const struct lft_hops *p, uint32_t sw, uint8_t port)
{
	return p->place[lft_hops_index(p, sw, port)];
}

/* The switch behind a port; the same one when no other is there. */
static inline uint32_t lft_hops_next(const struct lft_hops *p, uint32_t sw, uint8_t port)
{
	return p->next[lft_hops_index(p, sw, port)];
}

/* Copies a block that was not read yet; different ones may be by several threads at a time.
 * Time O(64 * switches). */
void lft_hops_read(struct lft_hops *p, uint32_t block);

/* Where the ports towards a LID go that the caller writes to the tables, all at once and instead of
 * a copy of its block; no other LID of the block may be asked for that was not written too. */
uint8_t *lft_hops_fill(struct lft_hops *p, uint32_t lid);

/* Ports of all switches towards a LID; that of the LID's own switch leads nowhere. */
static inline uint8_t *lft_hops_at(struct lft_hops *p, uint32_t lid)
{
	if (!p->block[lid / LFT_BLOCK]) {
		lft_hops_read(p, lid / LFT_BLOCK);
		p->reads += (uint64_t)p->f->nsw * LFT_BLOCK;
	}
	return p->block[lid / LFT_BLOCK] + (size_t)(lid % LFT_BLOCK) * p->f->nsw;
}

/* Sets an entry to that port, here and in t, which is that of lft_hops_init(). */
static inline void lft_hops_set(struct lft_hops *p, struct tables *t, uint32_t sw, uint32_t lid,
				uint8_t port)
{
	lft_hops_at(p, lid)[sw] = port;
	tables_row(t, sw)[lid] = port;
}
