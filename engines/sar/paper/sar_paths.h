/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sar_paths: Algorithm 1 of SC16 and what its authors' patch made of it, by the DP of balance.
 *
 * First the terminals with jobs over several switches, then storage, then all others.
 *   SAR_PAPER  terminals by their largest job, in descending size, then job id; a LID adds
 *              one route per terminal that shares a job with it; storage before the others.
 *   SAR_PATCH  terminals by the job that the source named first, in that order; a LID adds to
 *              each source switch the LIDs that the job with most of them there has; all
 *              terminals without jobs follow by LID as in dfsssp.
 */
#pragma once

#include "engines/engine.h"
#include "engines/graph/graph.h"

struct sar_paths;

/* method: SAR_PAPER or SAR_PATCH.  Writes to t, which must outlive it, as must the others. */
struct sar_paths *sar_paths_new(struct tables *t, const struct fabric *f, const struct jobset *jobs,
				uint8_t lmc, enum sar_method method);
void sar_paths_free(struct sar_paths *s); /* NULL is fine */

/* Routes by channel, which the caller may change between calls. */
uint64_t *sar_paths_loads(struct sar_paths *s);

/* Adds to the loads the routes from every terminal to the LIDs of terminals with jobs, as t has
 * them along shortest paths.  -ECANCELED. */
int sar_paths_count_jobs(struct sar_paths *s, struct pace *p, uint64_t *done);

/* All LIDs of the terminals with jobs; then those of everything else.  Add the LIDs routed to
 * *done, which is what p reports.  -ECANCELED. */
int sar_paths_jobs(struct sar_paths *s, struct pace *p, uint64_t *done);
int sar_paths_rest(struct sar_paths *s, struct pace *p, uint64_t *done);

/* Both, into t, which has no paths yet.  -ECANCELED. */
int sar_paths_all(struct tables *t, const struct fabric *f, const struct jobset *jobs, uint8_t lmc,
		  enum sar_method method, struct progress *progress);
