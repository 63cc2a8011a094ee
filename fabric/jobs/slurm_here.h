/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_here: is this node one of a SLURM cluster, so that jobs are asked of it by default? */
#pragma once

#include <stdbool.h>

/* There is a slurm.conf, where SLURM's own commands look for it; root: "" but in tests. */
bool slurm_here_below(const char *root);

static inline bool slurm_here(void)
{
	return slurm_here_below("");
}
