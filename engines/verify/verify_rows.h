/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_rows: the distinct rows of full SL2VL tables, as masks.
 *
 * Switches hold one row per pair of ports, but few that differ.  What flows is kept as lanes of
 * 16 SLs, four VLs to a word: lane VL of the words, bit SL.  A row sends SLs to lanes.
 */
#pragma once

#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdint.h>

#define ROWS_MAX_WORDS 4

struct rows {
	uint32_t n;
	uint32_t nwords; /* for the highest data VL that an SL in use can get: 1, 2 or 4 */
	uint8_t *vl;	 /* [row * FAB_SLS + SL] */
	uint64_t *lanes; /* [row * nwords + word]: SLs by VL */
	uint16_t *drop;	 /* per row: SLs without a data VL */
	uint32_t sls;	 /* that paths may have ... */
	uint32_t vls;	 /* ... and the data VLs that they can get anywhere */

	uint32_t *turn; /* per turn: row of (input, output); as deps numbers turns */
	/* per channel: rows from the ports of CAs and routers at its source */
	uint32_t *src_off, *src;
	bool one_src; /* all of these are src[0] */
};

/* base, nturns: turn (c, e) is base[c] + e.  The masks are right for the SLs that paths of t
 * have.  mem: holds the arrays, but vl, and outlives r.  step: of the progress.  Once cancelled
 * some may be missing: the next report says so. */
void rows_init(struct rows *r, struct arena *mem, const struct fabric *f, const struct tables *t,
	       const size_t *base, size_t nturns, struct progress *progress, const char *step);
void rows_done(struct rows *r);

/* A mask of SLs in every lane of a word. */
static inline uint64_t rows_spread(uint32_t sls)
{
	return sls * 0x0001000100010001u;
}

/* SLs in any lane of a word. */
static inline uint32_t rows_fold(uint64_t word)
{
	return (uint32_t)(word | word >> 16 | word >> 32 | word >> 48) & 0xffff;
}
