/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vl_first_fit: a layer for every path, the first whose dependency graph stays acyclic with it.
 *
 * Most paths are in some layer already, turn by turn, when their time comes.  Which ones is found
 * by all threads for a chunk of destinations at once, with the layers as they were before it; only
 * the rest are inserted, by one thread in a fixed order.  Chunks do not depend on the number of
 * threads, so neither does the result.
 */
#pragma once

#include "engines/graph/graph.h"
#include "fabric/base/message/err.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdint.h>

#define FIRST_FIT_MAX 16 /* layers: beyond what the hardware has, to tell how many are needed */

/* Paths from switches with ends to those LIDs, which follow each other by switch.  SLs become the
 * layers: by source switch when there are two or more, else all 0.  *layers: how many (0: no path
 * has a turn).  threads as in struct engine_params.  Counts the LIDs up in pace.
 * A switch's own LID that comes after those of its terminals and is reached over the paths of the
 * first of them has the same SLs.
 *
 * keep (NULL: none): tables whose SLs stay for paths that are the same there, as long as those
 * are below most and close no cycle; they go in first, and the others join them.
 *
 * fixed (NULL: none): by turn (graph.h), bits of the layers that have it whatever t says, without
 * a cycle; all paths of t join them.
 *
 * -ENOSPC when FIRST_FIT_MAX layers are not enough, -EINVAL when a path does not arrive,
 * -ECANCELED. */
int vl_first_fit(struct tables *t, const struct fabric *f, const struct dest *dests, uint32_t n,
		 const struct tables *keep, const uint16_t *fixed, unsigned most, unsigned threads,
		 unsigned *layers, struct pace *pace, struct err *err);
