/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * change: what a transaction writes, block by block, with the old contents beside the new.
 *
 * A block may be written in several waves: what one wave leaves is what the next one finds.
 * The changes of a block make a chain, in order of waves.
 *
 * Switches are known by GUID, so that a list read from a journal still fits a fabric that
 * was discovered again, with other cables or with a switch missing.
 */
#pragma once

#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/tables/tables_diff.h"
#include "fabric/model/topology/fabric.h"

#include <stddef.h>
#include <stdint.h>

enum change_kind { CHANGE_LFT, CHANGE_SL2VL };

#define CHANGE_LFT_BYTES   LFT_BLOCK /* one output port per LID */
#define CHANGE_SL2VL_BYTES 8 /* two VLs per byte, even SL in the high half, as on the wire */

struct change {
	uint64_t guid; /* of the switch */
	uint32_t sw;   /* index in the fabric at hand; FAB_NONE: not there */
	uint16_t block;
	uint8_t kind;	 /* enum change_kind */
	uint8_t in, out; /* ports of an SL2VL table */
	uint16_t wave;
	uint32_t prev, next; /* of the same block, in waves before and after; FAB_NONE: none */
	size_t at;	     /* old contents at data + at, new ones behind them */
};

struct changes {
	struct change *v;
	uint32_t n, nwaves;
	uint32_t nlft, nsl2vl;
	uint8_t *data;
	size_t ndata;
	struct digest *hash; /* of each change's old and new contents; NULL: not yet asked for */
};

static inline size_t change_bytes(const struct change *c)
{
	return c->kind == CHANGE_LFT ? CHANGE_LFT_BYTES : CHANGE_SL2VL_BYTES;
}

static inline const uint8_t *change_old(const struct changes *l, const struct change *c)
{
	return l->data + c->at;
}

static inline const uint8_t *change_new(const struct changes *l, const struct change *c)
{
	return l->data + c->at + change_bytes(c);
}

/* The first of its chain; the old contents of the first are those from before. */
static inline const struct change *change_first(const struct changes *l, const struct change *c)
{
	while (c->prev != FAB_NONE)
		c = &l->v[c->prev];
	return c;
}

/* All that differs, in the order of the diff: one wave.  Caller frees. */
struct changes *changes_new(const struct fabric *f, const struct tables *from,
			    const struct tables *to, const struct tables_diff *diff);

/* In which waves blocks are written: all bits of a block together are the entries that differ. */
struct change_write {
	uint32_t wave, sw, block;
	uint64_t now; /* bit k: LID block * 64 + k is new from this wave on */
};

struct change_order {
	struct change_write *v; /* ascending (wave, sw, block) */
	uint32_t n, nwaves;
	uint32_t sl2vl_wave; /* in which SL2VL tables are written, if any differ */
};

/* The same in waves; those without a change are left out.  -EINVAL with a sentence when the order
 * does not end at the new tables. */
int changes_in_order(struct changes **out, const struct fabric *f, const struct tables *from,
		     const struct tables *to, const struct tables_diff *diff,
		     const struct change_order *order, struct err *err);
/* Sets prev and next.  -EBADMSG: the changes of a block do not fit together.  O(n log n). */
int changes_link(struct changes *l);
struct changes *changes_copy(const struct changes *l); /* without the hashes */
void changes_free(struct changes *l);		       /* NULL is fine */

/* Finds the switches in another snapshot; returns how many changes have none there. */
uint32_t changes_bind(struct changes *l, const struct fabric *f);

/* Contents of one block or table as they stand in tables: CHANGE_*_BYTES into out. */
void change_contents(uint8_t *out, const struct change *c, const struct fabric *f,
		     const struct tables *t);

/* Sets hash, so that nobody has to wait for it while blocks are written. */
void changes_hash(struct changes *l);

/* "leaf04 LFT block 7", "leaf04 SL2VL 3->12"; f may be NULL (then by GUID). */
void change_name(char *buf, size_t size, const struct change *c, const struct fabric *f);
