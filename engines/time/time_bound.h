/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * time_bound: below which mean time of jobs in an all-to-all no routing gets.
 *
 * Proof, phase by phase, for the same draw as in job_time.h.  What a job sends out of a switch in
 * a phase, or into it, needs the share of a flow that its channels leave: its time is at least the
 * flows over their capacity (1 for a channel of the fastest host's rate).  And with a length for
 * every channel: jobs that are through after time x load no channel beyond x, so that all their
 * flows together are no longer than x times sum(length * capacity).  So the i-th job to be through
 * takes at least what the i shortest ones have to send, over that sum.
 */
#pragma once

#include "engines/time/job_time.h"

/* lengths: by channel, such as prove the bound of the largest load; NULL: all are 1.  Of opts
 * (NULL: the default) phases and seed count.  0: nothing is known of so large a fabric, or no job
 * sends over links; else at least 1.  -ECANCELED.  O(switches^3 + phases * ranks). */
int time_bound_compute(double *out, const struct fabric *f, const struct jobset *jobs,
		       const double *lengths, const struct job_time_opts *opts,
		       struct progress *progress);
