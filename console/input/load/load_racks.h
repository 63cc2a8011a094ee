/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load_racks: which switches are in which rack, from SLURM or from a file of its kind. */
#pragma once

#include "fabric/base/message/err.h"

/* Switch blocks of a topology.conf or topology.yaml (fabric/format/slurm/slurm_topology.h,
 * slurm_yaml.h), or of the one that SLURM takes in a folder; path "slurm": of the SLURM that runs,
 * as scontrol tells them, which may take up to 20 s; -EIO where it does not. */
struct slurm_topology;
int load_racks(struct slurm_topology **out, const char *path, struct err *err);
/* The file, or the command, that this reads; the caller frees. */
char *load_racks_source(const char *path);
