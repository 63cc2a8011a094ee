/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * osm_sl_maps: SL2VL tables that OpenSM need not compare.
 *
 * In each routing OpenSM compares the table of each pair of ports of each switch with the one that
 * it has set, 2.7 million where 50 switches have 200 ports: twenty times as long as all the rest of
 * a reroute.  It leaves out switches whose PortInfo says that they have no such tables.  Where they
 * are all as they were set, OpenSM's copy of it says so until the routing is over.
 */
#pragma once

#include "fabric/model/tables/tables.h"

#include <stdbool.h>

struct osm_opensm;

/* Whether the switches of a fabric have the same SL2VL tables by both. */
bool osm_sl_maps_same(const struct fabric *fa, const struct tables *a, const struct fabric *fb,
		      const struct tables *b);

/* With OpenSM's lock held exclusively, as it changes what path records and PortInfo are made of. */
void osm_sl_maps_hide(struct osm_opensm *osm);
void osm_sl_maps_show(struct osm_opensm *osm); /* undoes it; nothing hidden is fine */
