/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fabric_shape: what the cables and names of a fabric say of it: its kind, racks, tiers and usual
 * rates.
 *
 * On large fabrics that takes a while: whoever has found or read the fabric makes it, and hands it
 * over with the fabric, so that the thread that draws only looks; immutable.
 */
#pragma once

#include "engines/geometry/tiers.h"
#include "engines/geometry/topology_kind.h"
#include "views/data/state/racks.h"
#include "views/data/summary/sample_summary.h"

struct fabric_shape {
	const struct fabric *fabric; /* own reference */
	struct topology_kind *topology;
	struct racks *racks;
	struct tiers *tiers;
	struct reference_rates reference;
	int refs;
};

/* file and path: of racks_new().  O(channels * ports of a switch).  The caller owns one reference.
 */
const struct fabric_shape *fabric_shape_new(const struct fabric *f,
					    const struct slurm_topology *file, const char *path);
const struct fabric_shape *
fabric_shape_get(const struct fabric_shape *s);	     /* thread-safe; returns s */
void fabric_shape_put(const struct fabric_shape *s); /* thread-safe; NULL is fine */
