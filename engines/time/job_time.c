/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/time/job_time.h"

#include "engines/time/phase/phase_jobs.h"
#include "fabric/base/hash/rng.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rehearsal {
	struct arena *mem; /* owns the arrays */
	struct predict_paths paths;
	const struct jobset *jobs;
	const struct job_time_opts *opts;
	struct progress *progress;
	struct job_ranks *ranks;
	uint32_t phases;
	uint32_t *shift;	    /* [job * phases + phase] */
	struct phase_jobs run;
};

/* --- phases ---------------------------------------------------------------------------------- */

/* Of each job by its id alone, so that others may come and go. */
void job_time_shifts(uint32_t *shift, uint32_t n, uint32_t nrank, uint64_t seed, uint64_t id)
{
	struct rng r;

	if (nrank < 2)
		return;
	rng_seed(&r, seed);
	rng_seed(&r, rng_u64(&r) + id);
	for (uint32_t i = 0; i < n; i++)
		shift[i] = 1 + (uint32_t)rng_below(&r, nrank - 1);
}

static void job_time_plan(struct rehearsal *k)
{
	size_t n;

	k->phases = k->opts->phases ? k->opts->phases : JOB_TIME_PHASES;
	if (k->opts->pattern != PREDICT_ALLTOALL)
		k->phases = 1;
	n = (size_t)k->jobs->njob * k->phases;
	k->shift = arena_alloc(k->mem, n, sizeof(*k->shift));
	for (uint32_t j = 0; j < k->jobs->njob; j++)
		job_time_shifts(k->shift + (size_t)j * k->phases, k->phases, k->ranks[j].nrank,
				k->opts->seed, k->jobs->jobs[j].id);
}

static void job_time_add_flows(void *ctx, struct rank_flows *out, uint32_t phase, unsigned round,
			       uint32_t j)
{
	const struct rehearsal *k = ctx;
	const struct job_ranks *t = &k->ranks[j];

	(void)round;
	if (k->opts->pattern == PREDICT_ALLTOALL)
		job_ranks_shift(out, t, k->shift[(size_t)j * k->phases + phase]);
	else if (k->opts->pattern == PREDICT_SHIFT)
		job_ranks_shift(out, t, t->nrank / 2);
	else
		job_ranks_exchange(out, t, k->opts->pattern);
}

static uint32_t job_time_messages(void *ctx, uint32_t j)
{
	const struct rehearsal *k = ctx;

	return job_ranks_messages(&k->ranks[j], k->opts->pattern);
}

static bool job_time_run(struct rehearsal *k)
{
	k->run = (struct phase_jobs){ .paths = &k->paths,
				      .njob = k->jobs->njob,
				      .phases = k->phases,
				      .rounds = 1,
				      .add = job_time_add_flows,
				      .messages = job_time_messages,
				      .ctx = k };
	return phase_jobs_run(&k->run, k->mem, k->opts->threads, k->progress, "phases");
}

/* --- means ----------------------------------------------------------------------------------- */

/* Of the ports of a job, against the fastest of the fabric. */
static double job_time_slowest_port(const struct rehearsal *k, uint32_t j)
{
	const struct job *job = &k->jobs->jobs[j];
	double slow = 1;

	for (uint32_t i = 0; i < job->nterm; i++)
		slow = fmax(slow,
			    (double)k->paths.slow[predict_paths_up(&k->paths, job->terms[i])]);
	return slow;
}

static void job_time_summarise_job(struct job_time *out, const struct rehearsal *k, uint32_t j)
{
	const double *time = k->run.time + (size_t)j * k->phases;
	double slow = job_time_slowest_port(k, j), sum = 0;

	*out = (struct job_time){ .ranks = k->ranks[j].nrank };
	for (uint32_t i = 0; i < k->phases; i++) {
		out->flows += k->run.flows[(size_t)j * k->phases + i];
		out->stranded += k->run.stranded[(size_t)j * k->phases + i];
		sum += fmax(time[i], slow);
	}
	out->time = phase_mean_of(time, k->phases);
	out->s_per_MiB = k->paths.Mbps ? sum / k->phases * PHASE_MIB_MBIT / k->paths.Mbps : NAN;
}

/* Phase by phase first: the jobs of a phase hang together.  weighted: by their nodes. */
static struct phase_mean job_time_over_jobs(const struct rehearsal *k, const struct job_times *x,
					    bool weighted)
{
	double *mean = xcalloc(k->phases, sizeof(*mean)), all = 0;
	struct phase_mean out;

	for (uint32_t j = 0; j < x->njob; j++) {
		double weight = x->job[j].flows ? weighted ? x->job[j].ranks : 1 : 0;

		all += weight;
		for (uint32_t i = 0; i < k->phases; i++)
			mean[i] += weight * k->run.time[(size_t)j * k->phases + i];
	}
	for (uint32_t i = 0; i < k->phases; i++)
		mean[i] = all > 0 ? mean[i] / all : 1;
	out = phase_mean_of(mean, k->phases);
	free(mean);
	return out;
}

static struct job_times *job_time_summarise(const struct rehearsal *k)
{
	struct job_times *x = xcalloc(1, sizeof(*x));

	x->njob = k->jobs->njob;
	x->phases = k->phases;
	x->worst = (struct phase_mean){ 1, 0 };
	x->worst_job = FAB_NONE;
	x->job = xcalloc(x->njob, sizeof(*x->job));
	x->phase = xcalloc((size_t)x->njob * x->phases, sizeof(*x->phase));
	if (x->njob)
		memcpy(x->phase, k->run.time, (size_t)x->njob * x->phases * sizeof(*x->phase));
	for (uint32_t j = 0; j < x->njob; j++) {
		struct job_time *job = &x->job[j];

		job_time_summarise_job(job, k, j);
		if (!job->flows)
			continue;
		x->counted++;
		x->stranded += job->stranded;
		x->s_per_MiB += job->s_per_MiB;
		if (x->worst_job != FAB_NONE && job->time.mean <= x->worst.mean)
			continue;
		x->worst = job->time;
		x->worst_job = j;
	}
	x->s_per_MiB = x->counted ? x->s_per_MiB / x->counted : NAN;
	x->mean = job_time_over_jobs(k, x, false);
	x->node_mean = job_time_over_jobs(k, x, true);
	return x;
}

int job_times_compute(struct job_times **out, const struct fabric *f, const struct tables *t,
		      const struct jobset *jobs, const struct job_time_opts *opts,
		      struct progress *progress, struct err *err)
{
	static const struct job_time_opts none = { .pattern = PREDICT_ALLTOALL };
	struct rehearsal k = { .jobs = jobs, .opts = opts ? opts : &none, .progress = progress };
	int rc = predict_paths_open(&k.paths, f, t, jobs, k.opts->lids, k.opts->lids_ctx, err);

	*out = NULL;
	if (rc)
		return rc;
	k.mem = arena_new();
	k.ranks = job_ranks_new(k.mem, f, jobs);
	job_time_plan(&k);
	if (job_time_run(&k))
		rc = err_set(err, -ECANCELED, "the prediction was cancelled");
	else
		*out = job_time_summarise(&k);
	arena_free(k.mem);
	predict_paths_done(&k.paths);
	return rc;
}

void job_times_free(struct job_times *x)
{
	if (!x)
		return;
	free(x->job);
	free(x->phase);
	free(x);
}
