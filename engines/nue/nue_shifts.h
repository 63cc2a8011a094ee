/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nue_shifts: in trees, entries of balanced tables moved to where the flows of shifts meet least,
 * as far as the order of their layer has them climb; paths stay as short. */
#pragma once

#include "engines/nue/nue_layer.h"
#include "fabric/model/tables/tables.h"

/* t: of nue_balance(), with these layers and trees.  Entries stay where that would not be better
 * (shift_choice.h), or the fabric is too large. -ECANCELED. */
int nue_shifts_move(struct tables *t, const struct nue_layer *layer, const struct nue_trees *trees,
		    uint32_t k, struct progress *progress, struct err *err);
