/* SPDX-License-Identifier: GPL-2.0-or-later */
/* osm_routing: what OpenSM routes by, and whether it is what an update has given it. */
#pragma once

#include "fabric/update/installer/osm_link.h"

#include <stdbool.h>
#include <stddef.h>

const char *osm_routing_source(const struct osm_status *s); /* for people: "the engine of ..." */
/* true: the update of this link is not the plugin's any more, or not on the fabric that it was made
 * for; text says which. */
bool osm_routing_is_over(char *text, size_t size, const struct osm_link *l,
			 const struct osm_status *s);
/* Asks: does OpenSM route by what the update has loaded last, or by what it did before, where
 * nothing was?  -EUCLEAN: by something else, as err says; -ESTALE: likewise, since the fabric has
 * changed; else as osm_link_status().  0 where no update was begun. */
int osm_routing_check(struct osm_link *l, struct err *err);
