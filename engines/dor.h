/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dor: dimension order on tori, meshes and HyperX.
 *
 * A packet corrects one coordinate after the other, the short way round, so that one dimension
 * never waits for an earlier one.  On a ring the paths that cross its last cable (between the
 * last coordinate and 0) go on VL 1 and the others on VL 0; no path is longer than half the ring,
 * so neither kind closes it.  The SL has a bit per ring; SL2VL of a port picks the bit of
 * its dimension: 2 VLs for up to four rings (as torus-2QoS has it), 1 without rings.
 * Where a cable of a HyperX is missing, its packets take two hops in the same dimension; should
 * these close a cycle, VLs are assigned by layers.h.
 */
#pragma once

#include "engines/engine.h"

extern const struct engine engine_dor;
