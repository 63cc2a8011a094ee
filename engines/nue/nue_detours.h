/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nue_detours: entries of balanced tables moved to where the flows of shifts meet least, over any
 * channel by which the paths of a layer still climb in an order (shift_detours.h).
 */
#pragma once

#include "engines/nue/nue_layer.h"
#include "engines/time/shift_choice.h"
#include "fabric/model/tables/tables.h"

/* Hops more than need be that a path may come to have. */
#define NUE_DETOURS_MORE 1

/* All shifts, and bisections; threads as in engine_params.  -ECANCELED. */
int nue_detours_judge(struct shift_figures *out, const struct fabric *f, const struct tables *t,
		      unsigned threads, struct progress *progress, struct err *err);

/* t: of nue_balance(), or whose paths climb in the places of these trees; the fabric is small
 * enough (shift_choice_fits()).  *figures: of the tables with fewer VLs that mean rate and
 * bisections may not be below, with 0 where there are none; then those of t, where it is better
 * than those or there are none (*better).  -ECANCELED. */
int nue_detours_move(bool *better, struct shift_figures *figures, struct tables *t,
		     const struct nue_layer *layer, const struct nue_trees *trees, uint32_t k,
		     unsigned threads, struct progress *progress, struct err *err);

/* Pairs of switches with terminals, where a path from the one to a base LID at the other is longer
 * than the shortest. */
uint64_t nue_detours_count(const struct tables *t, const struct nue_layer *layer, uint32_t k);
