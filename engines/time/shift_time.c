/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/time/shift_time.h"

#include "engines/time/phase/phase_load.h"
#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/pool.h"

#include <errno.h>
#include <stdlib.h>

#define SHIFTS_MIN 64
#define FLOWS_MAX  2000000 /* default: so many over all shifts */

/* Of one shift. */
struct score {
	double time, rates; /* sum over its flows */
	uint64_t flows, stranded;
};

struct tour {
	struct arena *mem; /* owns the arrays */
	struct predict_paths paths;
	struct progress *progress;
	struct job_ranks *ranks;
	uint32_t n, all;
	uint32_t *shift;
	struct score *score;	 /* per shift looked at */
	struct phase_load *load; /* per worker */
};

uint32_t shift_time_default(const struct fabric *f)
{
	uint32_t n = f->nterm ? FLOWS_MAX / f->nterm : SHIFTS_MIN;

	return n > SHIFTS_MIN ? n : SHIFTS_MIN;
}

/* One of every equal part of them all. */
static void shift_time_draw(struct tour *k, const struct shift_time_opts *opts)
{
	uint32_t limit = opts->shifts ? opts->shifts : shift_time_default(k->paths.f);
	struct rng r;

	rng_seed(&r, opts->seed);
	k->all = k->ranks->nrank ? k->ranks->nrank - 1 : 0;
	k->n = k->all < limit ? k->all : limit;
	k->shift = arena_alloc(k->mem, k->n, sizeof(*k->shift));
	for (uint32_t i = 0; i < k->n; i++) {
		uint64_t first = (uint64_t)i * k->all / k->n;
		uint64_t end = (uint64_t)(i + 1) * k->all / k->n;

		k->shift[i] = 1 + (uint32_t)(first + rng_below(&r, end - first));
	}
}

static void shift_time_take(struct score *s, const struct phase_load *d, const struct fabric *f)
{
	*s = (struct score){ .time = 1 };
	for (size_t i = 0; i < d->list.flows.n; i++) {
		const struct flow *fl = &d->list.flows.v[i];

		if (f->term_sw[fl->src] == f->term_sw[fl->dst])
			continue;
		s->flows++;
		if (d->most[i] < 0)
			s->stranded++;
		else
			s->rates += d->most[i] > 1 ? 1 / d->most[i] : 1;
		s->time = d->most[i] > s->time ? d->most[i] : s->time;
	}
}

static bool shift_time_run_one(void *ctx, unsigned worker, uint32_t i)
{
	struct tour *k = ctx;
	struct phase_load *d = &k->load[worker];

	if (worker == 0 && progress_step(k->progress, "shifts", i, k->n))
		return true;
	phase_load_begin(d);
	job_ranks_shift(&d->list, k->ranks, k->shift[i]);
	phase_load_trace(d, &k->paths);
	phase_load_measure(d, &k->paths);
	shift_time_take(&k->score[i], d, k->paths.f);
	return false;
}

static bool shift_time_run(struct tour *k, unsigned threads)
{
	struct pool *pool = pool_new(k->n > 1 ? threads : 1);
	unsigned workers = pool_threads(pool);
	bool stopped;

	k->score = arena_alloc(k->mem, k->n, sizeof(*k->score));
	k->load = arena_alloc(k->mem, workers, sizeof(*k->load));
	for (unsigned w = 0; w < workers; w++)
		phase_load_init(&k->load[w], &k->paths);
	stopped = pool_for(pool, k->n, shift_time_run_one, k) ||
		  progress_step(k->progress, "shifts", k->n, k->n);
	for (unsigned w = 0; w < workers; w++)
		phase_load_done(&k->load[w]);
	pool_free(pool);
	return stopped;
}

static void shift_time_summarise(struct shift_time *out, const struct tour *k)
{
	double *v = arena_alloc(k->mem, k->n, sizeof(*v)), rates = 0, left;
	struct phase_mean time;

	*out = (struct shift_time){ k->n, k->all, { 1, 0 }, { 1, 0 }, 0, 0 };
	for (uint32_t i = 0; i < k->n; i++) {
		const struct score *s = &k->score[i];

		v[i] = s->time;
		out->flows += s->flows;
		out->stranded += s->stranded;
		rates += s->rates;
	}
	if (out->flows == out->stranded)
		return;
	left = sqrt(1 - (double)k->n / k->all); /* none of a draw of all is missing */
	time = phase_mean_of(v, k->n);
	out->sync =
		(struct phase_mean){ 1 / time.mean, left * time.error / (time.mean * time.mean) };
	for (uint32_t i = 0; i < k->n; i++) {
		const struct score *s = &k->score[i];

		v[i] = s->flows > s->stranded ? s->rates / (double)(s->flows - s->stranded) : 1;
	}
	out->rate = phase_mean_of(v, k->n);
	out->rate.mean = rates / (double)(out->flows - out->stranded);
	out->rate.error *= left;
}

int shift_time_compute(struct shift_time *out, const struct fabric *f, const struct tables *t,
		       const struct shift_time_opts *opts, struct progress *progress,
		       struct err *err)
{
	static const struct shift_time_opts none;
	struct tour k = { .progress = progress };
	int rc;

	opts = opts ? opts : &none;
	rc = predict_paths_open(&k.paths, f, t, NULL, opts->lids, opts->lids_ctx, err);
	if (rc)
		return rc;
	k.mem = arena_new();
	k.ranks = job_ranks_all(k.mem, f);
	shift_time_draw(&k, opts);
	if (shift_time_run(&k, opts->threads))
		rc = err_set(err, -ECANCELED, "the prediction was cancelled");
	else
		shift_time_summarise(out, &k);
	arena_free(k.mem);
	predict_paths_done(&k.paths);
	return rc;
}

int shift_time_score(double *score, const struct fabric *f, const struct tables *t,
		     struct progress *progress, struct err *err)
{
	static const struct shift_time_opts opts = { .shifts = SHIFTS_MIN,
						     .seed = 1,
						     .threads = 1 };
	struct shift_time s;
	int rc = shift_time_compute(&s, f, t, &opts, progress, err);

	*score = rc ? 0 : s.sync.mean * s.rate.mean;
	return rc;
}
