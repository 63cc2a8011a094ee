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

/* Free of deadlocks as they are, on no more VLs than may be used?  *ok says so. -ECANCELED. */
int sar_installed_sound(bool *ok, const struct tables *t, const struct fabric *f,
			const struct engine_params *params, struct progress *progress,
			struct err *err);

/* out gets everything that t routes by: LFTs, SLs and SL2VL. */
void sar_installed_copy(struct tables *out, const struct tables *t, const struct fabric *f);
