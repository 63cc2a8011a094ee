/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/time/io_time.h"

#include "engines/time/phase/phase_jobs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct io_work {
	struct arena *mem; /* owns the arrays */
	struct predict_paths paths;
	const struct jobset *jobs;
	struct progress *progress;
	uint32_t *io, nio;	/* terminals for I/O */
	uint32_t *rank, *first; /* per job: its other terminals */
	uint32_t phases;
	struct phase_jobs run;
};

static void io_time_find(struct io_work *k)
{
	const struct fabric *f = k->paths.f;
	uint32_t n = 0;

	k->io = arena_alloc(k->mem, f->nterm, sizeof(*k->io));
	for (uint32_t t = 0; t < f->nterm; t++)
		if (f->term_kind[t] == TERM_STORAGE)
			k->io[k->nio++] = t;
	k->first = arena_alloc(k->mem, k->jobs->njob + 1u, sizeof(*k->first));
	for (uint32_t j = 0; j < k->jobs->njob; j++)
		n += k->jobs->jobs[j].nterm;
	k->rank = arena_alloc(k->mem, n, sizeof(*k->rank));
	n = 0;
	for (uint32_t j = 0; j < k->jobs->njob; j++) {
		const struct job *job = &k->jobs->jobs[j];

		for (uint32_t i = 0; i < job->nterm; i++)
			if (f->term_kind[job->terms[i]] != TERM_STORAGE)
				k->rank[n++] = job->terms[i];
		k->first[j + 1] = n;
	}
	k->phases = k->nio < IO_TIME_PHASES ? k->nio : IO_TIME_PHASES;
}

/* --- phases ---------------------------------------------------------------------------------- */

static uint32_t io_time_partner(const struct io_work *k, uint32_t i, uint32_t phase)
{
	uint32_t first = (uint32_t)((uint64_t)phase * k->nio / k->phases);

	return k->io[(i + first) % k->nio];
}

static void io_time_add_flows(void *ctx, struct rank_flows *out, uint32_t phase, unsigned reads,
			      uint32_t j)
{
	const struct io_work *k = ctx;

	for (uint32_t i = k->first[j]; i < k->first[j + 1]; i++) {
		uint32_t io = io_time_partner(k, i - k->first[j], phase);
		struct flow fl = { reads ? io : k->rank[i], reads ? k->rank[i] : io };

		vec_push(&out->flows, fl);
	}
}

static uint32_t io_time_messages(void *ctx, uint32_t j)
{
	(void)ctx;
	(void)j;
	return 1;
}

/* All write, then all read. */
static bool io_time_run(struct io_work *k, unsigned threads)
{
	k->run = (struct phase_jobs){ .paths = &k->paths,
				      .njob = k->jobs->njob,
				      .phases = k->phases,
				      .rounds = 2,
				      .add = io_time_add_flows,
				      .messages = io_time_messages,
				      .ctx = k };
	return phase_jobs_run(&k->run, k->mem, threads, k->progress, "I/O");
}

/* --- routes ---------------------------------------------------------------------------------- */

/* Nodes of jobs, each once. */
static uint32_t io_time_users(const struct io_work *k, uint32_t *user)
{
	const struct fabric *f = k->paths.f;
	uint32_t n = 0;

	for (uint32_t t = 0; t < f->nterm; t++)
		if (f->term_kind[t] != TERM_STORAGE &&
		    k->jobs->term_off[t + 1] > k->jobs->term_off[t])
			user[n++] = t;
	return n;
}

/* One I/O node after the other. */
static bool io_time_count(struct io_time *out, struct io_work *k)
{
	const struct fabric *f = k->paths.f;
	uint32_t *user = arena_alloc(k->mem, f->nterm, sizeof(*user)), n = io_time_users(k, user);
	uint64_t *routes = arena_alloc(k->mem, f->nchan + 1u, sizeof(*routes));
	struct phase_load d;
	bool stopped = false;

	phase_load_init(&d, &k->paths);
	for (uint32_t i = 0; !stopped && i < k->nio; i++) {
		phase_load_begin(&d);
		for (uint32_t u = 0; u < n; u++) {
			struct flow there = { user[u], k->io[i] }, back = { k->io[i], user[u] };

			vec_push(&d.list.flows, there);
			vec_push(&d.list.flows, back);
		}
		phase_load_trace(&d, &k->paths);
		for (uint32_t s = 0; s < d.trace.n; s++)
			if (!d.trace.stranded[d.trace.steps[s].flow])
				routes[d.trace.steps[s].link]++;
		stopped = progress_step(k->progress, "I/O", i, k->nio);
	}
	for (uint32_t c = 0; c < f->nchan; c++)
		out->efi_max = routes[c] > out->efi_max ? routes[c] : out->efi_max;
	phase_load_done(&d);
	return stopped;
}

/* --- means ----------------------------------------------------------------------------------- */

static bool io_time_job_counts(const struct io_work *k, uint32_t j, struct io_time *out)
{
	uint64_t flows = 0;

	for (uint32_t i = 0; i < k->phases; i++) {
		flows += k->run.flows[(size_t)j * k->phases + i];
		out->stranded += k->run.stranded[(size_t)j * k->phases + i];
	}
	return flows > 0;
}

static void io_time_summarise(struct io_time *out, const struct io_work *k)
{
	double *mean = arena_alloc(k->mem, k->phases, sizeof(*mean));

	out->mean = out->worst = (struct phase_mean){ 1, 0 };
	for (uint32_t j = 0; j < k->jobs->njob; j++) {
		const double *time = k->run.time + (size_t)j * k->phases;
		struct phase_mean job;

		if (!io_time_job_counts(k, j, out))
			continue;
		job = phase_mean_of(time, k->phases);
		for (uint32_t i = 0; i < k->phases; i++)
			mean[i] += time[i];
		if (!out->jobs++ || job.mean > out->worst.mean) {
			out->worst = job;
			out->worst_job = k->jobs->jobs[j].id;
		}
	}
	for (uint32_t i = 0; out->jobs && i < k->phases; i++)
		mean[i] /= out->jobs;
	if (out->jobs)
		out->mean = phase_mean_of(mean, k->phases);
	if (k->phases == k->nio) /* none of a draw of all is missing */
		out->mean.error = out->worst.error = 0;
	out->s_per_MiB = k->paths.Mbps ? out->mean.mean * PHASE_MIB_MBIT / k->paths.Mbps : NAN;
}

int io_time_compute(struct io_time *out, const struct fabric *f, const struct tables *t,
		    const struct jobset *jobs, const struct io_time_opts *opts,
		    struct progress *progress, struct err *err)
{
	static const struct io_time_opts none;
	struct io_work k = { .jobs = jobs, .progress = progress };
	int rc = predict_paths_check(f, t, jobs, err);

	*out = (struct io_time){ 0 };
	if (rc)
		return rc;
	opts = opts ? opts : &none;
	predict_paths_init(&k.paths, f, t, opts->lids, opts->lids_ctx);
	k.mem = arena_new();
	io_time_find(&k);
	out->nodes = k.nio;
	if (k.nio && (io_time_run(&k, opts->threads) || io_time_count(out, &k)))
		rc = err_set(err, -ECANCELED, "the prediction was cancelled");
	else if (k.nio)
		io_time_summarise(out, &k);
	arena_free(k.mem);
	predict_paths_done(&k.paths);
	return rc;
}
