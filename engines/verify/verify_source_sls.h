/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_source_sls: which SLs the switches send with to the LIDs of one block, as masks.
 */
#pragma once

#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct source_sls {
	const struct fabric *f;
	const struct tables *t;
	uint32_t block;		 /* loaded; FAB_NONE: none */
	uint16_t *sent;		 /* LFT_BLOCK rows of nsw: by LID and source switch */
	uint8_t *as_read;	 /* the same as in the tables, by switch */
	bool bad[LFT_BLOCK];	 /* somebody uses an SL above 15 */
	uint16_t any[LFT_BLOCK]; /* SLs that anybody uses */
};

/* mem holds its arrays. */
void source_sls_init(struct source_sls *s, const struct fabric *f, const struct tables *t,
		     struct arena *mem);
/* True when the rows of another block were loaded; false where they are there already, or all
 * blocks are alike. */
bool source_sls_load(struct source_sls *s, uint32_t block);
/* SLs by switch towards a LID of the block. */
static inline const uint16_t *source_sls_to(const struct source_sls *s, uint32_t lid)
{
	return s->sent + (size_t)(lid % LFT_BLOCK) * s->f->nsw;
}
