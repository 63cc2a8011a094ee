/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/metrics_jobs.h"

#include "fabric/base/mem.h"

#include <errno.h>
#include <stdlib.h>

struct count {
	const struct fabric *f;
	const struct tables *t;
	const struct walk *walk;
	const struct jobset *jobs;
	struct metrics *m;
	uint64_t *load; /* per channel, of the job in hand */
	uint32_t *used; /* channels with load */
	uint32_t nused;
	uint32_t *sources; /* switches with terminals of the job ... */
	uint32_t nsources;
	uint32_t *weight; /* ... and how many; per switch */
	uint32_t *fresh;  /* of them, those whose pair no earlier job has counted */
	uint32_t *mark;	  /* per terminal: serial of the last destination it was met with */
	uint32_t serial;
	uint32_t *path; /* nsw */
	struct progress *progress;
};

/* The channels from sw to the LID; FAB_NONE when there is no way. */
static uint32_t follow(struct count *k, uint32_t sw, uint32_t lid, uint32_t dsw)
{
	uint32_t n = 0;

	while (sw != dsw) {
		uint32_t c = walk_chan(k->walk, sw, tables_row(k->t, sw)[lid]);

		if (c == FAB_NONE || n == k->f->nsw - 1)
			return FAB_NONE;
		k->path[n++] = c;
		sw = k->f->chan_dst[c];
	}
	return n;
}

/* Terminals of job j per switch whose pair with dest no earlier job has: into fresh. */
static void find_fresh(struct count *k, uint32_t j, uint32_t dest)
{
	const struct jobset *js = k->jobs;
	uint32_t i, o;

	k->serial++;
	for (o = js->term_off[dest]; o < js->term_off[dest + 1]; o++) {
		const struct job *job = &js->jobs[js->term_job[o]];

		for (i = 0; js->term_job[o] < j && i < job->nterm; i++)
			k->mark[job->terms[i]] = k->serial;
	}
	for (i = 0; i < k->nsources; i++)
		k->fresh[k->sources[i]] = 0;
	for (i = 0; i < js->jobs[j].nterm; i++) {
		uint32_t term = js->jobs[j].terms[i];

		k->fresh[k->f->term_sw[term]] += k->mark[term] != k->serial;
	}
}

/* Of the routes on a path, known ones were counted for an earlier job.  The sum over jobs gets
 * all of them in the end, so here they are taken off. */
static void add_path(struct count *k, uint32_t n, uint32_t routes, uint32_t known)
{
	uint32_t h, c;

	for (h = 0; h < n; h++) {
		c = k->path[h];
		if (!k->load[c])
			k->used[k->nused++] = c;
		k->load[c] += routes;
	}
	for (h = 0; known && h < n; h++)
		k->m->eff_efi[k->path[h]] -= known;
}

static void count_dest(struct count *k, uint32_t j, uint32_t dest)
{
	const struct fabric *f = k->f;
	uint32_t i, n, dsw = f->term_sw[dest], lid = f->term_lid[dest];
	const uint32_t *fresh = k->weight;

	if (tables_row(k->t, dsw)[lid] != f->term_port[dest])
		return;
	if (k->jobs->term_off[dest + 1] - k->jobs->term_off[dest] > 1) {
		find_fresh(k, j, dest);
		fresh = k->fresh;
	}
	for (i = 0; i < k->nsources; i++) {
		uint32_t sw = k->sources[i];

		n = sw == dsw ? 0 : follow(k, sw, lid, dsw);
		if (n == 0 || n == FAB_NONE)
			continue;
		k->m->job[j].routes += k->weight[sw];
		add_path(k, n, k->weight[sw], k->weight[sw] - fresh[sw]);
	}
}

/* The entries at the sources of one destination lie on as many pages: ask for them early. */
static void expect(const struct count *k, uint32_t dest)
{
	uint32_t i, lid = k->f->term_lid[dest];

	for (i = 0; i < k->nsources; i++)
		__builtin_prefetch(tables_row(k->t, k->sources[i]) + lid);
}

static void gather(struct count *k, const struct job *job)
{
	uint32_t i;

	for (i = 0; i < job->nterm; i++) {
		uint32_t sw = k->f->term_sw[job->terms[i]];

		if (!k->weight[sw]++)
			k->sources[k->nsources++] = sw;
	}
}

/* Adds the job's loads to the sum, and leaves the scratch empty. */
static void finish(struct count *k, struct job_metrics *jm)
{
	jm->links = k->nused;
	while (k->nused > 0) {
		uint32_t c = k->used[--k->nused];

		if (k->load[c] > jm->efi_max)
			jm->efi_max = k->load[c];
		k->m->eff_efi[c] += k->load[c];
		k->load[c] = 0;
	}
	while (k->nsources > 0)
		k->weight[k->sources[--k->nsources]] = 0;
}

static int count_job(struct count *k, uint32_t j)
{
	const struct job *job = &k->jobs->jobs[j];
	uint32_t i;

	gather(k, job);
	for (i = 0; i < job->nterm; i++) {
		if (i % 64 == 0 && progress_step(k->progress, "metrics", j, k->jobs->njob))
			return -ECANCELED;
		if (i + 1 < job->nterm)
			expect(k, job->terms[i + 1]);
		count_dest(k, j, job->terms[i]);
	}
	finish(k, &k->m->job[j]);
	return 0;
}

int metrics_jobs(struct metrics *m, const struct walk *w, const struct jobset *jobs,
		 struct progress *progress)
{
	const struct fabric *f = w->f;
	struct count k = {
		.f = f, .t = w->t, .walk = w, .jobs = jobs, .m = m, .progress = progress
	};
	uint32_t j;
	int rc = 0;

	k.load = xcalloc(f->nchan, sizeof(*k.load));
	k.used = xcalloc(f->nchan, sizeof(*k.used));
	k.sources = xcalloc(f->nsw, sizeof(*k.sources));
	k.weight = xcalloc(f->nsw, sizeof(*k.weight));
	k.fresh = xcalloc(f->nsw, sizeof(*k.fresh));
	k.mark = xcalloc(f->nterm, sizeof(*k.mark));
	k.path = xcalloc(f->nsw, sizeof(*k.path));
	for (j = 0; j < jobs->njob && !rc; j++) {
		if (jobs->jobs[j].multi)
			rc = count_job(&k, j);
	}
	free(k.load);
	free(k.used);
	free(k.sources);
	free(k.weight);
	free(k.fresh);
	free(k.mark);
	free(k.path);
	return rc;
}
