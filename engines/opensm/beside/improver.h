/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * improver: steps from a repaired routing towards an even one, found beside OpenSM after a while
 * without changes (policy: improve), see engines/repair/refill.h.
 *
 * A step that would need an order of writes or a drain is none, and neither is one that makes the
 * routing no better as measured: effective bisection bandwidth, and the time of shifts.
 */
#pragma once

#include "engines/opensm/policy.h"
#include "engines/opensm/table_selection.h"

struct improver;

struct improver_ops {
	/* From its thread: step is better than of, which is installed; both are borrowed. */
	void (*found)(void *ctx, const struct tables *of, const struct tables *step);
	void (*say)(void *ctx, const char *sentence);
};

/* NULL: no memory. */
struct improver *improver_new(const struct improver_ops *ops, void *ctx);
void improver_free(struct improver *i); /* ends what runs; NULL is fine */

/* t of f is installed, for which policy chose it; repaired: it is not as its engine made it.  A
 * NULL i is fine. */
void improver_installed(struct improver *i, const struct fabric *f, const struct tables *t,
			struct policy *policy, bool repaired);
