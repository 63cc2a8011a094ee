/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sl_maps: the SL2VL tables of a routing as OpenSM sets them, which cuts VLs off to those that a
 * port has, between ports that something is attached to.
 */
#pragma once

#include "fabric/model/tables/tables.h"

/* What OpenSM masks VLs with on a port that has so many, but VL 15; 0: it is not known, nothing. */
static inline unsigned sl_maps_vl_mask(uint8_t op_vls)
{
	return op_vls && op_vls <= 8 ? op_vls - 1u : 15;
}

/* Equal for two routings of the same switches and cables exactly where it would set nothing from
 * one to the other, in whatever form they are kept.  O(pairs of ports). */
void sl_maps_hash(struct digest *out, const struct tables *t, const struct fabric *f);
