/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/metrics_jobs.h"

#include "fabric/base/mem.h"

#include <errno.h>
#include <stdlib.h>

struct count {
	const struct fabric *f;
	const struct tables *t;
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
		uint32_t c = fabric_chan(k->f, sw, tables_row(k->t, sw)[lid]);

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

static void count_dest(struct count *k, uint32_t j, uint32_t dest)
{
	const struct fabric *f = k->f;
	uint32_t i, h, n, dsw = f->term_sw[dest], lid = f->term_lid[dest];
	const uint32_t *fresh = k->weight;

	if (tables_row(k->t, dsw)[lid] != f->term_port[dest])
		return;
	if (k->jobs->term_off[dest + 1] - k->jobs->term_off[dest] > 1) {
		find_fresh(k, j, dest);
		fresh = k->fresh;
	}
	for (i = 0; i < k->nsources; i++) {
		uint32_t sw = k->sources[i], c;

		if (sw == dsw)
			continue;
		n = follow(k, sw, lid, dsw);
		if (n == FAB_NONE)
			continue;
		k->m->job[j].routes += k->weight[sw];
		for (h = 0; h < n; h++) {
			c = k->path[h];
			if (!k->load[c])
				k->used[k->nused++] = c;
			k->load[c] += k->weight[sw];
			k->m->eff_efi[c] += fresh[sw];
		}
	}
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

static void finish(struct count *k, struct job_metrics *jm)
{
	jm->links = k->nused;
	while (k->nused > 0) {
		uint32_t c = k->used[--k->nused];

		if (k->load[c] > jm->efi_max)
			jm->efi_max = k->load[c];
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
		count_dest(k, j, job->terms[i]);
	}
	finish(k, &k->m->job[j]);
	return 0;
}

int metrics_jobs(struct metrics *m, const struct fabric *f, const struct tables *t,
		 const struct jobset *jobs, struct progress *progress)
{
	struct count k = { .f = f, .t = t, .jobs = jobs, .m = m, .progress = progress };
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
