/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cdg: the channel dependency graph of one layer, kept acyclic while turns are added.
 *
 * A topological order of the channels is kept along; only a turn that goes against it costs a
 * search: two ways in the order of the labels, until the searches pass each other (Haeupler et
 * al., "Incremental cycle detection, topological ordering, and strong component maintenance",
 * 2012, Sec. 2).  The order is a linked list with labels, so that moving a few channels leaves
 * the others alone.  The neighbours of a channel are one bit each, by the place of the other
 * channel at their common switch.
 */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct cdg;
struct cdg_work; /* what searches need; shared by all layers of one thread */

struct cdg_work *cdg_work_new(const struct fabric *f);
void cdg_work_free(struct cdg_work *w);		  /* NULL is fine */
uint64_t cdg_work_done(const struct cdg_work *w); /* channels that searches looked at, so far */

/* Searches give up from now on when more channels than that wait to be looked at, or twice as many
 * have been: cdg_add() then also refuses turns that would close no cycle.  UINT32_MAX, as at the
 * start: none does. */
void cdg_work_limit(struct cdg_work *w, uint32_t channels);

struct cdg *cdg_new(struct cdg_work *w); /* without turns */
void cdg_free(struct cdg *g);		 /* NULL is fine */
/* Takes out all turns and begins with that order of the channels, nchan of them. */
void cdg_restart(struct cdg *g, const uint32_t *order);
/* Place of each channel in the order: every turn leads from a smaller to a greater one. */
void cdg_places(const struct cdg *g, uint32_t *place);

/* Words per channel, and by channel e and word the bits of the channels c whose turn to e there is:
 * bit i for the reverse of the i-th channel that leaves the same switch as e. */
uint32_t cdg_words(const struct cdg_work *w);
const uint64_t *cdg_turns(const struct cdg *g);

bool cdg_has(const struct cdg *g, uint32_t c, uint32_t e);
/* Adds the turn from c to e, which leaves where c arrives; false when that would close a
 * cycle (nothing is changed then). */
bool cdg_add(struct cdg *g, uint32_t c, uint32_t e);
void cdg_remove(struct cdg *g, uint32_t c, uint32_t e);

/* That turn, which g has, is to stay: what hubs are known stays exact. */
void cdg_keep(struct cdg *g, uint32_t c, uint32_t e);

/* To be called now and then while all turns that g has are to stay: learns from the searches that
 * ended in a cycle when they have cost more than that does, so that the next ones end without a
 * search (cdg_index.h).  Never changes what cdg_add() answers.  No cdg_restart() afterwards.  True
 * when it took its time: about as long as looking at all channels and turns. */
bool cdg_learn(struct cdg *g);
