/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/chan_jobs.h"

#include "fabric/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 150000 /* about a millisecond */
#define HOPS_MAX  64

struct search {
	const struct fabric *f;
	const struct tables *t;
	uint32_t chan;
	uint32_t lid;
	uint32_t dst_sw;
	uint32_t every; /* n-th source of a job is looked at */
	uint32_t stamp; /* of this destination */
	uint32_t *seen; /* switch: stamp * 2 + does its route use the channel */
};

/* Does the route from a switch to the destination use the channel? */
static bool route_uses(struct search *x, uint32_t from)
{
	const struct fabric *f = x->f;
	uint32_t path[HOPS_MAX], n = 0, at = from;
	bool uses = false;

	while (at != x->dst_sw && n < HOPS_MAX) {
		uint32_t c;

		if (x->seen[at] / 2 == x->stamp) {
			uses = x->seen[at] & 1;
			break;
		}
		path[n++] = at;
		c = fabric_chan(f, at, tables_row(x->t, at)[x->lid]);
		if (c == FAB_NONE)
			break;
		if (c == x->chan) {
			uses = true;
			break;
		}
		at = f->chan_dst[c];
	}
	for (uint32_t i = 0; i < n; i++)
		x->seen[path[i]] = x->stamp * 2 + uses;
	return uses;
}

static void count_destination(struct search *x, const struct jobset *jobs, uint32_t term,
			      uint64_t *routes)
{
	const struct fabric *f = x->f;

	x->lid = f->term_lid[term];
	x->dst_sw = f->term_sw[term];
	x->stamp++;
	for (uint32_t k = jobs->term_off[term]; k < jobs->term_off[term + 1]; k++) {
		const struct job *j = &jobs->jobs[jobs->term_job[k]];

		/* another first source each time, so that small jobs get their share */
		for (uint32_t i = x->stamp % x->every; j->multi && i < j->nterm; i += x->every)
			if (f->term_sw[j->terms[i]] != x->dst_sw)
				routes[jobs->term_job[k]] += route_uses(x, f->term_sw[j->terms[i]]);
	}
}

static void take_top(struct chan_jobs *out, const uint64_t *routes, uint32_t njob)
{
	for (uint32_t j = 0; j < njob; j++) {
		uint32_t k;

		if (!routes[j])
			continue;
		out->njob++;
		out->routes += routes[j];
		if (out->n == CHAN_JOBS && routes[j] <= out->top[CHAN_JOBS - 1].routes)
			continue;
		k = out->n < CHAN_JOBS ? out->n++ : CHAN_JOBS - 1;
		for (; k && out->top[k - 1].routes < routes[j]; k--)
			out->top[k] = out->top[k - 1];
		out->top[k] = (struct chan_job){ j, routes[j] };
	}
}

/* Does the channel lead to that terminal, and does a job want it to? */
static bool destination(const struct search *x, const struct jobset *jobs, uint32_t term)
{
	const struct fabric *f = x->f;
	uint32_t lid = f->term_lid[term];

	return jobs->term_off[term] != jobs->term_off[term + 1] && lid <= x->t->max_lid &&
	       tables_row(x->t, f->chan_src[x->chan])[lid] == f->chan_port[x->chan];
}

static uint64_t work(const struct search *x, const struct jobset *jobs)
{
	uint64_t sum = 0;

	for (uint32_t term = 0; term < x->f->nterm; term++) {
		if (!destination(x, jobs, term))
			continue;
		for (uint32_t k = jobs->term_off[term]; k < jobs->term_off[term + 1]; k++)
			sum += jobs->jobs[jobs->term_job[k]].nterm;
	}
	return sum;
}

void chan_jobs_find(struct chan_jobs *out, const struct fabric *f, const struct tables *t,
		    const struct jobset *jobs, uint32_t chan)
{
	struct search x = { .f = f, .t = t, .chan = chan };
	uint64_t *routes = xcalloc(jobs->njob, sizeof(*routes));

	memset(out, 0, sizeof(*out));
	x.every = (uint32_t)(work(&x, jobs) / STEPS_MAX) + 1;
	out->sampled = x.every > 1;
	x.seen = xcalloc(f->nsw, sizeof(*x.seen));
	for (uint32_t term = 0; term < f->nterm; term++)
		if (destination(&x, jobs, term))
			count_destination(&x, jobs, term, routes);
	take_top(out, routes, jobs->njob);
	free(x.seen);
	free(routes);
}
