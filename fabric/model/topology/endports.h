/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * endports: which end port had which LID, and where it was attached, when tables were made.
 *
 * What tables need to be kept while hosts come, leave or change their LIDs (graft.h).
 */
#pragma once

#include "fabric/base/hash/digest.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/topology/switch_links.h"

#include <stdint.h>

struct endports {
	uint32_t nsw, nend; /* as in the fabric, in its order */
	uint32_t max_lid;
	uint8_t lmc;
	struct digest fingerprint;  /* of the fabric */
	struct digest switch_graph; /* of its switches and the cables between them */
	uint16_t *sw_lid;
	uint64_t *guid; /* port GUIDs of the ends, nend of them, and of each ... */
	uint32_t *sw;	/* ... the switch that it was attached to, */
	uint8_t *port;	/* that switch's port, */
	uint16_t *lid;	/* and its base LID */
	struct switch_links *links; /* NULL: not known */
	int refs;
};

struct endports *endports_of(const struct fabric *f); /* the caller owns one reference */
/* All zero, for nsw switches and nend ends. */
struct endports *endports_new(uint32_t nsw, uint32_t nend);
/* Thread-safe; get returns e, NULL is fine. */
const struct endports *endports_get(const struct endports *e);
void endports_put(const struct endports *e);
