/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verify_exclusion: does a path lead through a switch or cable that none may pass? */
#pragma once

#include "fabric/base/message/progress.h"
#include "fabric/model/tables/route_limits.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdint.h>

struct excluded_paths {
	uint64_t n;    /* paths, from any switch to any LID in use, that pass what is excluded */
	uint32_t from; /* the first by LID, then switch, when n is not 0: from this switch ... */
	uint16_t lid;
	uint32_t sw;   /* ... through this excluded switch, or FAB_NONE ... */
	uint32_t chan; /* ... over this excluded cable, which then is not FAB_NONE */
};

/*
 * A path passes a switch when it neither begins nor ends there.  One that begins or ends on an
 * excluded switch with no neighbours but excluded ones may pass these: there is no other.  Ways
 * that do not arrive count as far as they lead.  True when cancelled (progress step "verify").
 * Time O(LIDs * nsw).
 */
bool verify_exclusion(struct excluded_paths *out, const struct fabric *f, const struct tables *t,
		      const struct route_limits *l, struct progress *progress);
