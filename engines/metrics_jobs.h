/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metrics_jobs: the routes inside jobs, counted per source switch. */
#ifndef ENGINES_METRICS_JOBS_H
#define ENGINES_METRICS_JOBS_H

#include "engines/metrics.h"
#include "engines/verify_walk.h"

/* Fills eff_efi and job of m for the tables of w.  0 or -ECANCELED. */
int metrics_jobs(struct metrics *m, const struct walk *w, const struct jobset *jobs,
		 struct progress *progress);

#endif
