/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * updn: up*, then down*, balanced; one VL is enough on every connected fabric.
 *
 * Roots are those given, else the top level of a tree.  A switch's own LID that given roots do not
 * reach from everywhere (a spine with a broken cable) goes a shortest way down and up, on another
 * VL where it would close a cycle.  Where that would be so with the top of a tree, where it would
 * cut terminals off, and on fabrics that are no trees, there is a ranking from which everything is
 * legal (updown_order.h).
 */
#pragma once

#include "engines/engine.h"
#include "engines/graph/graph.h"

extern const struct engine engine_updn;

/* Routes these LIDs alone, up*, then down* without exception, so that they need one VL.  Leaves
 * other LIDs, SLs and VLs of t as they are.  dests: switch by switch or by LID, terminals first.
 * step: name for progress.  -ECANCELED; -EINVAL, -ENETUNREACH for given roots that are no
 * switches or leave a pair without such a path. */
int updn_route_dests(struct tables *t, const struct fabric *f, const struct dest *dests, uint32_t n,
		     const struct engine_params *params, const char *step,
		     struct progress *progress, struct err *err);
