/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * osm_hops: OpenSM's own hop counts, of which its multicast trees are made.
 *
 * OpenSM clears and counts them again for every routing, which takes as long as all the rest of a
 * reroute.  Between two discoveries they are the same: a second set of them takes the place of the
 * one that was cleared, which is filled again when the routing is over.
 */
#pragma once

#include <stdbool.h>

struct osm_opensm;
struct osm_hops;

struct osm_hops *osm_hops_new(void);	/* empty; gives up as mem.h does */
void osm_hops_free(struct osm_hops *h); /* NULL is fine */

/* As they are now, with OpenSM's lock held.  Keeps nothing where they are too many, or come from a
 * file that may be changed meanwhile. */
void osm_hops_keep(struct osm_hops *h, const struct osm_opensm *osm);
void osm_hops_drop(struct osm_hops *h);
/* False: none are kept, or not for these switches, and OpenSM has to count them.  With its lock
 * held exclusively. */
bool osm_hops_restore(struct osm_hops *h, struct osm_opensm *osm);
/* Makes the next restore possible, with OpenSM's lock held. */
void osm_hops_copy(struct osm_hops *h, const struct osm_opensm *osm);
