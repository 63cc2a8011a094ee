/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * transition_mixture: where packets to one LID may go, and which (channel, VL) may wait for which,
 * while switches, SL2VL tables and hosts may each be old or new.
 *
 * The service levels that sources may use flow down the graph of all hops that are possible, so a
 * dependency is found exactly when some timing of the writes makes some packet cause it.
 */
#pragma once

#include "engines/graph/graph.h"
#include "engines/transition/transition_graph.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

/* What may be there: any of these. */
enum { AGE_OLD = 1, AGE_NEW = 2, AGE_BOTH = 3 };

struct mixture_flow;

/* pace, used for as long as the flow is there, hears of what takes long; NULL when that was
 * cancelled. */
struct mixture_flow *mixture_new(const struct fabric *f, const struct turns *turns,
				 const struct tables *old, const struct tables *new,
				 struct pace *pace);
void mixture_free(struct mixture_flow *x); /* NULL is fine */

uint32_t mixture_nvl(const struct mixture_flow *x); /* VLs are below that */
bool mixture_sl2vl_changes(const struct mixture_flow *x);

/* The LID that the calls below are about.  Ascending LIDs are cheapest. */
void mixture_load(struct mixture_flow *x, uint32_t lid);
bool mixture_lft_changes(const struct mixture_flow *x);
bool mixture_lft_changes_at(const struct mixture_flow *x, uint32_t sw);
bool mixture_sl_changes(const struct mixture_flow *x);

/* Ages of the entry of each switch (NULL: age everywhere), of the SLs of the sources and of the
 * SL2VL tables.  False when packets may go round in a circle.  O(nsw * SLs). */
struct ages {
	const uint8_t *lft;
	uint8_t lft_all, sl, sl2vl;
};
bool mixture_run(struct mixture_flow *x, const struct ages *a);

/* Might the last run lose a packet?  By an SL2VL table that drops it, or gives it a VL that the
 * link does not have (as far as OperVLs are known): the dependencies count such a packet on the
 * VL onto which it folds where OpenSM cuts the table off. */
bool mixture_loses(const struct mixture_flow *x);

/* Only whether packets may go round: true when they cannot.  O(nsw). */
bool mixture_no_loop(struct mixture_flow *x, const struct ages *a);

/* The dependencies of the last run; one can be there several times. */
const struct tdep *mixture_deps(const struct mixture_flow *x, uint32_t *n);

/* Switches such that each comes after the next one on its path in the new tables; those without a
 * path come last.  Owned by x until the next call. */
const uint32_t *mixture_outwards(struct mixture_flow *x);

/* Moves as many switches as this finds from AGE_OLD to AGE_BOTH in lft without a loop; how many. */
uint32_t mixture_grow(struct mixture_flow *x, uint8_t *lft);

uint64_t mixture_work(const struct mixture_flow *x); /* hops looked at, so far */
