/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/predict/predict.h"

#include "engines/predict/predict_paths.h"
#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/pool.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BISECTIONS_MIN 20
#define BISECTIONS_MAX 1000
#define FLOWS_MAX      4000000 /* default: so many over all bisections */

/* Terminals that are paired off among each other. */
struct group {
	const uint32_t *term;
	uint32_t n;
};

/* What one worker needs for one bisection. */
struct scratch {
	struct arena *mem; /* owns the arrays */
	struct trace trace;
	struct flow *flows;
	uint32_t *term;
	uint32_t *first; /* per group and at the end: its first flow ... */
	uint32_t *step;	 /* ... and step */
	float *load;	 /* per link; 0 between uses */
	float *delay;	 /* per flow */
};

/* Of one group and bisection. */
struct score {
	double alone, together; /* sums over the pairs */
	uint32_t stranded;
};

struct bisect {
	struct predict_paths paths;
	struct progress *progress;
	uint64_t seed;
	uint32_t n; /* bisections */
	const struct group *group;
	uint32_t ngroup;
	uint32_t nterm;		 /* over all groups */
	bool together;		 /* all groups at once, too */
	struct scratch *scratch; /* per worker */
	struct score *score;	 /* [bisection * ngroup + group] */
};

uint32_t predict_lids_spread(void *ctx, uint32_t src, uint32_t dst, uint16_t *lids)
{
	const struct predict_spread *s = ctx;
	uint32_t i, n = 1u << s->lmc;

	(void)src;
	for (i = 0; i < n; i++)
		lids[i] = (uint16_t)(s->f->term_lid[dst] + i);
	return n;
}

uint32_t predict_default_bisections(const struct fabric *f)
{
	uint32_t n = f->nterm ? FLOWS_MAX / f->nterm : BISECTIONS_MAX;

	if (n > BISECTIONS_MAX)
		return BISECTIONS_MAX;
	return n < BISECTIONS_MIN ? BISECTIONS_MIN : n;
}

static uint32_t predict_ebb_group_flows(const struct group *g)
{
	return g->n & ~1u;
}

/* Pairs off a group at random, both directions. */
static void predict_ebb_pair_off(struct flow *flows, uint32_t *term, const struct group *g,
				 struct rng *r)
{
	uint32_t i;

	if (g->n < 2)
		return;
	memcpy(term, g->term, g->n * sizeof(*term));
	for (i = g->n; i > 1; i--) {
		/* biased by less than n / 2^32 */
		uint32_t k = (uint32_t)((rng_u64(r) >> 32) * i >> 32), tmp = term[i - 1];

		term[i - 1] = term[k];
		term[k] = tmp;
	}
	for (i = 0; i + 1 < g->n; i += 2) {
		flows[i] = (struct flow){ term[i], term[i + 1] };
		flows[i + 1] = (struct flow){ term[i + 1], term[i] };
	}
}

/* Own streams per bisection, so that any worker may do any of them. */
static void predict_ebb_stream(struct rng *r, uint64_t seed, uint32_t index)
{
	rng_seed(r, seed);
	rng_seed(r, rng_u64(r) + index);
}

static void predict_ebb_raise(float *v, float to)
{
	*v = to > *v ? to : *v;
}

/* Delays of the flows of those groups when they alone send: every link serves its flows in turn.
 * shared: a terminal may be in several of the groups. */
static void predict_ebb_measure(struct scratch *d, const struct predict_paths *p, uint32_t first,
				uint32_t last, bool shared)
{
	const struct step *steps = d->trace.steps;
	uint32_t from = d->step[first], to = d->step[last], i, up, down;

	for (i = from; i < to; i++)
		d->load[steps[i].link] += steps[i].part;
	for (i = d->first[first]; shared && i < d->first[last]; i++) {
		d->load[predict_paths_up(p, d->flows[i].src)] += 1;
		d->load[predict_paths_down(p, d->flows[i].dst)] += 1;
	}
	for (i = d->first[first]; i < d->first[last]; i++) {
		up = predict_paths_up(p, d->flows[i].src);
		down = predict_paths_down(p, d->flows[i].dst);
		d->delay[i] = predict_paths_least_delay(p, &d->flows[i]);
		predict_ebb_raise(&d->delay[i], d->load[up] * p->slow[up]);
		predict_ebb_raise(&d->delay[i], d->load[down] * p->slow[down]);
	}
	for (i = from; i < to; i++)
		predict_ebb_raise(&d->delay[steps[i].flow],
				  d->load[steps[i].link] * p->slow[steps[i].link]);
	for (i = from; i < to; i++)
		d->load[steps[i].link] = 0;
	for (i = d->first[first]; shared && i < d->first[last]; i++) {
		d->load[predict_paths_up(p, d->flows[i].src)] = 0;
		d->load[predict_paths_down(p, d->flows[i].dst)] = 0;
	}
}

/* Sum over the flows of a group of the share of full bandwidth that they get. */
static double predict_ebb_gains(const struct scratch *d, const struct predict_paths *p,
				uint32_t group)
{
	double sum = 0;
	uint32_t i;

	for (i = d->first[group]; i < d->first[group + 1]; i++) {
		if (!d->trace.stranded[i])
			sum += (double)(predict_paths_least_delay(p, &d->flows[i]) / d->delay[i]);
	}
	return sum;
}

static bool predict_ebb_bisect_once(void *ctx, unsigned worker, uint32_t i)
{
	struct bisect *b = ctx;
	struct scratch *d = &b->scratch[worker];
	struct score *score = b->score + (size_t)i * b->ngroup;
	uint32_t g, n = 0;
	struct rng r;

	if (worker == 0 && progress_step(b->progress, "bisections", i, b->n))
		return true;
	predict_ebb_stream(&r, b->seed, i);
	predict_paths_trace_clear(&d->trace);
	for (g = 0; g < b->ngroup; g++) {
		uint32_t lost = d->trace.nstranded;

		predict_ebb_pair_off(d->flows + n, d->term, &b->group[g], &r);
		predict_paths_trace_flows(&d->trace, &b->paths, d->flows + n,
					  predict_ebb_group_flows(&b->group[g]));
		n += predict_ebb_group_flows(&b->group[g]);
		d->first[g + 1] = n;
		d->step[g + 1] = d->trace.n;
		predict_ebb_measure(d, &b->paths, g, g + 1, false);
		score[g].alone = predict_ebb_gains(d, &b->paths, g);
		score[g].stranded = d->trace.nstranded - lost;
	}
	if (!b->together)
		return false;
	predict_ebb_measure(d, &b->paths, 0, b->ngroup, true);
	for (g = 0; g < b->ngroup; g++)
		score[g].together = predict_ebb_gains(d, &b->paths, g);
	return false;
}

static void predict_ebb_scratch_init(struct scratch *d, const struct bisect *b)
{
	predict_paths_trace_init(&d->trace);
	d->mem = arena_new();
	d->flows = arena_alloc(d->mem, b->nterm, sizeof(*d->flows));
	d->term = arena_alloc(d->mem, b->nterm, sizeof(*d->term));
	d->first = arena_alloc(d->mem, b->ngroup + 1u, sizeof(*d->first));
	d->step = arena_alloc(d->mem, b->ngroup + 1u, sizeof(*d->step));
	d->load = arena_alloc(d->mem, b->paths.nlink, sizeof(*d->load));
	d->delay = arena_alloc(d->mem, b->nterm, sizeof(*d->delay));
}

static void predict_ebb_scratch_done(struct scratch *d)
{
	predict_paths_trace_done(&d->trace);
	arena_free(d->mem);
}

/* Quantile 0.975 of Student's t, by its expansion around the normal one; within 1 % from 4
 * degrees of freedom. */
static double predict_ebb_student(uint32_t freedom)
{
	double n = freedom;

	return 1.960 + 2.372 / n + 2.822 / (n * n) + 2.556 / (n * n * n);
}

/* Mean of one figure over the bisections: value(i) over n flows each. */
static void predict_ebb_summarise(struct ebb *out, const struct bisect *b, uint32_t n,
				  double (*value)(const struct bisect *b, uint32_t i, uint32_t g),
				  uint32_t g)
{
	double sum = 0, square = 0, v;
	uint32_t i;

	*out = (struct ebb){ .mean = 1, .min = 1, .max = 1 };
	if (!n)
		return;
	out->bisections = b->n;
	out->min = out->max = value(b, 0, g) / n;
	for (i = 0; i < b->n; i++) {
		v = value(b, i, g) / n;
		sum += v;
		out->min = v < out->min ? v : out->min;
		out->max = v > out->max ? v : out->max;
	}
	out->mean = sum / b->n;
	out->pairs = (uint64_t)b->n * n;
	for (i = 0; i < b->n; i++) {
		v = value(b, i, g) / n - out->mean;
		square += v * v;
	}
	if (b->n > 1)
		out->ci95 = predict_ebb_student(b->n - 1) * sqrt(square / (b->n - 1) / b->n);
}

static double predict_ebb_alone(const struct bisect *b, uint32_t i, uint32_t g)
{
	return b->score[(size_t)i * b->ngroup + g].alone;
}

static double predict_ebb_together(const struct bisect *b, uint32_t i, uint32_t g)
{
	return b->score[(size_t)i * b->ngroup + g].together;
}

static double predict_ebb_all(const struct bisect *b, uint32_t i, uint32_t g)
{
	double sum = 0;

	for (g = 0; g < b->ngroup; g++)
		sum += predict_ebb_together(b, i, g);
	return sum;
}

static uint64_t predict_ebb_stranded(const struct bisect *b, uint32_t g)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < b->n; i++)
		sum += b->score[(size_t)i * b->ngroup + g].stranded;
	return sum;
}

/* Draws and measures everything; on success the caller frees b->score. */
static int predict_ebb_run(struct bisect *b, const struct fabric *f, const struct tables *t,
			   const struct ebb_opts *opts, struct err *err)
{
	struct pool *pool = pool_new(opts->threads);
	unsigned w, workers = pool_threads(pool);
	bool stopped;

	b->seed = opts->seed;
	b->n = opts->bisections ? opts->bisections : predict_default_bisections(f);
	b->score = xcalloc((size_t)b->n * b->ngroup, sizeof(*b->score));
	predict_paths_init(&b->paths, f, t, opts->lids, opts->lids_ctx);
	b->scratch = xcalloc(workers, sizeof(*b->scratch));
	for (w = 0; w < workers; w++)
		predict_ebb_scratch_init(&b->scratch[w], b);
	stopped = pool_for(pool, b->n, predict_ebb_bisect_once, b) ||
		  progress_step(b->progress, "bisections", b->n, b->n);
	for (w = 0; w < workers; w++)
		predict_ebb_scratch_done(&b->scratch[w]);
	free(b->scratch);
	predict_paths_done(&b->paths);
	pool_free(pool);
	if (!stopped)
		return 0;
	free(b->score);
	return err_set(err, -ECANCELED, "the prediction was cancelled");
}

int predict_ebb(struct ebb *out, const struct fabric *f, const struct tables *t,
		const struct ebb_opts *opts, struct progress *progress, struct err *err)
{
	static const struct ebb_opts none;
	uint32_t *term = xcalloc(f->nterm, sizeof(*term)), i;
	struct group group = { term, f->nterm };
	struct bisect b = { .progress = progress, .group = &group, .ngroup = 1, .nterm = f->nterm };
	int rc = predict_paths_check(f, t, NULL, err);

	for (i = 0; i < f->nterm; i++)
		term[i] = i;
	if (!rc)
		rc = predict_ebb_run(&b, f, t, opts ? opts : &none, err);
	if (!rc) {
		predict_ebb_summarise(out, &b, predict_ebb_group_flows(&group), predict_ebb_alone,
				      0);
		out->stranded = predict_ebb_stranded(&b, 0);
		free(b.score);
	}
	free(term);
	return rc;
}

static void predict_ebb_summarise_jobs(struct ebb_jobs *e, const struct bisect *b)
{
	uint32_t j, n, flows = 0;
	uint64_t lost = 0;

	for (j = 0; j < e->njob; j++) {
		n = predict_ebb_group_flows(&b->group[j]);
		flows += n;
		predict_ebb_summarise(&e->alone[j], b, n, predict_ebb_alone, j);
		predict_ebb_summarise(&e->together[j], b, n, predict_ebb_together, j);
		e->alone[j].stranded = e->together[j].stranded = predict_ebb_stranded(b, j);
		lost += e->alone[j].stranded;
	}
	predict_ebb_summarise(&e->all, b, flows, predict_ebb_all, 0);
	e->all.stranded = lost;
}

int predict_ebb_jobs(struct ebb_jobs **out, const struct fabric *f, const struct tables *t,
		     const struct jobset *jobs, const struct ebb_opts *opts,
		     struct progress *progress, struct err *err)
{
	static const struct ebb_opts none;
	struct bisect b = { .progress = progress, .ngroup = jobs->njob, .together = true };
	struct group *group = xcalloc(jobs->njob, sizeof(*group));
	struct ebb_jobs *e;
	uint32_t j;
	int rc = predict_paths_check(f, t, jobs, err);

	*out = NULL;
	for (j = 0; j < jobs->njob; j++) {
		group[j] = (struct group){ jobs->jobs[j].terms, jobs->jobs[j].nterm };
		b.nterm += group[j].n;
	}
	b.group = group;
	if (!rc)
		rc = predict_ebb_run(&b, f, t, opts ? opts : &none, err);
	if (!rc) {
		e = xcalloc(1, sizeof(*e));
		e->njob = jobs->njob;
		e->alone = xcalloc(e->njob, sizeof(*e->alone));
		e->together = xcalloc(e->njob, sizeof(*e->together));
		predict_ebb_summarise_jobs(e, &b);
		free(b.score);
		*out = e;
	}
	free(group);
	return rc;
}

void ebb_jobs_free(struct ebb_jobs *e)
{
	if (!e)
		return;
	free(e->alone);
	free(e->together);
	free(e);
}
