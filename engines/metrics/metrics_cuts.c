/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/metrics/metrics_cuts.h"

#include "fabric/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define WORK_MAX (1ull << 25) /* about 50 ms */

struct member {
	uint32_t job;
	uint32_t n; /* terminals on the switch */
};

struct cuts {
	const struct fabric *f;
	const struct jobset *jobs;
	uint32_t *off; /* by switch: members ... */
	struct member *member;
	uint32_t *inside; /* by job */
	bool *in;	  /* by switch */
	uint32_t *queue;
	bool *met;
	uint64_t crossing, links;
	uint64_t best;
};

/* Notes the used jobs of a terminal; the list has n members, those of its switch last. */
static uint32_t metrics_bound_note_jobs(struct cuts *c, const bool *use, uint32_t term, uint32_t n)
{
	const struct jobset *js = c->jobs;

	for (uint32_t k = js->term_off[term]; k < js->term_off[term + 1]; k++) {
		uint32_t job = js->term_job[k];

		if (!use[job])
			continue;
		if (!c->inside[job]) {
			c->member[n++].job = job;
			c->inside[job] = n; /* its place, for now */
		}
		c->member[c->inside[job] - 1].n++;
	}
	return n;
}

static void metrics_bound_find_members(struct cuts *c, const bool *use)
{
	const struct fabric *f = c->f;
	uint32_t n = 0;

	for (uint32_t u = 0; u < f->nsw; u++) {
		c->off[u] = n;
		for (uint32_t i = f->term_off[u]; i < f->term_off[u + 1]; i++)
			if (f->term_list[i] < f->nterm)
				n = metrics_bound_note_jobs(c, use, f->term_list[i], n);
		for (uint32_t k = c->off[u]; k < n; k++)
			c->inside[c->member[k].job] = 0;
	}
	c->off[f->nsw] = n;
}

/* Takes a switch into the set. */
static void metrics_bound_add(struct cuts *c, uint32_t u)
{
	const struct fabric *f = c->f;
	uint64_t least;

	c->in[u] = true;
	for (uint32_t e = f->chan_off[u]; e < f->chan_off[u + 1]; e++) {
		if (f->chan_dst[e] != u)
			c->links += c->in[f->chan_dst[e]] ? -1ull : 1;
	}
	for (uint32_t k = c->off[u]; k < c->off[u + 1]; k++) {
		const struct member *m = &c->member[k];
		uint64_t size = c->jobs->jobs[m->job].nterm, k0 = c->inside[m->job], k1 = k0 + m->n;

		c->crossing += k1 * (size - k1) - k0 * (size - k0);
		c->inside[m->job] = (uint32_t)k1;
	}
	if (!c->links)
		return;
	least = (c->crossing + c->links - 1) / c->links;
	c->best = least > c->best ? least : c->best;
}

static void metrics_bound_clear(struct cuts *c)
{
	memset(c->in, 0, c->f->nsw * sizeof(*c->in));
	memset(c->inside, 0, c->jobs->njob * sizeof(*c->inside));
	c->crossing = c->links = 0;
}

static void metrics_bound_sweep_nearest_first(struct cuts *c, uint32_t root)
{
	const struct fabric *f = c->f;
	uint32_t head = 0, tail = 0;

	metrics_bound_clear(c);
	memset(c->met, 0, f->nsw * sizeof(*c->met));
	c->met[root] = true;
	c->queue[tail++] = root;
	while (head < tail) {
		uint32_t u = c->queue[head++];

		metrics_bound_add(c, u);
		for (uint32_t e = f->chan_off[u]; e < f->chan_off[u + 1]; e++) {
			uint32_t v = f->chan_dst[e];

			if (!c->met[v])
				c->queue[tail++] = v;
			c->met[v] = true;
		}
	}
}

static void metrics_bound_sweep_in_order(struct cuts *c, uint32_t root)
{
	metrics_bound_clear(c);
	for (uint32_t i = 0; i < c->f->nsw; i++)
		metrics_bound_add(c, (root + i) % c->f->nsw);
}

uint64_t metrics_cuts_bound(const struct fabric *f, const struct jobset *jobs, const bool *use)
{
	struct cuts c = { .f = f, .jobs = jobs };

	if ((uint64_t)f->nsw * (2ull * f->nchan + jobs->term_off[f->nterm]) > WORK_MAX)
		return 0;
	c.off = xcalloc(f->nsw + 1ull, sizeof(*c.off));
	c.member = xcalloc(jobs->term_off[f->nterm], sizeof(*c.member));
	c.inside = xcalloc(jobs->njob, sizeof(*c.inside));
	c.in = xcalloc(f->nsw, sizeof(*c.in));
	c.met = xcalloc(f->nsw, sizeof(*c.met));
	c.queue = xcalloc(f->nsw, sizeof(*c.queue));
	metrics_bound_find_members(&c, use);
	for (uint32_t u = 0; u < f->nsw; u++) {
		metrics_bound_sweep_nearest_first(&c, u);
		metrics_bound_sweep_in_order(&c, u);
	}
	free(c.off);
	free(c.member);
	free(c.inside);
	free(c.in);
	free(c.met);
	free(c.queue);
	return c.best;
}
