/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/predict.h"

#include "engines/predict_paths.h"
#include "fabric/base/mem.h"
#include "fabric/base/pool.h"
#include "fabric/base/rng.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BISECTIONS_MIN 20
#define BISECTIONS_MAX 1000
#define FLOWS_MAX      4000000 /* default: so many over all bisections */

/* What one worker needs for one bisection. */
struct desk {
	struct trace trace;
	struct flow *flows;
	uint32_t *term;
	float *load;  /* per link */
	float *delay; /* per flow */
};

struct bisect {
	struct paths paths;
	const struct ebb_opts *opts;
	struct progress *progress;
	uint32_t n;	    /* bisections */
	struct desk *desk;  /* per worker */
	double *mean;	    /* per bisection */
	uint64_t *stranded; /* per bisection */
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

/* Pairs off the terminals at random, both directions; returns the number of flows. */
static uint32_t pair_off(struct flow *flows, uint32_t *term, uint32_t n, struct rng *r)
{
	uint32_t i;

	for (i = n; i > 1; i--) {
		/* biased by less than n / 2^32 */
		uint32_t k = (uint32_t)((rng_u64(r) >> 32) * i >> 32), tmp = term[i - 1];

		term[i - 1] = term[k];
		term[k] = tmp;
	}
	for (i = 0; i + 1 < n; i += 2) {
		flows[i] = (struct flow){ term[i], term[i + 1] };
		flows[i + 1] = (struct flow){ term[i + 1], term[i] };
	}
	return n & ~1u;
}

/* Own streams per bisection, so that any worker may do any of them. */
static void stream(struct rng *r, uint64_t seed, uint32_t index)
{
	rng_seed(r, seed);
	rng_seed(r, rng_u64(r) + index);
}

/* How long the flows of a trace take when each link serves its flows in turn; the ends' own
 * cables carry one flow each. */
static void measure(struct desk *d, const struct paths *p, uint32_t n)
{
	const struct trace *tr = &d->trace;
	uint32_t i;

	memset(d->load, 0, p->f->nchan * sizeof(*d->load));
	for (i = 0; i < tr->n; i++)
		d->load[tr->steps[i].link] += tr->steps[i].part;
	for (i = 0; i < n; i++) {
		float up = p->slow[paths_up(p, d->flows[i].src)];
		float down = p->slow[paths_down(p, d->flows[i].dst)];

		d->delay[i] = up > down ? up : down;
	}
	for (i = 0; i < tr->n; i++) {
		struct step s = tr->steps[i];
		float t = d->load[s.link] * p->slow[s.link];

		d->delay[s.flow] = t > d->delay[s.flow] ? t : d->delay[s.flow];
	}
}

/* Sum over the flows of the share of full bandwidth that they get. */
static double gains(const struct desk *d, const struct paths *p, uint32_t n)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		float up = p->slow[paths_up(p, d->flows[i].src)];
		float down = p->slow[paths_down(p, d->flows[i].dst)];

		if (!d->trace.stranded[i])
			sum += (double)((up > down ? up : down) / d->delay[i]);
	}
	return sum;
}

static bool bisect_once(void *ctx, unsigned worker, uint32_t i)
{
	struct bisect *b = ctx;
	struct desk *d = &b->desk[worker];
	uint32_t k, n, nterm = b->paths.f->nterm;
	struct rng r;

	if (worker == 0 && progress_step(b->progress, "bisections", i, b->n))
		return true;
	stream(&r, b->opts->seed, i);
	for (k = 0; k < nterm; k++)
		d->term[k] = k;
	n = pair_off(d->flows, d->term, nterm, &r);
	trace_flows(&d->trace, &b->paths, d->flows, n);
	measure(d, &b->paths, n);
	b->mean[i] = gains(d, &b->paths, n) / n;
	b->stranded[i] = d->trace.nstranded;
	return false;
}

static void desk_init(struct desk *d, const struct fabric *f)
{
	trace_init(&d->trace);
	d->flows = xcalloc(f->nterm, sizeof(*d->flows));
	d->term = xcalloc(f->nterm, sizeof(*d->term));
	d->load = xcalloc(f->nchan, sizeof(*d->load));
	d->delay = xcalloc(f->nterm, sizeof(*d->delay));
}

static void desk_done(struct desk *d)
{
	trace_done(&d->trace);
	free(d->flows);
	free(d->term);
	free(d->load);
	free(d->delay);
}

/* Quantile 0.975 of Student's t, by its expansion around the normal one; within 1 % from 5
 * degrees of freedom. */
static double student(uint32_t freedom)
{
	double n = freedom;

	return 1.960 + 2.372 / n + 2.822 / (n * n) + 2.556 / (n * n * n);
}

static void summarise(struct ebb *out, const struct bisect *b)
{
	double sum = 0, square = 0;
	uint32_t i;

	*out = (struct ebb){ .bisections = b->n, .min = b->mean[0], .max = b->mean[0] };
	for (i = 0; i < b->n; i++) {
		sum += b->mean[i];
		out->min = b->mean[i] < out->min ? b->mean[i] : out->min;
		out->max = b->mean[i] > out->max ? b->mean[i] : out->max;
		out->stranded += b->stranded[i];
	}
	out->mean = sum / b->n;
	out->pairs = (uint64_t)b->n * (b->paths.f->nterm & ~1u);
	for (i = 0; i < b->n; i++)
		square += (b->mean[i] - out->mean) * (b->mean[i] - out->mean);
	if (b->n > 1)
		out->ci95 = student(b->n - 1) * sqrt(square / (b->n - 1) / b->n);
}

int predict_ebb(struct ebb *out, const struct fabric *f, const struct tables *t,
		const struct ebb_opts *opts, struct progress *progress, struct err *err)
{
	static const struct ebb_opts none;
	struct bisect b = { .opts = opts ? opts : &none, .progress = progress };
	struct pool *pool;
	unsigned w, workers;
	bool stopped;

	*out = (struct ebb){ .mean = 1, .min = 1, .max = 1 };
	if (!digest_equal(&t->fingerprint, &f->fingerprint) || t->nsw != f->nsw ||
	    t->nend != f->nend || t->max_lid != f->max_lid)
		return err_set(err, -EINVAL, "the tables (%s) were made for another fabric than %s",
			       t->engine, f->name);
	if (f->nterm < 2)
		return 0;
	b.n = b.opts->bisections ? b.opts->bisections : predict_default_bisections(f);
	b.mean = xcalloc(b.n, sizeof(*b.mean));
	b.stranded = xcalloc(b.n, sizeof(*b.stranded));
	paths_init(&b.paths, f, t, b.opts->lids, b.opts->lids_ctx);
	pool = pool_new(b.opts->threads);
	workers = pool_threads(pool);
	b.desk = xcalloc(workers, sizeof(*b.desk));
	for (w = 0; w < workers; w++)
		desk_init(&b.desk[w], f);
	stopped = pool_for(pool, b.n, bisect_once, &b) ||
		  progress_step(progress, "bisections", b.n, b.n);
	if (!stopped)
		summarise(out, &b);
	for (w = 0; w < workers; w++)
		desk_done(&b.desk[w]);
	free(b.desk);
	pool_free(pool);
	paths_done(&b.paths);
	free(b.mean);
	free(b.stranded);
	return stopped ? err_set(err, -ECANCELED, "the prediction was cancelled") : 0;
}
