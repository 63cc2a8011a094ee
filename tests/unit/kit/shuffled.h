/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shuffled: a fabric with the same cables, but other GUIDs, ports and LIDs. */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdint.h>

/* Built from the text of a topology, or the test fails.  seed 0: as generated; else switches and
 * hosts have each other's GUIDs, cables other ports of their switch, and LIDs go by GUID. */
struct fabric *shuffled_topo(const char *spec, uint64_t seed);
