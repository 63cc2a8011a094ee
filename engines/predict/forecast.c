/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/predict/forecast.h"

#define SEED 1

static int forecast_jobs(struct forecast *out, const struct fabric *f, const struct tables *t,
			 const struct jobset *jobs, const struct ebb_opts *opts,
			 struct progress *progress, struct err *err)
{
	struct predict_opts run = { .pattern = PREDICT_ALLTOALL,
				    .seed = SEED,
				    .lids = opts->lids,
				    .lids_ctx = opts->lids_ctx };
	struct prediction *p = NULL;
	struct ebb_jobs *e = NULL;
	int rc = predict_jobs(&p, f, t, jobs, &run, progress, err);

	if (!rc)
		rc = predict_ebb_jobs(&e, f, t, jobs, opts, progress, err);
	if (!rc && p->worst != FAB_NONE) {
		out->jobs = true;
		out->ebb_jobs = e->all.mean;
		out->slowdown_mean = p->slowdown_mean;
		out->slowdown_max = p->slowdown_max;
		out->worst_job = jobs->jobs[p->worst].id;
	}
	prediction_free(p);
	ebb_jobs_free(e);
	return rc;
}

int forecast_compute(struct forecast *out, const struct fabric *f, const struct tables *t,
		     const struct jobset *jobs, const struct predict_lids *to,
		     struct progress *progress, struct err *err)
{
	struct ebb_opts opts = { .seed = SEED,
				 .lids = to ? to->lids : NULL,
				 .lids_ctx = to ? to->ctx : NULL };
	struct ebb ebb;
	int rc = predict_ebb(&ebb, f, t, &opts, progress, err);

	*out = (struct forecast){ .known = false };
	if (rc)
		return rc;
	out->ebb = ebb.mean;
	out->ebb_ci95 = ebb.ci95;
	if (jobs && jobs->nmulti)
		rc = forecast_jobs(out, f, t, jobs, &opts, progress, err);
	out->known = !rc;
	return rc;
}
