/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sar_fit: service levels for trees that may need more VLs than they are worth.
 *
 * LIDs with paths beyond the VLs wanted take the trees of other tables instead, until what is
 * left fits.
 */
#pragma once

#include "engines/engine.h"

#include <stdbool.h>

struct sar_fit_opts {
	const struct tables *plain; /* the other trees; NULL: there are none */
	const struct tables *keep;  /* paths that are the same there keep their SLs; or NULL */
	unsigned few;		    /* VLs wanted */
	unsigned tries;		    /* assignments at most, which take their time */
};

/* Assigns as vl_layers_assign_from().  *back: LIDs that have the other trees now.  -ENOSPC, with
 * what is needed, where all that may be used is not enough; -ECANCELED. */
int sar_fit_layers(struct tables *t, const struct fabric *f, const struct sar_fit_opts *opts,
		   const struct engine_params *params, uint32_t *back, struct progress *progress,
		   struct err *err);
