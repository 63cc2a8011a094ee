/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/predict/predict.h"

#include "engines/predict/job_ranks.h"
#include "engines/predict/predict_fair.h"
#include "engines/predict/predict_paths.h"
#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PHASES_MIN 4
#define PHASES_MAX 64
#define FLOWS_MAX  500000     /* default: so many over all phases */
#define FAIR_WORK  (1u << 15) /* shares between two reports */

static const char *const pattern_names[] = { "shift", "alltoall", "ring", "stencil2d",
					     "stencil3d" };

/* What one worker needs for one phase. */
struct scratch {
	struct trace trace;
	struct fair fair;
	struct rank_flows list;
	uint32_t *first; /* per job and at the end: its first flow ... */
	uint32_t *step;	 /* ... and step */
	float *load;	 /* per link; 0 between uses */
};

/* Of one job and phase. */
struct score {
	double ideal, alone, together;
	double rate_min, rate_sum;
	uint32_t flows, stranded;
};

struct rehearsal {
	struct arena *mem; /* owns the arrays */
	struct predict_paths paths;
	const struct jobset *jobs;
	const struct predict_opts *opts;
	struct progress *progress;
	struct job_ranks *teams;
	uint32_t *shift; /* all-to-all: [phase * njob + job] */
	uint32_t phases;
	struct scratch *scratch; /* per worker */
	struct score *score;	 /* [phase * njob + job] */
};

const char *predict_pattern_name(enum predict_pattern pattern)
{
	return pattern_names[pattern];
}

int predict_pattern_parse(enum predict_pattern *out, const char *name, struct err *err)
{
	unsigned i;

	for (i = 0; i < sizeof(pattern_names) / sizeof(*pattern_names); i++) {
		if (strcmp(name, pattern_names[i]))
			continue;
		*out = (enum predict_pattern)i;
		return 0;
	}
	return err_set(err, -EINVAL,
		       "there is no traffic pattern \"%s\": use shift, alltoall, ring, stencil2d "
		       "or stencil3d",
		       name);
}

uint32_t predict_default_phases(const struct fabric *f)
{
	uint32_t n = f->nterm ? FLOWS_MAX / f->nterm : PHASES_MAX;

	if (n > PHASES_MAX)
		return PHASES_MAX;
	return n < PHASES_MIN ? PHASES_MIN : n;
}

/* The shifts of a job: one of every equal part of them all, in random order. */
static void predict_jobs_draw_shifts(struct rehearsal *k, uint32_t j, uint32_t *order)
{
	uint64_t all = k->teams[j].nrank - 1, first, last;
	struct rng r;
	uint32_t i;

	rng_seed(&r, k->opts->seed);
	rng_seed(&r, rng_u64(&r) + j);
	for (i = 0; i < k->phases; i++)
		order[i] = i;
	rng_shuffle_u32(&r, order, k->phases);
	for (i = 0; i < k->phases; i++) {
		first = order[i] * all / k->phases;
		last = (order[i] + 1) * all / k->phases;
		if (last > first)
			first += rng_below(&r, last - first);
		k->shift[(size_t)i * k->jobs->njob + j] = 1 + (uint32_t)first;
	}
}

/* As many phases as the largest job has shifts, but for the limit. */
static void predict_jobs_plan_phases(struct rehearsal *k)
{
	uint32_t j, most = 1, limit, *order;

	k->phases = 1;
	if (k->opts->pattern != PREDICT_ALLTOALL)
		return;
	limit = k->opts->phases ? k->opts->phases : predict_default_phases(k->paths.f);
	for (j = 0; j < k->jobs->njob; j++) {
		if (k->teams[j].nrank > most + 1)
			most = k->teams[j].nrank - 1;
	}
	k->phases = most < limit ? most : limit;
	k->shift = arena_alloc(k->mem, (size_t)k->phases * k->jobs->njob, sizeof(*k->shift));
	order = arena_alloc(k->mem, k->phases, sizeof(*order));
	for (j = 0; j < k->jobs->njob; j++) {
		if (k->teams[j].nrank > 1)
			predict_jobs_draw_shifts(k, j, order);
	}
}

static void predict_jobs_add_flows(const struct rehearsal *k, struct rank_flows *out, uint32_t phase,
				   uint32_t j)
{
	const struct job_ranks *t = &k->teams[j];

	switch (k->opts->pattern) {
	case PREDICT_SHIFT:
		job_ranks_shift(out, t, k->opts->shift ? k->opts->shift : t->nrank / 2);
		break;
	case PREDICT_ALLTOALL:
		job_ranks_shift(out, t, k->shift[(size_t)phase * k->jobs->njob + j]);
		break;
	case PREDICT_RING:
	case PREDICT_STENCIL2:
	case PREDICT_STENCIL3:
		job_ranks_exchange(out, t, k->opts->pattern);
		break;
	}
}

static void predict_jobs_put(struct scratch *d, const struct predict_paths *p, uint32_t link,
			     float part, double *max)
{
	d->load[link] += part;
	if ((double)(d->load[link] * p->slow[link]) > *max)
		*max = (double)(d->load[link] * p->slow[link]);
}

/* The slowest flow of a job on a quiet network is one on the link with the longest queue. */
static void predict_jobs_time_alone(struct scratch *d, const struct predict_paths *p, uint32_t j,
				    struct score *s)
{
	const struct trace *tr = &d->trace;
	const struct flow *flows = d->list.flows.v;
	uint32_t i;

	for (i = d->first[j]; i < d->first[j + 1]; i++) {
		if (tr->stranded[i])
			continue;
		predict_jobs_put(d, p, predict_paths_up(p, flows[i].src), 1, &s->ideal);
		predict_jobs_put(d, p, predict_paths_down(p, flows[i].dst), 1, &s->ideal);
	}
	s->alone = s->ideal;
	for (i = d->step[j]; i < d->step[j + 1]; i++) {
		if (!tr->stranded[tr->steps[i].flow])
			predict_jobs_put(d, p, tr->steps[i].link, tr->steps[i].part, &s->alone);
	}
	for (i = d->first[j]; i < d->first[j + 1]; i++) {
		d->load[predict_paths_up(p, flows[i].src)] = 0;
		d->load[predict_paths_down(p, flows[i].dst)] = 0;
	}
	for (i = d->step[j]; i < d->step[j + 1]; i++)
		d->load[tr->steps[i].link] = 0;
}

static void predict_jobs_time_together(const struct scratch *d, const struct predict_paths *p,
				       uint32_t j, struct score *s)
{
	uint32_t i;

	s->rate_min = 1;
	for (i = d->first[j]; i < d->first[j + 1]; i++) {
		double rate = d->fair.rate[i], share;

		if (d->trace.stranded[i]) {
			s->stranded++;
			continue;
		}
		share = rate * (double)predict_paths_least_delay(p, &d->list.flows.v[i]);
		s->flows++;
		s->rate_sum += share;
		s->rate_min = share < s->rate_min ? share : s->rate_min;
		s->together = 1 / rate > s->together ? 1 / rate : s->together;
	}
}

static bool predict_jobs_run_phase(void *ctx, unsigned worker, uint32_t phase)
{
	struct rehearsal *k = ctx;
	struct scratch *d = &k->scratch[worker];
	struct score *score = k->score + (size_t)phase * k->jobs->njob;
	struct pace pace = { .step = "phases", .total = k->phases, .work_max = FAIR_WORK };
	uint32_t j;

	if (worker == 0)
		pace.progress = k->progress;
	d->list.flows.n = 0;
	predict_paths_trace_clear(&d->trace);
	for (j = 0; j < k->jobs->njob; j++) {
		predict_jobs_add_flows(k, &d->list, phase, j);
		d->first[j + 1] = (uint32_t)d->list.flows.n;
		predict_paths_trace_flows(&d->trace, &k->paths, d->list.flows.v + d->first[j],
					  d->first[j + 1] - d->first[j]);
		d->step[j + 1] = d->trace.n;
		predict_jobs_time_alone(d, &k->paths, j, &score[j]);
		if (pace_tick(&pace, phase, d->step[j + 1] - d->step[j]))
			return true;
	}
	if (fair_rates(&d->fair, &k->paths, &d->trace, d->list.flows.v, &pace, phase))
		return true;
	for (j = 0; j < k->jobs->njob; j++)
		predict_jobs_time_together(d, &k->paths, j, &score[j]);
	return progress_step(pace.progress, "phases", phase + 1u, k->phases);
}

static void predict_jobs_summarise_job(struct job_prediction *out, const struct rehearsal *k,
				       uint32_t j)
{
	double ideal = 0, rate = 0;
	uint32_t i;

	*out = (struct job_prediction){ .ranks = k->teams[j].nrank, .rate_min = 1 };
	for (i = 0; i < k->phases; i++) {
		const struct score *s = &k->score[(size_t)i * k->jobs->njob + j];

		ideal += s->ideal;
		out->alone += s->alone;
		out->together += s->together;
		out->flows += s->flows;
		out->stranded += s->stranded;
		rate += s->rate_sum;
		out->rate_min = s->rate_min < out->rate_min ? s->rate_min : out->rate_min;
	}
	if (!out->flows) {
		out->alone = out->together = out->slowdown = out->rate_mean = 1;
		return;
	}
	/* others never help; what is below 1 was rounded */
	out->slowdown = out->together > out->alone ? out->together / out->alone : 1;
	out->alone /= ideal;
	out->together = out->alone * out->slowdown;
	out->rate_mean = rate / (double)out->flows;
}

static struct prediction *predict_jobs_summarise(const struct rehearsal *k)
{
	struct prediction *p = xcalloc(1, sizeof(*p));
	uint32_t j, n = 0;
	uint64_t flows = 0;

	p->njob = k->jobs->njob;
	p->phases = k->phases;
	p->job = xcalloc(p->njob, sizeof(*p->job));
	p->worst = FAB_NONE;
	p->rate_min = 1;
	for (j = 0; j < p->njob; j++) {
		struct job_prediction *job = &p->job[j];

		predict_jobs_summarise_job(job, k, j);
		if (!job->flows)
			continue;
		n++;
		flows += job->flows;
		p->slowdown_mean += job->slowdown;
		p->rate_mean += job->rate_mean * (double)job->flows;
		p->rate_min = job->rate_min < p->rate_min ? job->rate_min : p->rate_min;
		if (job->slowdown <= p->slowdown_max)
			continue;
		p->slowdown_max = job->slowdown;
		p->worst = j;
	}
	p->slowdown_mean = n ? p->slowdown_mean / n : 1;
	p->slowdown_max = n ? p->slowdown_max : 1;
	p->rate_mean = n ? p->rate_mean / (double)flows : 1;
	return p;
}

static void predict_jobs_scratch_init(struct scratch *d, const struct rehearsal *k)
{
	*d = (struct scratch){ 0 };
	predict_paths_trace_init(&d->trace);
	fair_init(&d->fair, &k->paths);
	d->first = arena_alloc(k->mem, k->jobs->njob + 1u, sizeof(*d->first));
	d->step = arena_alloc(k->mem, k->jobs->njob + 1u, sizeof(*d->step));
	d->load = arena_alloc(k->mem, k->paths.nlink, sizeof(*d->load));
	vec_reserve(&d->list.flows, k->paths.f->nterm);
}

static void predict_jobs_scratch_done(struct scratch *d)
{
	predict_paths_trace_done(&d->trace);
	fair_done(&d->fair);
	vec_free(&d->list.flows);
}

static bool predict_jobs_run(struct rehearsal *k)
{
	struct pool *pool = pool_new(k->phases > 1 ? k->opts->threads : 1);
	unsigned w, workers = pool_threads(pool);
	bool stopped;

	k->score = arena_alloc(k->mem, (size_t)k->phases * k->jobs->njob, sizeof(*k->score));
	k->scratch = arena_alloc(k->mem, workers, sizeof(*k->scratch));
	for (w = 0; w < workers; w++)
		predict_jobs_scratch_init(&k->scratch[w], k);
	stopped = pool_for(pool, k->phases, predict_jobs_run_phase, k);
	for (w = 0; w < workers; w++)
		predict_jobs_scratch_done(&k->scratch[w]);
	pool_free(pool);
	return stopped;
}

int predict_jobs(struct prediction **out, const struct fabric *f, const struct tables *t,
		 const struct jobset *jobs, const struct predict_opts *opts,
		 struct progress *progress, struct err *err)
{
	static const struct predict_opts none;
	struct rehearsal k = { .jobs = jobs, .opts = opts ? opts : &none, .progress = progress };
	int rc = predict_paths_open(&k.paths, f, t, jobs, k.opts->lids, k.opts->lids_ctx, err);

	*out = NULL;
	if (rc)
		return rc;
	k.mem = arena_new();
	k.teams = job_ranks_new(k.mem, f, jobs);
	predict_jobs_plan_phases(&k);
	if (predict_jobs_run(&k))
		rc = err_set(err, -ECANCELED, "the prediction was cancelled");
	else
		*out = predict_jobs_summarise(&k);
	arena_free(k.mem);
	predict_paths_done(&k.paths);
	return rc;
}

void prediction_free(struct prediction *p)
{
	if (!p)
		return;
	free(p->job);
	free(p);
}
