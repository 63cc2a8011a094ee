/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sar: scheduling-aware routing after Domke and Hoefler, "Scheduling-Aware Routing for
 * Supercomputers", SC16.  params->sar_method chooses how:
 *
 * SAR_PAPER is Algorithm 1: terminals with jobs come first, by their largest job (descending size,
 * then job id), then in the order of the fabric; each of their LIDs adds 1 to the channels
 * of every path from a terminal that shares a job with it.  Then storage, then all others, as in
 * dfsssp but in the order of the fabric.
 *
 * SAR_PATCH is what the authors' patch to OpenSM did (sar_paths.h lists the differences).
 *
 * SAR_LEAFWISE, the default, grows the tree of each LID one source switch at a time, and starts
 * from params->current where that can be used, so that little is rewritten (sar_leafwise.h).
 *
 * Jobs on a single switch have no inter-switch path and are left out.
 */
#pragma once

#include "engines/engine.h"

extern const struct engine engine_sar;
