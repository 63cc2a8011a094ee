/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/paper/sar_jobs.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

static int sar_jobs_by_weight(const void *a, const void *b)
{
	const struct sar_source *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

/* Groups without terminals yet; first_of[job] is the group of each job. */
static void sar_jobs_make_groups(struct sar_jobs *s, uint32_t *first_of)
{
	uint32_t nsource = 0;

	s->group = arena_alloc(s->mem, s->jobs->nmulti, sizeof(*s->group));
	for (uint32_t j = 0; j < s->jobs->njob; j++) {
		first_of[j] = FAB_NONE;
		if (!s->jobs->jobs[j].multi)
			continue;
		first_of[j] = s->ngroup;
		s->group[s->ngroup++].job = j;
		nsource += s->jobs->jobs[j].nsw;
	}
	s->sources = arena_alloc(s->mem, nsource, sizeof(*s->sources));
}

/* The largest job is the first in canonical order. */
static void sar_jobs_choose_groups(struct sar_jobs *s, const uint32_t *first_of)
{
	const struct jobset *js = s->jobs;

	for (uint32_t term = 0; term < s->f->nterm; term++)
		for (uint32_t k = js->term_off[term + 1]; k-- > js->term_off[term];)
			if (first_of[js->term_job[k]] != FAB_NONE)
				s->members_of[term] = first_of[js->term_job[k]];
}

static void sar_jobs_fill_terms(struct sar_jobs *s)
{
	const struct fabric *f = s->f;
	uint32_t *next = s->terms;

	for (uint32_t i = 0; i < f->nterm; i++)
		if (s->members_of[i] != FAB_NONE)
			s->group[s->members_of[i]].nterm++;
	for (uint32_t k = 0; k < s->ngroup; k++) {
		s->group[k].terms = next;
		next += s->group[k].nterm;
		s->group[k].nterm = 0;
	}
	for (uint32_t i = 0; i < f->nend; i++) {
		uint32_t term = f->term_list[i];

		if (term < f->nterm && s->members_of[term] != FAB_NONE) {
			struct sar_job_members *c = &s->group[s->members_of[term]];

			c->terms[c->nterm++] = term;
		}
	}
}

/* Adds the terminals of a job that were not met since the stamp changed. */
static uint32_t sar_jobs_add_sources(struct sar_jobs *s, struct sar_source *list, uint32_t n,
				     const struct job *job)
{
	for (uint32_t i = 0; i < job->nterm; i++) {
		uint32_t term = job->terms[i], sw = s->f->term_sw[term];

		if (s->seen[term] == s->stamp)
			continue;
		s->seen[term] = s->stamp;
		/* at[] is right only when it leads to an entry of this switch */
		if (s->at[sw] >= n || list[s->at[sw]].sw != sw) {
			s->at[sw] = n;
			list[n++] = (struct sar_source){ .sw = sw };
		}
		list[s->at[sw]].n++;
	}
	return n;
}

static void sar_jobs_fill_sources(struct sar_jobs *s)
{
	struct sar_source *next = s->sources;

	for (uint32_t k = 0; k < s->ngroup; k++) {
		struct sar_job_members *c = &s->group[k];

		s->stamp++;
		c->sources = next;
		c->nsource = sar_jobs_add_sources(s, next, 0, &s->jobs->jobs[c->job]);
		qsort(next, c->nsource, sizeof(*next), sar_jobs_by_weight);
		next += c->nsource;
	}
}

void sar_jobs_init(struct sar_jobs *s, const struct fabric *f, const struct jobset *jobs)
{
	uint32_t *first_of = xcalloc(jobs ? jobs->njob : 0, sizeof(*first_of));

	*s = (struct sar_jobs){ .mem = arena_new(), .f = f, .jobs = jobs };
	s->members_of = arena_alloc(s->mem, f->nterm, sizeof(*s->members_of));
	memset(s->members_of, 0xff, f->nterm * sizeof(*s->members_of));
	s->terms = arena_alloc(s->mem, f->nterm, sizeof(*s->terms));
	s->together = arena_alloc(s->mem, f->nsw, sizeof(*s->together));
	s->seen = arena_alloc(s->mem, f->nterm, sizeof(*s->seen));
	s->at = arena_alloc(s->mem, f->nsw, sizeof(*s->at));
	if (jobs) {
		sar_jobs_make_groups(s, first_of);
		sar_jobs_choose_groups(s, first_of);
		sar_jobs_fill_terms(s);
		sar_jobs_fill_sources(s);
	}
	free(first_of);
}

void sar_jobs_done(struct sar_jobs *s)
{
	arena_free(s->mem);
}

const struct sar_source *sar_jobs_sources(struct sar_jobs *s, uint32_t term, uint32_t *n)
{
	const struct jobset *js = s->jobs;
	const struct sar_job_members *own = &s->group[s->members_of[term]];
	uint32_t others = 0;

	for (uint32_t k = js->term_off[term]; k < js->term_off[term + 1]; k++)
		others += js->jobs[js->term_job[k]].multi && js->term_job[k] != own->job;
	if (!others) {
		*n = own->nsource;
		return own->sources;
	}
	s->stamp++;
	*n = 0;
	for (uint32_t k = js->term_off[term]; k < js->term_off[term + 1]; k++) {
		const struct job *job = &js->jobs[js->term_job[k]];

		if (job->multi)
			*n = sar_jobs_add_sources(s, s->together, *n, job);
	}
	qsort(s->together, *n, sizeof(*s->together), sar_jobs_by_weight);
	return s->together;
}
