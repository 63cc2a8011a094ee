/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cdg_index: some channels of an acyclic dependency graph, and who leads to them and from them.
 *
 * Most turns that would close a cycle close it through a few busy channels.  Where e leads to one
 * of them, and that one to c, the turn from c to e is refused at once, without a search.  As long
 * as turns are only added, what was learned stays true; cdg_keep() adds what new turns bring.
 */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct cdg_index {
	const struct fabric *f;
	uint64_t *to;	 /* by channel: a bit for each hub that it leads to ... */
	uint64_t *from;	 /* ... and for each that leads to it */
	bool *waits;	 /* by channel: scratch, false when nobody is at it */
	uint32_t *score; /* by channel: how often it was noted */
	uint64_t spent;	 /* channels that failed searches have met since cdg_index_learn() */
};

struct cdg_index *cdg_index_new(const struct fabric *f); /* none yet */
void cdg_index_free(struct cdg_index *h);		 /* NULL is fine */

/* A search ended in a cycle through that channel. */
static inline void cdg_index_note(struct cdg_index *h, uint32_t chan)
{
	h->score[chan]++;
}

/* New hubs, the channels that were noted most often since the last time.  order: the
 * nchan channels so that turns lead forwards; turns, words: as cdg_turns() and cdg_words() give
 * them.  Time O(channels + turns). */
void cdg_index_learn(struct cdg_index *h, const uint32_t *order, const uint64_t *turns,
		     uint32_t words);

/* Is it known that e leads to c? */
static inline bool cdg_index_lead(const struct cdg_index *h, uint32_t e, uint32_t c)
{
	return h->to[e] & h->from[c];
}
