/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shift_improve: other paths than those that an engine has found, where they give more
 * (shift_choice.h): in trees the ways up in turn (ftree), or entries moved by shifts
 * (shift_search.h).
 *
 * Of fabrics that are small enough to try it, without LMC and pinned paths.
 */
#pragma once

#include "engines/engine.h"
#include "engines/graph/balance/balanced_sssp.h"

/* LFTs of ftree into those of t, 1 VL, where that is better; params: of t's engine.  -ECANCELED. */
int shift_improve_turns(struct tables *t, const struct fabric *f,
			const struct engine_params *params, struct progress *progress,
			struct err *err);

/* The same for *t, to which how has led, and whose VLs were assigned (vl_layers_assign()); else
 * these paths again with entries moved.  More VLs only one for every 10 % by which the product of
 * the figures rises, or up to four for the first 10 %; the notes of params go with the result. */
int shift_improve(struct tables **t, const struct fabric *f, const struct balanced_sssp_how *how,
		  const struct engine_params *params, struct progress *progress, struct err *err);
