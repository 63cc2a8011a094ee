/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * busy_cycles: cycles of channel dependencies each of which two messages to different receivers
 * make, so that more comes than can go on.
 *
 * Of paths over two channels only, from the first terminal of each switch.  A cycle that a single
 * message each makes is in balance: what comes goes on, and it hardly ever closes.
 */
#pragma once

#include "engines/verify/verify.h"
#include "fabric/base/hash/rng.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"

struct busy_cycles;

/* f and t are not owned.  -ECANCELED with a sentence.  Progress step, in switches: "cycles".
 * O(switches * terminals). */
int busy_cycles_new(struct busy_cycles **out, const struct fabric *f, const struct tables *t,
		    struct progress *progress, struct err *err);
void busy_cycles_free(struct busy_cycles *b); /* NULL is fine */

/* A cycle with a path for each dependency that begins at none of the switches that were in one
 * before, by chance; a shortest one of those over one of its channels.  Its length, 0: there is
 * none, or finding one would take too long.  The caller frees *out. */
uint32_t busy_cycles_next(struct busy_cycles *b, struct witness **out, struct rng *r);
