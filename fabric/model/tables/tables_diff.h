/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tables_diff: what changes between two tables of one fabric, in the units in which it is written.
 */
#pragma once

#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

struct tables_diff_block {
	uint32_t sw;
	uint32_t block;	  /* LIDs block*64 .. block*64+63 */
	uint32_t entries; /* changed ones, 1..64 */
};

struct tables_diff_sl2vl {
	uint32_t sw;
	uint8_t in, out;
};

struct tables_diff {
	struct tables_diff_block *blocks; /* ascending (sw, block) */
	uint32_t nblocks;
	struct tables_diff_sl2vl
		*sl2vl; /* ascending (sw, in, out); only ports with something on them */
	uint32_t nsl2vl;
	uint64_t entries;     /* LFT entries changed */
	uint64_t entries_all; /* LFT entries of LIDs in use */
	uint32_t blocks_all;
	uint32_t switches; /* with a changed block or SL2VL table */
	uint64_t sl_pairs; /* (source switch with terminals, LID) whose SL changed */
};

/* Both tables must be of f.  Caller frees with tables_diff_free.  O(nsw * LIDs + ports^2). */
struct tables_diff *tables_diff_new(const struct fabric *f, const struct tables *from,
				    const struct tables *to);
struct tables_diff *tables_diff_copy(const struct tables_diff *d);
void tables_diff_free(struct tables_diff *d); /* NULL is fine */

/* Are LFTs and SL2VL tables equal, whatever the SLs of paths?  More cannot be compared with what
 * is read from switches. */
bool tables_forward_same(const struct fabric *f, const struct tables *a, const struct tables *b);
