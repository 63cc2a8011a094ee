/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load_fabric: fabrics from any file that we can read, told apart by what is in them.  "-" is
 * stdin.  Warnings of the readers go to the log. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/topology/name_map.h"

#include <stdbool.h>

/*
 * ibnetdiscover text or its cache (ibnetdiscover --cache), an ibsim net file, opensm-subnet.lst,
 * OpenSM's neighbors (LIDs from guid2lid beside it), netloc's ...-nodes.ndat, SLURM's topology.conf
 * or topology.yaml, or, where no such file exists, the text of a generated fabric
 * (fabric/sim/topology/topo.h).  name: of the fabric, NULL for one made from its fingerprint; names
 * may be NULL; lmc -1: as found in the file.  The caller owns one reference.
 */
struct load_fabric_opts {
	const char *name;
	const struct name_map *names;
	int lmc;
	bool strict; /* -ENODATA with a sentence where the file is damaged, see incomplete below */
};

/* incomplete, may be NULL: ends or cables that the file names are not in it, or not all of it is
 * there; the log names the first of them with their lines.  What is there is loaded. */
int load_fabric_of(struct fabric **out, bool *incomplete, const char *path,
		   const struct load_fabric_opts *opts, struct err *err);

/* The same of any file, damaged or not. */
static inline int load_fabric_lmc(struct fabric **out, const char *path, const char *name,
				  const struct name_map *names, int lmc, struct err *err)
{
	struct load_fabric_opts opts = { .name = name, .names = names, .lmc = lmc };

	return load_fabric_of(out, NULL, path, &opts, err);
}

static inline int load_fabric(struct fabric **out, const char *path, const char *name,
			      const struct name_map *names, struct err *err)
{
	return load_fabric_lmc(out, path, name, names, -1, err);
}
