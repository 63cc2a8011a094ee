/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verify_witness: for each dependency of a cycle a path that makes it. */
#ifndef ENGINES_VERIFY_VERIFY_WITNESS_H
#define ENGINES_VERIFY_VERIFY_WITNESS_H

#include "engines/verify/verify.h"

/* cycle: n vertices chan * nvl + vl of the dependency graph of these tables.
 * Caller frees the n witnesses. */
struct witness *witness_find(const struct fabric *f, const struct tables *t, const uint32_t *cycle,
			     uint32_t n, uint32_t nvl, bool terminals_only);

#endif
