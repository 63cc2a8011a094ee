/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * racks: which rack each switch is in, as far as a file or names tell.
 *
 * A file is SLURM's topology.conf, or one in its words that an operator wrote: switches of a block
 * are those that most of their hosts are in the block of, or that it names itself
 * ("SwitchName=rack1 Switches=leaf[01-04]").  Where a block is no more than one switch each, the
 * blocks above them are meant.
 *
 * A rack in a name is "rack7", "rack-07", "cab3", "cabinet12", "x1000c2..." (x1000) or a word that
 * is r and a number ("r07s1", "isw-r3u40").  Names of switches are asked first; where these say
 * nothing, those of the hosts on them.
 */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stddef.h>
#include <stdint.h>

struct slurm_topology;

struct racks {
	uint32_t n;	  /* 0: names tell of no racks */
	char **name;	  /* in the order of names; the last may be "elsewhere" */
	uint32_t *of;	  /* by switch */
	const char *from; /* "topology.conf", "switch names", "host names" */
	struct arena *arena;
};

/* At least two racks, and most switches in one of them.  file may be NULL; path names it.  A file
 * that does not suit the fabric is in the log, and names are asked.
 * O((switches + hosts + names of the file) * log). */
struct racks *racks_new(const struct fabric *f, const struct slurm_topology *file,
			const char *path);
void racks_free(struct racks *r); /* NULL is fine */

/* The rack in a name into buf; false when there is none. */
bool rack_in_name(char *buf, size_t len, const char *name);
