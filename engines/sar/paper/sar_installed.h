/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sar_installed: installed tables, whoever made them, as something to start from or to keep. */
#pragma once

#include "engines/engine.h"

#include <stdbool.h>

/* *usable: of this fabric, and leading from every switch to every LID to route to?  Else why has a
 * sentence for people.  -ECANCELED.  Time O(LIDs * switches). */
int sar_installed_check(bool *usable, const struct tables *t, const struct fabric *f, uint8_t lmc,
			struct progress *progress, struct err *why);

/* out gets the LFTs of t. */
void sar_installed_copy_lfts(struct tables *out, const struct tables *t);

/* *out, the caller's own: what params->current routes by, as it is where that is free of deadlocks
 * on no more VLs than may be used, else with layers of our own.  -ENOSPC, -ECANCELED. */
int sar_installed_keep(struct tables **out, const struct fabric *f,
		       const struct engine_params *params, struct progress *progress,
		       struct err *err);

/* Blocks of 64 LIDs, of all switches, with a LID in use; and how many of them may change. */
uint64_t sar_installed_blocks(const struct fabric *f);
uint64_t sar_installed_budget(const struct fabric *f, const struct engine_params *params);
