/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar.h"

#include "engines/balance.h"
#include "engines/graph.h"
#include "engines/layers.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where a terminal stands in Algorithm 1. */
struct rank {
	uint32_t class; /* largest job, then njob for storage, njob + 1 for the others */
	uint32_t term;
};

struct sar {
	const struct fabric *f;
	uint8_t lmc;		   /* of traffic LIDs */
	const struct jobset *jobs; /* NULL: none */
	struct rank *order;	   /* nterm */
	uint32_t *weight;	   /* by switch: terminals that share a job with the one at hand */
	uint32_t *seen;		   /* by terminal: stamp */
	uint32_t stamp;
	uint32_t last; /* terminal whose weights are in weight */
};

/* Multi-switch jobs of a terminal, in canonical order: the first is the largest. */
static uint32_t next_job(const struct jobset *jobs, uint32_t term, uint32_t *at)
{
	while (jobs && *at < jobs->term_off[term + 1]) {
		uint32_t j = jobs->term_job[(*at)++];

		if (jobs->jobs[j].multi)
			return j;
	}
	return FAB_NONE;
}

static int by_rank(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	return x->term < y->term ? -1 : x->term > y->term;
}

static void sort_terminals(struct sar *s)
{
	uint32_t njob = s->jobs ? s->jobs->njob : 0;

	for (uint32_t i = 0; i < s->f->nterm; i++) {
		uint32_t at = s->jobs ? s->jobs->term_off[i] : 0;
		uint32_t job = next_job(s->jobs, i, &at);

		s->order[i].term = i;
		s->order[i].class = job;
		if (job == FAB_NONE)
			s->order[i].class = njob + (s->f->term_kind[i] != TERM_STORAGE);
	}
	qsort(s->order, s->f->nterm, sizeof(*s->order), by_rank);
}

static bool same_jobs(const struct jobset *jobs, uint32_t a, uint32_t b)
{
	uint32_t i = jobs->term_off[a], k = jobs->term_off[b], ja, jb;

	do {
		ja = next_job(jobs, a, &i);
		jb = next_job(jobs, b, &k);
	} while (ja == jb && ja != FAB_NONE);
	return ja == jb;
}

/* Weights for a terminal with jobs: every terminal of the union of its jobs once. */
static void weigh(struct sar *s, uint32_t term)
{
	uint32_t at = s->jobs->term_off[term], j;

	if (s->last != FAB_NONE && same_jobs(s->jobs, s->last, term))
		return;
	s->last = term;
	s->stamp++;
	memset(s->weight, 0, s->f->nsw * sizeof(*s->weight));
	while ((j = next_job(s->jobs, term, &at)) != FAB_NONE) {
		const struct job *job = &s->jobs->jobs[j];

		for (uint32_t k = 0; k < job->nterm; k++) {
			if (s->seen[job->terms[k]] == s->stamp)
				continue;
			s->seen[job->terms[k]] = s->stamp;
			s->weight[s->f->term_sw[job->terms[k]]]++;
		}
	}
}

/* Lines 6 to 16: the terminals. */
static int route_terminals(struct sar *s, struct balance *b, struct pace *p, uint64_t *done)
{
	uint32_t njob = s->jobs ? s->jobs->njob : 0;
	struct dest d[128];

	for (uint32_t i = 0; i < s->f->nterm; i++) {
		uint32_t n = graph_end_dests(d, s->f, s->lmc, s->order[i].term);
		const uint32_t *weight = s->f->sw_nterm;
		uint64_t work;

		if (s->order[i].class < njob) {
			weigh(s, s->order[i].term);
			weight = s->weight;
		}
		work = balance_route(b, d, n, weight);
		*done += n;
		if (pace_tick(p, *done, work))
			return -ECANCELED;
	}
	return 0;
}

/* The LIDs that carry no jobs' traffic, in the order of graph_dests_by_lid(). */
static int route_rest(struct sar *s, struct balance *b, struct pace *p, uint64_t *done)
{
	uint32_t n, nterm = s->f->nterm << s->lmc;
	struct dest *dests = graph_dests_by_lid(&n, s->f, s->lmc);
	int rc = balance_route_all(b, dests + nterm, n - nterm, p, done);

	free(dests);
	return rc;
}

static int route_all(struct tables *t, const struct fabric *f, const struct jobset *jobs,
		     const struct engine_params *params, struct progress *progress)
{
	struct sar s = { .f = f, .lmc = graph_lmc(f, params), .jobs = jobs, .last = FAB_NONE };
	struct balance *b = balance_new(f, t, BALANCE_PATHS, NULL, NULL);
	struct pace pace;
	uint64_t done = 0;
	int rc = pace_begin(&pace, progress, "paths", graph_count_lids(f, s.lmc)) ? -ECANCELED : 0;

	s.order = xcalloc(f->nterm, sizeof(*s.order));
	s.weight = xcalloc(f->nsw, sizeof(*s.weight));
	s.seen = xcalloc(f->nterm, sizeof(*s.seen));
	sort_terminals(&s);
	if (!rc)
		rc = route_terminals(&s, b, &pace, &done);
	if (!rc)
		rc = route_rest(&s, b, &pace, &done);
	free(s.order);
	free(s.weight);
	free(s.seen);
	balance_free(b);
	return rc;
}

static int paths(struct tables *t, const struct fabric *f, const struct jobset *jobs,
		 const struct engine_params *params, struct progress *progress, struct err *err)
{
	if (jobs && jobs->nterm != f->nterm)
		return err_set(
			err, -EINVAL,
			"the jobs are those of another fabric (%u terminals there, %u here); "
			"read them again",
			jobs->nterm, f->nterm);
	return route_all(t, f, jobs, params, progress);
}

static int route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		 const struct demand *demand, const struct engine_params *params,
		 struct progress *progress, struct err *err)
{
	(void)demand;
	return layers_route(out, f, "sar", jobs, params, paths, progress, err);
}

const struct engine engine_sar = {
	.name = "sar",
	.summary = "dfsssp that balances the traffic inside each job first (SC16)",
	.uses_jobs = true,
	.suits = graph_check_connected,
	.route = route,
};
