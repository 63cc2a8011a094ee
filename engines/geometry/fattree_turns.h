/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fattree_turns: which of its cables up each destination of a fat tree takes, level by level.
 *
 * Destinations that follow each other take the cables in turn, as in D-mod-K (Zahavi, 2010).  A
 * shift sends the hosts below a switch to as many destinations in a row, round the end of all of
 * them, too; so turns begin again only after that many, and where the end does not fall in with
 * them, all blocks of turns are a little shorter instead of the last one much.
 */
#pragma once

#include "engines/geometry/fattree.h"

struct fattree_turns {
	uint32_t n; /* numbers (struct fattree) of terminals on leaves; at least 1 */
	struct fattree_turn {
		uint32_t usual;	 /* slots of most switches of the level, ... */
		uint32_t *at;	 /* ... by number: the one that is taken there; ... */
		uint32_t *count; /* ... elsewhere this one, modulo their slots */
	} level[TREE_LEVELS];
};

/* t has to stay.  O(channels * levels + numbers * levels). */
struct fattree_turns *fattree_turns_new(const struct fabric *f, const struct fattree *t);
void fattree_turns_free(struct fattree_turns *x); /* NULL is fine */

/* Slot that a number below fattree_turns.n takes at a switch of a level with nslot of them. */
static inline uint32_t fattree_turns_slot(const struct fattree_turns *x, uint32_t level,
					  uint32_t nslot, uint32_t number)
{
	const struct fattree_turn *l = &x->level[level];

	return nslot == l->usual ? l->at[number] : l->count[number] % nslot;
}
