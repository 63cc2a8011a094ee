/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * updown_order: a ranking from which everything is legal, and which leaves a tree its levels.
 *
 * Ranked by hops from one root, half of the spines of a tree may lie below its leaves.  So switches
 * are put in order one by one, always the one farthest from the leaves of those next to a switch
 * that has its place: a spine comes right after the first of its leaves, and before the others.
 * Every switch but the first has one above it, so that a way up, then down leads anywhere.
 */
#pragma once

#include "engines/graph/updown.h"

/* The order that begins with that switch; out: room for nsw.  The fabric is connected.
 * O(channels). */
void updown_order_from(uint32_t *out, const struct fabric *f, uint32_t first);

/* The ranking that has the better paths: from one root (updown_single_root()), or such an order
 * from there, from the most central switch, or from the leaf with the most cables: fewer hops, then
 * more choices.  -ECANCELED; *ud is to be freed otherwise.  Time O(nsw * nchan). */
int updown_order_best(struct updown *ud, const struct fabric *f, struct pool *pool, struct pace *p);

/* The same where the fabric looks like a tree, if that makes hardly a path between terminals
 * longer: with levels, and few cables between switches of one.  *ud is to be freed if *found.
 * -ECANCELED. */
int updown_order_layered(struct updown *ud, bool *found, const struct fabric *f, struct pool *pool,
			 struct pace *p);
