/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parx_choice: which LIDs small and large messages should take on given tables of a HyperX.
 *
 * The rule of parx_rules_lids() for every pair of quadrants, held against the tables: where missing
 * cables make one of its LIDs miss its purpose the pair of switches becomes an exception that
 * leaves it out, or names the LIDs that serve instead.  The purpose of a small message's LID is
 * the fewest hops; that of a large one's, where both switches are in one half, a path without
 * any cable that a shortest path between them could take.
 */
#pragma once

#include "engines/parx/parx_check.h"
#include "fabric/base/message/err.h"
#include "fabric/model/tables/lid_choice.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

/* Classes are the quadrants, counter-clockwise from the lower half of both dimensions as in the
 * paper; with more dimensions in the order of a Gray code, and apart for switches in the middle
 * of an odd dimension, which count to the upper half.  pin as in parx_check().  The caller owns
 * *out.
 * -EINVAL: no HyperX (hyperx.h), LMC too small, or a LID that does not arrive.
 * Time O(switches * LIDs * hops). */
int parx_choice_find(struct lid_choice **out, const struct fabric *f, const struct tables *t,
		     const bool *pin, struct err *err);

/* One that holds what it promises, with the verdict that says so, whoever made the tables; *out
 * NULL: there is none.  0 or -ECANCELED. */
int parx_choice_seek(struct lid_choice **out, struct parx_verdict *v, const struct fabric *f,
		     const struct tables *t, const bool *pin, struct progress *progress);

/* The LIDs of a choice as predict.h asks for them. */
struct parx_lids {
	const struct fabric *f;
	const struct lid_choice *choice;
};

uint32_t parx_small_lids(void *ctx, uint32_t src, uint32_t dst, uint16_t *lids);
uint32_t parx_large_lids(void *ctx, uint32_t src, uint32_t dst, uint16_t *lids);
