/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nue_balance: every LID over the least loaded channels that its destination switch's tree and
 * the order of its layer leave it.
 */
#pragma once

#include "engines/graph/graph.h"
#include "engines/nue/nue_layer.h"
#include "fabric/base/memory/pool.h"
#include "fabric/model/tables/tables.h"

#include <stdint.h>

struct nue_load {
	uint64_t *chan; /* by channel: routes over it times its weight, counting all traffic LIDs of
			 * terminals, and what a slow one begins with */
	uint64_t max;	/* the most of them */
	uint64_t work;	/* edges looked at */
};

void nue_load_done(struct nue_load *l);

/* Fills the LFTs for the traffic LIDs and switches.  The k layers hold every switch once.
 * by_rounds: a LID of every switch, then the next of every switch, and so on, which balances better
 * but on trees, if that does not need too much memory; else all LIDs of a switch one after another.
 * pool: threads, which change nothing.  -ECANCELED; progress step "paths".  The caller frees *out
 * with nue_load_done() in any case. */
int nue_balance(struct nue_load *out, struct tables *t, const struct nue_layer *layer,
		const struct nue_trees *trees, uint32_t k, uint8_t lmc, bool by_rounds,
		struct pool *pool, struct progress *progress);
