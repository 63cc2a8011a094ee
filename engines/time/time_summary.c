/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/time/time_summary.h"

static void time_summary_take(struct time_summary *out, enum predict_pattern pattern,
			      const struct job_times *x, const struct jobset *jobs)
{
	if (x->worst_job == FAB_NONE)
		return;
	out->jobs = true;
	out->of[pattern] = (struct pattern_time){ .mean = x->mean,
						  .node_mean = x->node_mean,
						  .worst = x->worst,
						  .worst_job = jobs->jobs[x->worst_job].id,
						  .s_per_MiB = x->s_per_MiB };
}

static int time_summary_of_jobs(struct time_summary *out, struct time_sheet **sheet,
				const struct fabric *f, const struct tables *t,
				const struct jobset *jobs, const struct time_summary_opts *opts,
				struct progress *progress, struct err *err)
{
	struct job_time_opts o = { .seed = opts->seed,
				   .threads = opts->threads,
				   .lids = opts->lids,
				   .lids_ctx = opts->lids_ctx };
	struct io_time_opts io = { opts->threads, opts->lids, opts->lids_ctx };
	int rc = time_memo_sheet(sheet, opts->memo, f, t, jobs, &o, progress, err);

	if (!rc)
		rc = io_time_compute(&out->io, f, t, jobs, &io, progress, err);
	for (int p = 0; !rc && p < PREDICT_PATTERNS; p++)
		time_summary_take(out, (enum predict_pattern)p, (*sheet)->of[p], jobs);
	return rc;
}

int time_summary_compute(struct time_summary *out, struct time_sheet **sheet,
			 const struct fabric *f, const struct tables *t, const struct jobset *jobs,
			 const struct time_summary_opts *opts, struct progress *progress,
			 struct err *err)
{
	static const struct time_summary_opts none = { .seed = 1 };
	struct time_sheet *of_jobs = NULL;
	struct shift_time_opts o;
	int rc = 0;

	*out = (struct time_summary){ .known = false };
	opts = opts ? opts : &none;
	o = (struct shift_time_opts){ .shifts = opts->shifts,
				      .seed = opts->seed,
				      .threads = opts->threads,
				      .lids = opts->lids,
				      .lids_ctx = opts->lids_ctx };
	if (jobs && jobs->nmulti)
		rc = time_summary_of_jobs(out, &of_jobs, f, t, jobs, opts, progress, err);
	if (!rc && opts->demand)
		rc = demand_time_compute(&out->demand, f, t, opts->demand, opts->lids,
					 opts->lids_ctx, progress, err);
	if (!rc)
		rc = time_memo_shifts(&out->shift, opts->memo, f, t, jobs, &o, progress, err);
	out->known = !rc;
	if (rc || !sheet) {
		time_sheet_put(of_jobs);
		of_jobs = NULL;
	}
	if (sheet)
		*sheet = of_jobs;
	return rc;
}
