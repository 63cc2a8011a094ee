/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_topology_bytes: SLURM's topology on its way from the process that read it from a file. */
#pragma once

#include "fabric/base/file/bytes_io.h"
#include "fabric/format/slurm/slurm_topology.h"

void slurm_topology_put(bytes_out *out, const struct slurm_topology *topo);
/* The same switches, through the draft's own checks; *out is the caller's.  -EPROTO: these are not
 * the bytes of a topology. */
int slurm_topology_take(struct slurm_topology **out, struct bytes_in *in);
