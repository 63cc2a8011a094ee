/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * racks: which rack each switch is in, as far as names tell.
 *
 * A rack in a name is "rack7", "rack-07", "cab3", "cabinet12", "x1000c2..." (x1000) or a word that
 * is r and a number ("r07s1", "isw-r3u40").  Names of switches are asked first; where these say
 * nothing, those of the hosts on them.
 */
#ifndef VIEWS_RACKS_H
#define VIEWS_RACKS_H

#include "fabric/model/fabric.h"

#include <stddef.h>
#include <stdint.h>

struct racks {
	uint32_t n;	  /* 0: names tell of no racks */
	char **name;	  /* in the order of names; the last may be "elsewhere" */
	uint32_t *of;	  /* by switch */
	const char *from; /* "switch names", "host names" */
	struct arena *arena;
};

/* At least two racks, and most switches in one of them.  O(switches + hosts). */
struct racks *racks_new(const struct fabric *f);
void racks_free(struct racks *r); /* NULL is fine */

/* The rack in a name into buf; false when there is none. */
bool rack_in_name(char *buf, size_t len, const char *name);

#endif
