/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metrics_jobs: the routes inside jobs, counted per source switch. */
#ifndef ENGINES_METRICS_METRICS_JOBS_H
#define ENGINES_METRICS_METRICS_JOBS_H

#include "engines/metrics/metrics.h"
#include "fabric/base/pool.h"

/* Fills eff_efi and job of m.  0 or -ECANCELED. */
int metrics_jobs(struct metrics *m, const struct fabric *f, const struct tables *t,
		 const struct jobset *jobs, const struct metrics_opts *opts, struct pool *pool,
		 struct progress *progress);

/* Does a route to that LID count?  To base LIDs of counted terminals, or to all traffic LIDs. */
static inline bool metrics_counts(const struct fabric *f, const struct tables *t,
				  const struct metrics_opts *opts, uint32_t lid)
{
	uint32_t end = fabric_lid_end(f, lid);

	if (end >= f->nterm)
		return false;
	if (opts->all_lids)
		return !t->escape || !fabric_lid_escape(f, lid);
	return f->term_lid[end] == lid;
}

#endif
