/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nue: routes without deadlocks on any connected fabric and any number of VLs (Domke, Hoefler,
 * Matsuoka, "Routing on the dependency graph", HPDC 2016).
 *
 * Destination switches are divided into one layer per VL.  In each layer a search on the channel
 * dependency graph finds one tree per destination switch, on shortest paths wherever that closes
 * no cycle; the order of the channels that comes out of it is the proof: every path of the layer
 * climbs in it.  Then every LID is balanced over the channels that climb, level by level of its
 * switch's tree.  An escape tree in each layer makes sure that every switch is reached.  SL and VL
 * are the layer of the destination.
 */
#pragma once

#include "engines/engine.h"

extern const struct engine engine_nue;
