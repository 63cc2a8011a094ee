/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metrics_jobs: the routes inside jobs, counted per source switch. */
#ifndef ENGINES_METRICS_JOBS_H
#define ENGINES_METRICS_JOBS_H

#include "engines/metrics.h"

/* Fills eff_efi and job of m.  0 or -ECANCELED. */
int metrics_jobs(struct metrics *m, const struct fabric *f, const struct tables *t,
		 const struct jobset *jobs, struct progress *progress);

#endif
