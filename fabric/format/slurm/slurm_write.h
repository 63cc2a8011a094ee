/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_write: SLURM's topology.conf and topology.yaml, written. */
#pragma once

#include "fabric/format/slurm/slurm_topology.h"

#include <stdio.h>

/* Lines of SwitchName=, or of BlockName= with the number of nodes of the smallest block as
 * BlockSizes=; names as host lists.  slurm_topology_read() takes it; errors are those of the
 * stream. */
void slurm_topology_write(FILE *out, const struct slurm_topology *topo);

/* The same as the default topology of a topology.yaml, under that name. */
void slurm_yaml_write(FILE *out, const struct slurm_topology *topo, const char *name);
