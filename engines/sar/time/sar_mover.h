/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sar_mover: moves what goes through a switch to one LID onto the ways that cost least
 * (sar_contention.h).
 *
 * At a switch of the LID's tree all flows that come through are taken out of the loads; the
 * cheapest way to the LID, or to where the tree goes on, is found layer by layer of hops, and what
 * costs too much already is given up.  So no loop can arise: ways are simple, and end in a part
 * of the tree that does not lead through the switch.
 */
#pragma once

#include "engines/graph/graph.h"
#include "engines/sar/paper/sar_dags.h"
#include "engines/sar/time/sar_contention.h"

#define SAR_DETOUR_MAX 2

struct sar_mover_rule {
	double gain;	 /* share of what the flows cost that a move has to save, >= 0 */
	double block;	 /* and so much for each block of 64 LIDs that it changes */
	double hop;	 /* and such a share for each hop more than necessary */
	uint64_t limit;	 /* blocks that may be changed in all */
	unsigned detour; /* hops more than necessary that a way may have */
};

struct sar_mover;

/* Works on t, which may differ from from already; changed blocks are counted against from, unless
 * that is NULL. */
struct sar_mover *sar_mover_new(const struct fabric *f, struct tables *t, const struct tables *from,
				struct sar_contention *k);
void sar_mover_free(struct sar_mover *m); /* NULL is fine */

struct lft_hops *sar_mover_hops(struct sar_mover *m);
uint64_t sar_mover_blocks(const struct sar_mover *m);
/* Switches and channels looked at, and cells of channels. */
uint64_t sar_mover_work(const struct sar_mover *m);

/* Improves the tree of a LID of a terminal with flows; returns what is saved. */
double sar_mover_improve(struct sar_mover *m, const struct dest *d,
			 const struct sar_mover_rule *rule);

/* After that, with the same rule and tables to count against: where no flows come through, ways
 * that are no shortest ones and were others before go back, and so do those that have become too
 * long. */
void sar_mover_tidy(struct sar_mover *m, const struct dest *d);

/* Sets one entry, whatever that costs; *saved grows by what is saved.  False, and nothing is done:
 * packets would loop, or flows go too far round. */
bool sar_mover_turn(struct sar_mover *m, const struct dest *d, uint32_t u, uint8_t port,
		    const struct sar_mover_rule *rule, double *saved);
/* Has the LID's tree moved so that a way is longer than it may be, and than it was? */
bool sar_mover_is_long(struct sar_mover *m, const struct dest *d,
		       const struct sar_mover_rule *rule);
/* All entries towards the LID become what they were; loads have to be measured again. */
void sar_mover_undo(struct sar_mover *m, const struct dest *d);
