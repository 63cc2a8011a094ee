/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ftree: fat trees, destination by destination in turn over the cables up.
 *
 * Destination j goes up by cable (j / planes below) mod cables of each switch and comes down the
 * same way (Zahavi et al., "Optimized InfiniBand fat-tree routing for shift all-to-all
 * communication patterns", 2010), so that in a full tree the packets of any shift by s, from the
 * i-th to the (i + s)-th terminal, never share a cable.  Where a cable is missing, the sources
 * that would need it are spread one by one over the least loaded other ways.  All paths go
 * up*, then down* from a leaf as the only root: one VL, complete on every fabric, and in a tree
 * the same paths as from the top, but also legal from one spine to another.
 */
#pragma once

#include "engines/engine.h"

extern const struct engine engine_ftree;
