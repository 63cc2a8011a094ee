/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_yaml: SLURM's topology.yaml (25.05 and later), which stands for a topology.conf and may
 * describe several topologies. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/format/slurm/slurm_topology.h"

#include <stdbool.h>
#include <stdio.h>

/* Do the first bytes of a file look like one: the first key is "topology"? */
bool slurm_yaml_is(const char *head);

/*
 * The topology with cluster_default: true, or the first one: its tree of switches, or its blocks or
 * rings as switches with nodes.  When that one is flat, the first that is not, with a warning.
 * Unknown keys are left alone.  -EINVAL, with path and line: no YAML, a list without names, a
 * mistake in a host list; with path alone: no topology with switches, blocks or rings.
 */
int slurm_yaml_read(struct slurm_topology **out, FILE *file, const char *path,
		    struct read_report *report, struct err *err);
