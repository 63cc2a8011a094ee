/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/metrics/job_demand.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

struct part {
	uint32_t sw, terms;
};

typedef VEC(struct part) parts;

struct demand_count {
	struct arena *scratch;
	const struct fabric *f;
	const struct jobset *jobs;
	uint64_t *hist_off; /* by job: its switches in hist, with its terminals on each */
	parts hist;
	uint64_t *row;	   /* by destination switch, of the source switch at hand */
	uint32_t *touched; /* those that are not 0 */
	uint32_t ntouched;
	uint32_t *own; /* by job: its terminals on that switch that are in no other */
	uint32_t *own_jobs;
	uint32_t *seen, stamp; /* by terminal */
};

static void job_demand_list_switches(struct demand_count *k)
{
	uint32_t *on = arena_alloc(k->scratch, k->f->nsw, sizeof(*on));

	for (uint32_t j = 0; j < k->jobs->njob; j++) {
		const struct job *job = &k->jobs->jobs[j];

		k->hist_off[j] = k->hist.n;
		for (uint32_t i = 0; job->multi && i < job->nterm; i++)
			on[k->f->term_sw[job->terms[i]]]++;
		for (uint32_t i = 0; job->multi && i < job->nterm; i++) {
			uint32_t sw = k->f->term_sw[job->terms[i]];

			if (on[sw])
				vec_push(&k->hist, (struct part){ sw, on[sw] });
			on[sw] = 0;
		}
	}
	k->hist_off[k->jobs->njob] = k->hist.n;
}

static void job_demand_add(struct demand_count *k, uint32_t sw, uint64_t n)
{
	if (!k->row[sw])
		k->touched[k->ntouched++] = sw;
	k->row[sw] += n;
}

static uint32_t job_demand_count_jobs(const struct demand_count *k, uint32_t term, uint32_t *first)
{
	const struct jobset *js = k->jobs;
	uint32_t n = 0;

	for (uint32_t i = js->term_off[term + 1]; i-- > js->term_off[term];)
		if (js->jobs[js->term_job[i]].multi) {
			*first = js->term_job[i];
			n++;
		}
	return n;
}

/* A terminal in several jobs: every partner once. */
static void job_demand_add_partners(struct demand_count *k, uint32_t term)
{
	const struct jobset *js = k->jobs;

	k->stamp++;
	for (uint32_t i = js->term_off[term]; i < js->term_off[term + 1]; i++) {
		const struct job *job = &js->jobs[js->term_job[i]];

		for (uint32_t m = 0; job->multi && m < job->nterm; m++) {
			if (k->seen[job->terms[m]] == k->stamp)
				continue;
			k->seen[job->terms[m]] = k->stamp;
			job_demand_add(k, k->f->term_sw[job->terms[m]], 1);
		}
	}
}

static void job_demand_add_switch(struct demand_count *k, uint32_t sw)
{
	const struct fabric *f = k->f;
	uint32_t njobs = 0, job = 0;

	for (uint32_t i = f->term_off[sw]; i < f->term_off[sw + 1]; i++) {
		uint32_t term = f->term_list[i];
		uint32_t n = term < f->nterm ? job_demand_count_jobs(k, term, &job) : 0;

		if (n > 1)
			job_demand_add_partners(k, term);
		else if (n && !k->own[job]++)
			k->own_jobs[njobs++] = job;
	}
	while (njobs) {
		job = k->own_jobs[--njobs];
		for (uint64_t h = k->hist_off[job]; h < k->hist_off[job + 1]; h++)
			job_demand_add(k, k->hist.v[h].sw,
				       (uint64_t)k->own[job] * k->hist.v[h].terms);
		k->own[job] = 0;
	}
}

static void job_demand_count_init(struct demand_count *k, const struct fabric *f,
				  const struct jobset *jobs)
{
	*k = (struct demand_count){ .scratch = arena_new(), .f = f, .jobs = jobs };
	k->hist_off = arena_alloc(k->scratch, jobs->njob + 1ull, sizeof(*k->hist_off));
	k->row = arena_alloc(k->scratch, f->nsw, sizeof(*k->row));
	k->touched = arena_alloc(k->scratch, f->nsw, sizeof(*k->touched));
	k->own = arena_alloc(k->scratch, jobs->njob, sizeof(*k->own));
	k->own_jobs = arena_alloc(k->scratch, jobs->njob, sizeof(*k->own_jobs));
	k->seen = arena_alloc(k->scratch, f->nterm, sizeof(*k->seen));
	job_demand_list_switches(k);
}

struct job_demand *job_demand_new(const struct fabric *f, const struct jobset *jobs, uint64_t max)
{
	VEC(struct part) dst = { 0 };
	VEC(uint64_t) pairs = { 0 };
	struct arena *mem = arena_new();
	struct job_demand *d = arena_alloc(mem, 1, sizeof(*d));
	struct demand_count k;

	*d = (struct job_demand){ .mem = mem, .nsw = f->nsw };
	d->off = arena_alloc(mem, f->nsw + 1ull, sizeof(*d->off));
	job_demand_count_init(&k, f, jobs);
	for (uint32_t u = 0; u < f->nsw && pairs.n <= max; u++) {
		job_demand_add_switch(&k, u);
		for (uint32_t i = 0; i < k.ntouched; i++) {
			uint32_t v = k.touched[i];

			if (v != u) {
				vec_push(&dst, (struct part){ v, 0 });
				vec_push(&pairs, k.row[v]);
			}
			k.row[v] = 0;
		}
		k.ntouched = 0;
		d->off[u + 1] = pairs.n;
	}
	d->dst = arena_alloc(mem, pairs.n + 1, sizeof(*d->dst));
	d->pairs = arena_alloc(mem, pairs.n + 1, sizeof(*d->pairs));
	for (size_t i = 0; i < pairs.n; i++) {
		d->dst[i] = dst.v[i].sw;
		d->pairs[i] = pairs.v[i];
	}
	arena_free(k.scratch);
	vec_free(&k.hist);
	vec_free(&dst);
	if (pairs.n > max) {
		arena_free(mem);
		d = NULL;
	}
	vec_free(&pairs);
	return d;
}

void job_demand_free(struct job_demand *d)
{
	if (d)
		arena_free(d->mem);
}
