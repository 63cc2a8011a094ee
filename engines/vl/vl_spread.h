/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vl_spread: paths that are free of deadlocks on a few VLs take the spare ones too.
 *
 * A path waits behind others on its channel only when they share its VL, so that more VLs mean less
 * head-of-line blocking.  Every layer gets VLs of its own, and each path takes that one on which
 * its channels carry the least: part of an acyclic layer is acyclic.
 */
#pragma once

#include "engines/graph/graph.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdint.h>

struct vl_spread_stats {
	uint64_t before, after; /* most routes on one channel and VL, over all traffic LIDs */
	unsigned vls;		/* that are used now */
};

/* t: layers as SLs 0..layers-1 in any form but SL_BY_TERM, SL2VL identity; afterwards SLs up to
 * 0..vls-1, by source switch.  dests: the LIDs to look at, as graph_dests_by_switch() gives them.
 * LIDs of switches and uncounted ends stay on the first VL of their layer.  layers < vls <= 15.
 * -ECANCELED: t is not to be used then.  Time O(LIDs * switches * hops * vls). */
int vl_spread(struct tables *t, const struct fabric *f, const struct dest *dests, uint32_t n,
	      unsigned layers, unsigned vls, struct pace *pace, struct vl_spread_stats *stats);
