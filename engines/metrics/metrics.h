/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics: how good tables are, in the figures of the SC16 paper; exact.
 *
 * Counting: one route per ordered pair of terminals, to the base LID, over directed
 * inter-switch channels.  EFI of a channel = routes over it; effective EFI (SC16 Def. 7) =
 * routes of pairs that share a job (its maximum and bound go by rate, see there); dark fiber (Def.
 * 8) = share of channels with effective EFI 0; per-job figures are means over jobs with at least
 * one inter-switch route.  A pair that shares several jobs counts once in the effective EFI, and in
 * each of its jobs.  Routes are what the LFTs say; whether SL2VL lets packets through is verify's
 * question.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

#define METRICS_BUCKETS 16

struct job_metrics {
	uint64_t efi_max; /* over its own routes */
	uint32_t links;	  /* channels that its routes use */
	uint64_t routes;  /* with at least one inter-switch channel */
};

struct metrics {
	uint32_t nchan, njob;
	uint64_t *efi;	   /* per channel */
	uint64_t *eff_efi; /* per channel; all 0 without jobs */

	uint64_t efi_max;
	double efi_mean, efi_stddev; /* over all channels */
	/* routes on a channel times the fastest rate of a channel over its own, rounded up: as if
	 * all cables had the fastest rate; the effective EFI itself where all have the same */
	uint64_t eff_efi_max;
	double eff_efi_mean;
	uint64_t eff_efi_bound; /* of eff_efi_max: no destination-based routing of these jobs gets
				 * below; 0 where every LID of a terminal counts */
	uint64_t eff_efi_bound_minimal; /* nor one with the fewest hops alone; 0 unknown */
	double *lengths; /* of channels, that prove a bound (length_bound.h); NULL unknown */
	double job_efi_max_mean;
	double links_per_job_mean;
	uint32_t dark; /* channels */
	double dark_fiber_pct;

	uint32_t hops_max; /* pairs on one switch have 0 hops and are in the mean */
	double hops_mean;
	uint64_t unreachable; /* ordered pairs of terminals without a route (left out of all
				 figures) */

	uint32_t vls_used, sls_used; /* as in struct verdict: all ends, all LIDs in use */
	uint64_t lft_blocks;	     /* blocks that hold an entry */

	/* channels by EFI: bucket b counts those with EFI in [b, b+1) * bucket_width, the least
	 * width that lets the largest EFI into the last bucket; the same for both */
	uint64_t bucket_width;
	uint32_t efi_hist[METRICS_BUCKETS], eff_hist[METRICS_BUCKETS];

	struct job_metrics *job; /* by index in the job set */
};

struct metrics_opts {
	unsigned threads; /* 0: one per core; never changes the result */
	bool all_lids;	  /* a route for every traffic LID (not those for escape) of a terminal,
			   * not just for its base LID: in EFI, hops, unreachable and jobs */
	uint64_t bound_work; /* for each of the bounds from lengths, as in length_bound.h; 0: none
			      * of them, eff_efi_bound is from cuts alone */
};

/* jobs and opts may be NULL.  -ECANCELED; -EINVAL when tables or jobs are of another fabric.
 * Progress step: "metrics".  Time O(LIDs * switches + sum over jobs of terminals * switches *
 * hops). */
int metrics_compute(struct metrics **out, const struct fabric *f, const struct tables *t,
		    const struct jobset *jobs, const struct metrics_opts *opts,
		    struct progress *progress, struct err *err);
void metrics_free(struct metrics *m); /* NULL is fine */

/*
 * The lower bound alone; jobs may be NULL.
 *
 * Proof.  A destination-based routing sends all packets from one switch to one LID along the same
 * path.  So the routes from one switch of a set to one destination outside are an
 * item that crosses the edge of the set as a whole, and likewise from one switch outside to
 * one destination inside: items packed on the channels out of the set (into it), whose
 * fullest holds at least their mean, and of the heaviest q m + 1 items on m channels some q + 1
 * together (pigeonhole).  Of one switch alone all its routes to one destination are an item,
 * whichever jobs they belong to.  Sets: each switch; the components of the switches below
 * each level, counted from the terminals (pods of a tree); the components under channels that
 * lie on triangles (groups of a dragonfly); and, with the mean alone, the many of
 * metrics_bound_cuts() in metrics_bound.c.  Of jobs that share two terminals or more only the first
 * in canonical order counts there, so that no pair counts twice; where there are such, cuts with
 * the pairs of all jobs, each once, are tried besides (job_demand.h), with the mean alone.
 * Channels count by their rate (chan_weight.h), unless that is to be ignored.
 */
uint64_t metrics_eff_efi_bound(const struct fabric *f, const struct jobset *jobs);
/* The same with reports of progress under that name, done of 1; once cancelled it ends early with
 * less, and the next step says so. */
uint64_t metrics_eff_efi_bound_with_progress(const struct fabric *f, const struct jobset *jobs,
					     bool ignore_rates, struct progress *progress,
					     const char *step, unsigned done);
