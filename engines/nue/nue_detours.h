/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nue_detours: entries of balanced tables moved to where the flows of shifts meet least, over any
 * channel by which their paths climb in the order of their layer (shift_detours.h).
 */
#pragma once

#include "engines/nue/nue_layer.h"
#include "fabric/model/tables/tables.h"

/* t: of nue_balance(), with these layers and trees.  Entries stay where shifts do not gain more
 * than bisections lose, or the fabric is too large. -ECANCELED. */
int nue_detours_move(struct tables *t, const struct nue_layer *layer, const struct nue_trees *trees,
		     uint32_t k, struct progress *progress, struct err *err);

/* Pairs of switches with terminals, where a path from the one to a base LID at the other is longer
 * than the shortest. */
uint64_t nue_detours_count(const struct tables *t, const struct nue_layer *layer, uint32_t k);
