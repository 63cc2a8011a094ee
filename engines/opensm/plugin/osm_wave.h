/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * osm_wave: the LFTs of a routing, which OpenSM is to write.
 *
 * In a reroute OpenSM prepares for whatever engine may follow, and compares the QoS tables of all
 * ports afterwards.  Where only LFTs change, its unicast manager can write them without either:
 * that is all that such a wave costs.
 */
#pragma once

#include "fabric/model/tables/tables.h"

#include <stdbool.h>

struct osm_opensm;

/* What follows with OpenSM's lock held exclusively. */

/* Fills in what OpenSM is to write next.  Returns how many blocks it believes to be different. */
uint32_t osm_wave_stage(struct osm_opensm *osm, const struct fabric *f, const struct tables *t);
/* Whether it would write exactly those, in a sweep or not: of a switch that it has just found, and
 * after it has become the master, it writes all. */
bool osm_wave_exact(const struct osm_opensm *osm);
/* OpenSM writes what differs; of each block that is answered it reports a change. */
void osm_wave_send(struct osm_opensm *osm);
