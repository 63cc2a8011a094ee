/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/paper/sar_paths.h"

#include "engines/graph/balance/min_load_tree.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where a terminal stands. */
struct rank {
	uint32_t class; /* by job, then njob and above without one */
	uint32_t key;
	uint32_t term;
};

struct sar_paths {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	uint8_t lmc;		   /* of traffic LIDs */
	const struct jobset *jobs; /* NULL: none */
	enum sar_method method;
	struct min_load_tree *balance;
	struct rank *order; /* nterm */
	uint32_t njobs;	    /* of them with a job */
	uint32_t *weight;   /* by switch: routes of the terminal at hand */
	uint32_t *full;	    /* by switch: routes of a terminal without a job */
	uint32_t *here;	    /* by switch: terminals of one job */
	uint32_t *seen;	    /* by terminal: stamp */
	uint32_t stamp;
	uint32_t last; /* terminal whose weights are in weight */
};

/* Multi-switch jobs of a terminal, in canonical order: the first is the largest. */
static uint32_t sar_paths_next_job(const struct jobset *jobs, uint32_t term, uint32_t *at)
{
	while (jobs && *at < jobs->term_off[term + 1]) {
		uint32_t j = jobs->term_job[(*at)++];

		if (jobs->jobs[j].multi)
			return j;
	}
	return FAB_NONE;
}

/* Place of the terminal's job in the order of the method; FAB_NONE without one. */
static uint32_t sar_paths_job_class(const struct sar_paths *s, uint32_t term)
{
	uint32_t at = s->jobs ? s->jobs->term_off[term] : 0, best = FAB_NONE, j;

	if (s->method == SAR_PAPER)
		return sar_paths_next_job(s->jobs, term, &at);
	while ((j = sar_paths_next_job(s->jobs, term, &at)) != FAB_NONE)
		best = s->jobs->jobs[j].given < best ? s->jobs->jobs[j].given : best;
	return best;
}

static int sar_paths_by_rank(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static void sar_paths_sort_terminals(struct sar_paths *s)
{
	uint32_t njob = s->jobs ? s->jobs->njob : 0;
	bool paper = s->method == SAR_PAPER;

	for (uint32_t i = 0; i < s->f->nterm; i++) {
		struct rank *r = &s->order[i];

		*r = (struct rank){ .term = i, .key = i, .class = sar_paths_job_class(s, i) };
		if (r->class != FAB_NONE) {
			s->njobs++;
			continue;
		}
		r->class = njob + (paper && s->f->term_kind[i] != TERM_STORAGE);
		if (!paper)
			r->key = s->f->term_lid[i];
	}
	qsort(s->order, s->f->nterm, sizeof(*s->order), sar_paths_by_rank);
}

struct sar_paths *sar_paths_new(struct tables *t, const struct fabric *f, const struct jobset *jobs,
				uint8_t lmc, enum sar_method method)
{
	struct arena *mem = arena_new();
	struct sar_paths *s = arena_alloc(mem, 1, sizeof(*s));

	s->mem = mem;
	s->f = f;
	s->lmc = lmc;
	s->jobs = jobs;
	s->method = method;
	s->last = FAB_NONE;
	s->balance = min_load_tree_new(f, t, BALANCE_PATHS, NULL, NULL);
	s->order = arena_alloc(mem, f->nterm, sizeof(*s->order));
	s->weight = arena_alloc(mem, f->nsw, sizeof(*s->weight));
	s->full = arena_alloc(mem, f->nsw, sizeof(*s->full));
	s->here = arena_alloc(mem, f->nsw, sizeof(*s->here));
	s->seen = arena_alloc(mem, f->nterm, sizeof(*s->seen));
	for (uint32_t u = 0; u < f->nsw; u++)
		s->full[u] = f->sw_nterm[u] << (method == SAR_PATCH ? lmc : 0);
	sar_paths_sort_terminals(s);
	return s;
}
void sar_paths_free(struct sar_paths *s)
{
	if (!s)
		return;
	min_load_tree_free(s->balance);
	arena_free(s->mem);
}

uint64_t *sar_paths_loads(struct sar_paths *s)
{
	return min_load_tree_loads(s->balance);
}

static bool sar_paths_same_jobs(const struct jobset *jobs, uint32_t a, uint32_t b)
{
	uint32_t i = jobs->term_off[a], k = jobs->term_off[b], ja, jb;

	do {
		ja = sar_paths_next_job(jobs, a, &i);
		jb = sar_paths_next_job(jobs, b, &k);
	} while (ja == jb && ja != FAB_NONE);
	return ja == jb;
}

/* Every terminal of the union of the jobs once. */
static void sar_paths_weigh_paper(struct sar_paths *s, const struct job *job)
{
	for (uint32_t k = 0; k < job->nterm; k++) {
		if (s->seen[job->terms[k]] == s->stamp)
			continue;
		s->seen[job->terms[k]] = s->stamp;
		s->weight[s->f->term_sw[job->terms[k]]]++;
	}
}

/* The largest number of LIDs that one of the jobs has on a switch. */
static void sar_paths_weigh_patch(struct sar_paths *s, const struct job *job)
{
	for (uint32_t k = 0; k < job->nterm; k++) {
		uint32_t sw = s->f->term_sw[job->terms[k]];
		uint32_t lids = ++s->here[sw] << s->lmc;

		s->weight[sw] = lids > s->weight[sw] ? lids : s->weight[sw];
	}
	for (uint32_t k = 0; k < job->nterm; k++)
		s->here[s->f->term_sw[job->terms[k]]] = 0;
}

static void sar_paths_weigh(struct sar_paths *s, uint32_t term)
{
	uint32_t at = s->jobs->term_off[term], j;

	if (s->last != FAB_NONE && sar_paths_same_jobs(s->jobs, s->last, term))
		return;
	s->last = term;
	s->stamp++;
	memset(s->weight, 0, s->f->nsw * sizeof(*s->weight));
	while ((j = sar_paths_next_job(s->jobs, term, &at)) != FAB_NONE) {
		if (s->method == SAR_PAPER)
			sar_paths_weigh_paper(s, &s->jobs->jobs[j]);
		else
			sar_paths_weigh_patch(s, &s->jobs->jobs[j]);
	}
}

static int sar_paths_route_terminals(struct sar_paths *s, uint32_t from, uint32_t to,
				     struct pace *p, uint64_t *done)
{
	struct dest d[128];

	for (uint32_t i = from; i < to; i++) {
		uint32_t n = graph_end_dests(d, s->f, s->lmc, s->order[i].term);
		const uint32_t *weight = s->full;
		uint64_t work;

		if (i < s->njobs) {
			sar_paths_weigh(s, s->order[i].term);
			weight = s->weight;
		}
		work = min_load_tree_route(s->balance, d, n, weight);
		*done += n;
		if (pace_tick(p, *done, work))
			return -ECANCELED;
	}
	return 0;
}

int sar_paths_count_jobs(struct sar_paths *s, struct pace *p, uint64_t *done)
{
	struct dest d[128];

	for (uint32_t i = 0; i < s->f->nend; i++) {
		uint32_t term = s->f->term_list[i], n;
		uint64_t work = 0;

		if (term >= s->f->nterm || sar_paths_job_class(s, term) == FAB_NONE)
			continue;
		n = graph_end_dests(d, s->f, s->lmc, term);
		for (uint32_t k = 0; k < n; k++)
			work += min_load_tree_put_in(s->balance, &d[k], s->full);
		*done += n;
		if (pace_tick(p, *done, work))
			return -ECANCELED;
	}
	return 0;
}

int sar_paths_jobs(struct sar_paths *s, struct pace *p, uint64_t *done)
{
	return sar_paths_route_terminals(s, 0, s->njobs, p, done);
}

/* LIDs that are no terminals' come last, in the order of graph_dests_by_lid(). */
int sar_paths_rest(struct sar_paths *s, struct pace *p, uint64_t *done)
{
	uint32_t n, nterm = s->f->nterm << s->lmc;
	struct dest *dests;
	int rc = sar_paths_route_terminals(s, s->njobs, s->f->nterm, p, done);

	if (rc)
		return rc;
	dests = graph_dests_by_lid(&n, s->f, s->lmc);
	rc = min_load_tree_route_all(s->balance, dests + nterm, n - nterm, p, done);
	free(dests);
	return rc;
}

int sar_paths_all(struct tables *t, const struct fabric *f, const struct jobset *jobs, uint8_t lmc,
		  enum sar_method method, struct progress *progress)
{
	struct sar_paths *s = sar_paths_new(t, f, jobs, lmc, method);
	struct pace pace;
	uint64_t done = 0;
	int rc = pace_begin(&pace, progress, "paths", graph_count_lids(f, lmc)) ? -ECANCELED : 0;

	if (!rc)
		rc = sar_paths_jobs(s, &pace, &done);
	if (!rc)
		rc = sar_paths_rest(s, &pace, &done);
	sar_paths_free(s);
	return rc;
}
