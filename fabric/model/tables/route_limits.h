/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * route_limits: what an operator does not leave to an engine: switches and cables that no route
 * may pass through, and ends whose routes stay as they are installed.
 */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct route_limits {
	uint32_t nsw, nchan, nend; /* of the fabric that they are for */
	bool *exclude_sw;	   /* nsw; NULL: none */
	bool *exclude_chan;	   /* nchan, both directions of a cable; NULL: none */
	char *exclude_text; /* the same for people, as fabric/format/site/limits_text.h reads it */
	bool *pin;	    /* nend; NULL: none */
	char *pin_text;	    /* the same as a host list; NULL: none */
};

struct route_limits *route_limits_new(const struct fabric *f); /* no limits yet */
/* Excludes a switch, or a cable by either of its channels; FAB_NONE: none.  The text stays. */
void route_limits_add(struct route_limits *l, const struct fabric *f, uint32_t sw, uint32_t chan);
/* NULL for NULL; the caller owns the copy. */
struct route_limits *route_limits_copy(const struct route_limits *l);
void route_limits_free(struct route_limits *l); /* NULL is fine */

/* How many hosts are pinned, the ports of one name counted once.  l may be NULL. */
uint32_t route_limits_pinned(const struct route_limits *l, const struct fabric *f);
/* Is anything excluded?  l may be NULL. */
bool route_limits_excludes(const struct route_limits *l);
