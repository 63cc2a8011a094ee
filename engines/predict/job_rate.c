/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/predict/job_rate.h"

#include "engines/predict/job_ranks.h"
#include "engines/predict/predict_fair.h"
#include "engines/predict/predict_paths.h"
#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/pool.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define RUNS	  4	     /* each by itself, from other beginnings */
#define STEPS_MIN 64	     /* default: of all runs ... */
#define STEPS_MAX 2048	     /* ... at most */
#define FLOWS_MAX 1000000    /* ... or so many flows over all steps */
#define FAIR_WORK (1u << 15) /* shares between two reports */

/* Where a job is in a run. */
struct rate_job {
	uint32_t shift, stride;
	double sent; /* of its shift, 0..1 */
	double sum;  /* of its rates, in the steps that count */
};

struct rate_worker {
	struct rank_flows list;
	struct trace trace;  /* of flows */
	struct trace shares; /* of jobs: where one has a flow it has a share */
	struct fair fair;
	uint32_t *job_of; /* of each flow */
	uint32_t cap_flow;
};

struct job_rate {
	struct arena *mem; /* owns the arrays */
	struct predict_paths paths;
	const struct jobset *jobs;
	const struct job_rate_opts *opts;
	struct progress *progress;
	struct job_ranks *ranks;
	/* per job: its slowest port, whose cable stands for those of all; or each counts by itself,
	 * as others, or several messages of the job, go over one */
	uint32_t *slowest;
	bool *cables;
	uint32_t warm, steps; /* of a run: before it counts, and all */
	struct rate_worker *worker;
	struct rate_job *job;	  /* [run * njob + job] */
	bool *between, *stranded; /* likewise: has it flows between switches, one without a path? */
};

uint32_t job_rate_default_steps(const struct fabric *f)
{
	uint32_t n = f->nterm ? FLOWS_MAX / f->nterm : STEPS_MAX;

	return n > STEPS_MAX ? STEPS_MAX : n < STEPS_MIN ? STEPS_MIN : n;
}

static uint32_t job_rate_common_divisor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Any few shifts in a row are near and far ones, and each comes once before one comes again. */
static void job_rate_begin(struct rate_job *p, uint32_t nrank, struct rng *r)
{
	uint32_t all = nrank - 1;

	*p = (struct rate_job){ .sent = rng_unit(r), .shift = 1 + (uint32_t)rng_below(r, all) };
	p->stride = (uint32_t)(0.618 * all) + 1;
	while (job_rate_common_divisor(p->stride, all) > 1)
		p->stride++;
}

static void job_rate_add_flows(const struct job_rate *k, struct rate_worker *w, uint32_t j,
			       uint32_t shift)
{
	uint32_t n, i = (uint32_t)w->list.flows.n;

	job_ranks_shift(&w->list, &k->ranks[j], shift);
	n = (uint32_t)w->list.flows.n;
	if (w->cap_flow < n) {
		w->cap_flow = 2 * n;
		w->job_of = xrealloc(w->job_of, w->cap_flow, sizeof(*w->job_of));
	}
	for (; i < n; i++)
		w->job_of[i] = j;
}

static float job_rate_delay(const struct job_rate *k, uint32_t term)
{
	return k->paths.slow[predict_paths_up(&k->paths, term)];
}

static void job_rate_share(struct trace *to, uint32_t link, uint32_t job, float part)
{
	to->steps[to->n++] = (struct step){ .link = link, .flow = job, .part = part };
}

/* What the jobs have of each link; flows without a path are left out. */
static void job_rate_share_links(const struct job_rate *k, struct rate_worker *w)
{
	const struct trace *tr = &w->trace;
	struct trace *to = &w->shares;
	uint32_t n = tr->n + 2 * tr->nflow + k->jobs->njob;

	if (to->cap < n) {
		to->cap = 2 * n;
		to->steps = xrealloc(to->steps, to->cap, sizeof(*to->steps));
	}
	to->n = 0;
	to->nflow = k->jobs->njob;
	for (uint32_t j = 0; j < to->nflow; j++) {
		to->stranded[j] = k->ranks[j].nrank < 2;
		if (!to->stranded[j] && !k->cables[j])
			job_rate_share(to, predict_paths_up(&k->paths, k->slowest[j]), j, 1);
	}
	for (uint32_t i = 0; i < tr->nflow; i++) {
		const struct flow *fl = &w->list.flows.v[i];

		if (tr->stranded[i] || !k->cables[w->job_of[i]])
			continue;
		job_rate_share(to, predict_paths_up(&k->paths, fl->src), w->job_of[i], 1);
		job_rate_share(to, predict_paths_down(&k->paths, fl->dst), w->job_of[i], 1);
	}
	for (uint32_t i = 0; i < tr->n; i++)
		if (!tr->stranded[tr->steps[i].flow])
			job_rate_share(to, tr->steps[i].link, w->job_of[tr->steps[i].flow],
				       tr->steps[i].part);
}

static void job_rate_note_flows(const struct job_rate *k, const struct rate_worker *w, uint32_t run)
{
	const struct fabric *f = k->paths.f;

	for (uint32_t i = 0; i < w->trace.nflow; i++) {
		const struct flow *fl = &w->list.flows.v[i];
		size_t at = (size_t)run * k->jobs->njob + w->job_of[i];

		k->between[at] = k->between[at] || f->term_sw[fl->src] != f->term_sw[fl->dst];
		k->stranded[at] = k->stranded[at] || w->trace.stranded[i];
	}
}

static void job_rate_send(const struct job_rate *k, const struct rate_worker *w,
			  struct rate_job *job, bool counts)
{
	for (uint32_t j = 0; j < k->jobs->njob; j++) {
		double rate = fmin(w->fair.rate[j] * (double)job_rate_delay(k, k->slowest[j]), 1);
		struct rate_job *p = &job[j];

		if (k->ranks[j].nrank < 2)
			continue;
		p->sum += counts ? rate : 0;
		p->sent += rate;
		if (p->sent < 1)
			continue;
		p->sent -= 1;
		p->shift = 1 + (uint32_t)(((uint64_t)p->shift - 1 + p->stride) %
					  (k->ranks[j].nrank - 1));
	}
}

/* True: cancelled. */
static bool job_rate_step(struct job_rate *k, struct rate_worker *w, uint32_t run, uint32_t step,
			  struct pace *pace)
{
	struct rate_job *job = k->job + (size_t)run * k->jobs->njob;

	w->list.flows.n = 0;
	predict_paths_trace_clear(&w->trace);
	for (uint32_t j = 0; j < k->jobs->njob; j++)
		if (k->ranks[j].nrank > 1)
			job_rate_add_flows(k, w, j, job[j].shift);
	predict_paths_trace_flows(&w->trace, &k->paths, w->list.flows.v, (uint32_t)w->list.flows.n);
	job_rate_share_links(k, w);
	job_rate_note_flows(k, w, run);
	if (fair_rates(&w->fair, &k->paths, &w->shares, NULL, pace, run * k->steps + step))
		return true;
	job_rate_send(k, w, job, step >= k->warm);
	return false;
}

static bool job_rate_run(void *ctx, unsigned worker, uint32_t run)
{
	struct job_rate *k = ctx;
	struct pace pace = { .progress = worker ? NULL : k->progress,
			     .step = "rates",
			     .total = (uint64_t)RUNS * k->steps,
			     .work_max = FAIR_WORK };
	struct rng r;

	for (uint32_t j = 0; j < k->jobs->njob; j++) {
		rng_seed(&r, k->opts->seed + run);
		rng_seed(&r, rng_u64(&r) + k->jobs->jobs[j].id); /* others may come and go */
		if (k->ranks[j].nrank > 1)
			job_rate_begin(&k->job[(size_t)run * k->jobs->njob + j], k->ranks[j].nrank,
				       &r);
	}
	/* any worker looks: who reports may get no run at all */
	for (uint32_t step = 0; step < k->steps; step++)
		if (progress_step(pace.progress, pace.step, run * k->steps + step, pace.total) ||
		    progress_cancelled(k->progress) ||
		    job_rate_step(k, &k->worker[worker], run, step, &pace))
			return true;
	return false;
}

/* --- life ------------------------------------------------------------------------------------ */

static void job_rate_worker_init(struct rate_worker *w, const struct job_rate *k)
{
	*w = (struct rate_worker){ 0 };
	predict_paths_trace_init(&w->trace);
	w->shares.stranded = xcalloc(k->jobs->njob + 1u, sizeof(*w->shares.stranded));
	fair_init(&w->fair, &k->paths);
}

static void job_rate_worker_done(struct rate_worker *w)
{
	predict_paths_trace_done(&w->trace);
	fair_done(&w->fair);
	vec_free(&w->list.flows);
	free(w->shares.steps);
	free(w->shares.stranded);
	free(w->job_of);
}

/* Against the fastest of the fabric. */
static uint32_t job_rate_slowest_port(const struct job_rate *k, const struct job *job)
{
	uint32_t slowest = job->terms[0];

	for (uint32_t i = 1; i < job->nterm; i++)
		if (job_rate_delay(k, job->terms[i]) > job_rate_delay(k, slowest))
			slowest = job->terms[i];
	return slowest;
}

/* Hosts of other jobs, too, or ranks of which some have more ports than others. */
static bool job_rate_needs_cables(const struct job_rate *k, uint32_t j)
{
	const struct job_ranks *r = &k->ranks[j];

	for (uint32_t i = 1; i < r->nrank; i++)
		if (r->off[i + 1] - r->off[i] != r->off[1])
			return true;
	for (uint32_t i = 0; i < r->off[r->nrank]; i++)
		if (k->jobs->term_off[r->term[i] + 1] - k->jobs->term_off[r->term[i]] > 1)
			return true;
	return false;
}

static void job_rate_prepare(struct job_rate *k)
{
	uint32_t njob = k->jobs->njob, all = k->opts->steps;
	size_t n = (size_t)RUNS * njob;

	if (!all)
		all = job_rate_default_steps(k->paths.f);
	k->steps = all < 2 * RUNS ? 2 : all / RUNS;
	k->warm = k->steps / 4;
	k->ranks = job_ranks_new(k->mem, k->paths.f, k->jobs);
	k->slowest = arena_alloc(k->mem, njob, sizeof(*k->slowest));
	k->cables = arena_alloc(k->mem, njob, sizeof(*k->cables));
	for (uint32_t j = 0; j < njob; j++) {
		if (k->ranks[j].nrank < 2)
			continue;
		k->slowest[j] = job_rate_slowest_port(k, &k->jobs->jobs[j]);
		k->cables[j] = job_rate_needs_cables(k, j);
	}
	k->job = arena_alloc(k->mem, n, sizeof(*k->job));
	k->between = arena_alloc(k->mem, n, sizeof(*k->between));
	k->stranded = arena_alloc(k->mem, n, sizeof(*k->stranded));
}

static bool job_rate_run_all(struct job_rate *k)
{
	struct pool *pool = pool_new(k->opts->threads);
	unsigned workers = pool_threads(pool);
	bool stopped;

	k->worker = arena_alloc(k->mem, workers, sizeof(*k->worker));
	for (unsigned w = 0; w < workers; w++)
		job_rate_worker_init(&k->worker[w], k);
	stopped = pool_for(pool, RUNS, job_rate_run, k);
	for (unsigned w = 0; w < workers; w++)
		job_rate_worker_done(&k->worker[w]);
	pool_free(pool);
	return stopped;
}

static double job_rate_mean(const struct job_rate *k, uint32_t j)
{
	bool between = false, stranded = false;
	double sum = 0;

	for (size_t run = 0; run < RUNS; run++) {
		size_t at = run * k->jobs->njob + j;

		sum += k->job[at].sum;
		between = between || k->between[at];
		stranded = stranded || k->stranded[at];
	}
	return between && !stranded ? sum / RUNS / (k->steps - k->warm) : NAN;
}

int job_rate_compute(double *rate, const struct fabric *f, const struct tables *t,
		     const struct jobset *jobs, const struct job_rate_opts *opts,
		     struct progress *progress, struct err *err)
{
	static const struct job_rate_opts none;
	struct job_rate k = { .jobs = jobs, .opts = opts ? opts : &none, .progress = progress };
	int rc = predict_paths_open(&k.paths, f, t, jobs, k.opts->lids, k.opts->lids_ctx, err);

	if (rc)
		return rc;
	k.mem = arena_new();
	job_rate_prepare(&k);
	if (job_rate_run_all(&k))
		rc = err_set(err, -ECANCELED, "the prediction was cancelled");
	for (uint32_t j = 0; !rc && j < jobs->njob; j++)
		rate[j] = job_rate_mean(&k, j);
	arena_free(k.mem);
	predict_paths_done(&k.paths);
	return rc;
}
