/* SPDX-License-Identifier: GPL-2.0-or-later */
/* osm_fabric: what OpenSM has discovered, as a fabric of ours. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"

struct osm_opensm;

/*
 * Of the subnet object as it is when OpenSM asks for routes: all LIDs given, the lock held.  The
 * same nodes, links and LIDs give the fingerprint that a sweep of ours or a dump gives.  VLs of
 * links are those that OpenSM is about to set, which may differ from those they have now.
 * -EINVAL when a LID is missing, out of its range or given twice.
 */
int osm_fabric_build(struct fabric **out, struct osm_opensm *osm, struct err *err);

/* Cabled ports of switches that have fewer VLs now than OpenSM is about to give them.  It cuts
 * SL2VL tables down to what they have now: those of this sweep are not yet those of the routing. */
uint32_t osm_fabric_vls_behind(struct osm_opensm *osm);
