/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/jobs/slurm_here.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool slurm_here_below(const char *root)
{
	/* the last is where slurmd and sackd keep what slurmctld has sent them */
	static const char *const places[] = {
		"/etc/slurm/slurm.conf",
		"/etc/slurm-llnl/slurm.conf",
		"/usr/local/etc/slurm.conf",
		"/run/slurm/conf/slurm.conf",
	};
	const char *said = getenv("SLURM_CONF");
	char path[PATH_MAX];

	if (said && *said)
		return true;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "%s%s", root, places[i]);
		if (!access(path, F_OK))
			return true;
	}
	return false;
}
