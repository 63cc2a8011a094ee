/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/jobs/placement.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/hostlist.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const policies[] = { "first-fit", "scattered", "topology" };

/* The nodes of the fabric and who has them. */
struct machine {
	const struct fabric *f;
	uint32_t n;
	const char **name; /* by node, in the order of names */
	uint32_t *sw;	   /* by node: its switch */
	bool *busy;
	uint32_t *used;		    /* by node: processors that jobs have which share it */
	uint32_t nfree, first_free; /* no node before it is free */
	uint32_t *sw_free;	    /* by switch */
	uint32_t *sw_off, *sw_node; /* nodes of each switch */
	uint32_t **near; /* by switch: all others, the nearest first; NULL: not known yet */
	struct rng rng;
	uint32_t *pool; /* scratch */
};

int placement_parse(enum placement *out, const char *name, struct err *err)
{
	for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++)
		if (!strcmp(name, policies[i])) {
			*out = (enum placement)i;
			return 0;
		}
	return err_set(err, -EINVAL, "'%s' is not one of first-fit, scattered, topology", name);
}

static void placement_add_nodes(struct machine *m)
{
	const struct fabric *f = m->f;
	const char *last = NULL;

	m->name = xcalloc(f->nterm, sizeof(*m->name));
	m->sw = xcalloc(f->nterm, sizeof(*m->sw));
	for (uint32_t i = 0; i < f->nterm; i++) {
		uint32_t t = f->term_by_name[i];

		if (f->term_kind[t] != TERM_COMPUTE || (last && !strcmp(last, f->term_name[t])))
			continue;
		last = m->name[m->n] = f->term_name[t];
		m->sw[m->n++] = f->term_sw[t];
	}
	m->nfree = m->n;
}

static void placement_index_switches(struct machine *m)
{
	uint32_t nsw = m->f->nsw, *at = xcalloc(nsw, sizeof(*at));

	m->sw_free = xcalloc(nsw, sizeof(*m->sw_free));
	m->sw_off = xcalloc(nsw + 1u, sizeof(*m->sw_off));
	m->sw_node = xcalloc(m->n, sizeof(*m->sw_node));
	m->near = xcalloc(nsw, sizeof(*m->near));
	for (uint32_t i = 0; i < m->n; i++)
		m->sw_free[m->sw[i]]++;
	for (uint32_t s = 0; s < nsw; s++)
		m->sw_off[s + 1] = m->sw_off[s] + m->sw_free[s];
	for (uint32_t i = 0; i < m->n; i++)
		m->sw_node[m->sw_off[m->sw[i]] + at[m->sw[i]]++] = i;
	free(at);
}

static void placement_machine_init(struct machine *m, const struct fabric *f, uint64_t seed)
{
	*m = (struct machine){ .f = f };
	placement_add_nodes(m);
	m->busy = xcalloc(m->n, sizeof(*m->busy));
	m->used = xcalloc(m->n, sizeof(*m->used));
	m->pool = xcalloc(m->n, sizeof(*m->pool));
	placement_index_switches(m);
	rng_seed(&m->rng, seed);
}

static void placement_machine_done(struct machine *m)
{
	for (uint32_t s = 0; s < m->f->nsw; s++)
		free(m->near[s]);
	free(m->near);
	free(m->name);
	free(m->sw);
	free(m->busy);
	free(m->used);
	free(m->pool);
	free(m->sw_free);
	free(m->sw_off);
	free(m->sw_node);
}

static void placement_take(struct machine *m, uint32_t node, uint32_t *out, uint32_t *n)
{
	m->busy[node] = true;
	m->nfree--;
	m->sw_free[m->sw[node]]--;
	out[(*n)++] = node;
}

static void placement_first_fit(struct machine *m, uint32_t wants, uint32_t *out)
{
	uint32_t n = 0, i = m->first_free;

	for (; n < wants; i++)
		if (!m->busy[i])
			placement_take(m, i, out, &n);
	m->first_free = i;
}

static void placement_scatter(struct machine *m, uint32_t wants, uint32_t *out)
{
	uint32_t n = 0, all = 0;

	for (uint32_t i = 0; i < m->n; i++)
		if (!m->busy[i])
			m->pool[all++] = i;
	while (n < wants) {
		uint32_t k = (uint32_t)rng_below(&m->rng, all), node = m->pool[k];

		m->pool[k] = m->pool[--all];
		placement_take(m, node, out, &n);
	}
}

/* The fullest with room for all; else the emptiest. */
static uint32_t placement_best_switch(const struct machine *m, uint32_t wants)
{
	uint32_t best = FAB_NONE, most = 0;

	for (uint32_t s = 0; s < m->f->nsw; s++) {
		if (m->sw_free[s] >= wants &&
		    (best == FAB_NONE || m->sw_free[s] < m->sw_free[best]))
			best = s;
		if (m->sw_free[s] > m->sw_free[most])
			most = s;
	}
	return best == FAB_NONE ? most : best;
}

static const uint32_t *placement_near(struct machine *m, uint32_t sw)
{
	uint32_t nsw = m->f->nsw, *hops, got;

	if (m->near[sw])
		return m->near[sw];
	m->near[sw] = xcalloc(nsw, sizeof(uint32_t));
	hops = xcalloc(nsw, sizeof(*hops));
	m->near[sw][0] = sw;
	got = fabric_hops(hops, m->near[sw], m->f, 1);
	for (uint32_t s = 0; s < nsw && got < nsw; s++) /* a part of its own */
		if (hops[s] == FAB_NONE)
			m->near[sw][got++] = s;
	free(hops);
	return m->near[sw];
}

static void placement_by_topology(struct machine *m, uint32_t wants, uint32_t *out)
{
	const uint32_t *near = placement_near(m, placement_best_switch(m, wants));
	uint32_t n = 0;

	for (uint32_t k = 0; n < wants; k++)
		for (uint32_t i = m->sw_off[near[k]]; n < wants && i < m->sw_off[near[k] + 1]; i++)
			if (!m->busy[m->sw_node[i]])
				placement_take(m, m->sw_node[i], out, &n);
}

static void placement_give_back(struct machine *m, const uint32_t *node, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		m->busy[node[i]] = false;
		m->sw_free[m->sw[node[i]]]++;
		m->first_free = node[i] < m->first_free ? node[i] : m->first_free;
	}
	m->nfree += n;
}

static void placement_choose(struct machine *m, enum placement policy, uint32_t wants,
			     uint32_t *out)
{
	if (policy == PLACEMENT_FIRST_FIT)
		placement_first_fit(m, wants, out);
	else if (policy == PLACEMENT_SCATTERED)
		placement_scatter(m, wants, out);
	else
		placement_by_topology(m, wants, out);
}

/* The fullest of the nodes that are shared and have room; FAB_NONE: none. */
static uint32_t placement_shared_node(const struct machine *m, const struct job_record *r)
{
	uint32_t best = FAB_NONE, most = 0;

	for (uint32_t i = 0; i < m->n; i++)
		if (m->used[i] > most && (uint64_t)m->used[i] + r->procs <= r->node_procs) {
			best = i;
			most = m->used[i];
		}
	return best;
}

static void placement_share(struct machine *m, enum placement policy, const struct job_record *r,
			    uint32_t *out)
{
	*out = placement_shared_node(m, r);
	if (*out == FAB_NONE)
		placement_choose(m, policy, 1, out);
	m->used[*out] += r->procs;
}

static void placement_give_back_share(struct machine *m, uint32_t node, uint32_t procs)
{
	m->used[node] -= procs;
	if (!m->used[node])
		placement_give_back(m, &node, 1);
}

/* Names as one text, ranges where they follow each other. */
static char *placement_text(const struct machine *m, const uint32_t *node, uint32_t n)
{
	const char **names = xcalloc(n, sizeof(*names));
	char *text;

	for (uint32_t i = 0; i < n; i++)
		names[i] = m->name[node[i]];
	text = hostlist_compress(names, n);
	free(names);
	return text;
}

struct placing {
	const struct job_record *job;
	uint32_t at; /* of the log */
};

static int placement_by_start(const void *pa, const void *pb)
{
	const struct placing *a = pa, *b = pb;

	if (a->job->start_s != b->job->start_s)
		return a->job->start_s < b->job->start_s ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static int placement_by_end(const void *pa, const void *pb)
{
	const struct placing *a = pa, *b = pb;

	if (a->job->end_s != b->job->end_s)
		return a->job->end_s < b->job->end_s ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static bool placement_in_window(const struct placement_opts *o, const struct job_record *r)
{
	if (o->from_s == JOB_LOG_ALL)
		return true;
	return r->start_s <= o->to_s && (!r->end_s || r->end_s > o->from_s);
}

/* What the jobs have at present; NULL: nothing. */
struct places {
	struct machine m;
	uint32_t **held; /* by job of the log */
	struct placing *end;
	uint32_t n, ended;
};

static void placement_end_jobs(struct places *p, const struct job_log *log, int64_t now_s)
{
	for (; p->ended < p->n; p->ended++) {
		const struct placing *e = &p->end[p->ended];

		if (!e->job->end_s)
			continue; /* goes on for ever */
		if (e->job->end_s > now_s)
			return;
		if (p->held[e->at] && e->job->procs)
			placement_give_back_share(&p->m, *p->held[e->at], e->job->procs);
		else if (p->held[e->at])
			placement_give_back(&p->m, p->held[e->at], log->jobs[e->at].wants);
		free(p->held[e->at]);
		p->held[e->at] = NULL;
	}
}

static void placement_start_job(struct places *p, struct job_log *log, uint32_t at,
				const struct placement_opts *opts, struct placement_report *report)
{
	struct job_record *r = &log->jobs[at];
	char *text;

	if (r->wants > p->m.nfree && (!r->procs || placement_shared_node(&p->m, r) == FAB_NONE)) {
		report->first_id = report->no_room++ ? report->first_id : r->id;
		return;
	}
	report->placed++;
	p->held[at] = xcalloc(r->wants, sizeof(uint32_t));
	if (r->procs)
		placement_share(&p->m, opts->policy, r, p->held[at]);
	else
		placement_choose(&p->m, opts->policy, r->wants, p->held[at]);
	if (!placement_in_window(opts, r))
		return;
	text = placement_text(&p->m, p->held[at], r->wants);
	r->nodes = arena_strdup(log->arena, text);
	free(text);
}

static void placement_keep_placed(struct job_log *log)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < log->n; i++) {
		if (log->jobs[i].wants && !*log->jobs[i].nodes)
			continue;
		log->jobs[n] = log->jobs[i];
		log->jobs[n++].wants = 0;
	}
	log->n = n;
}

void job_log_place(struct job_log *log, const struct fabric *f, const struct placement_opts *opts,
		   struct placement_report *report)
{
	struct placing *start = xcalloc(log->n, sizeof(*start));
	struct places p = { .end = xcalloc(log->n, sizeof(*p.end)),
			    .held = xcalloc(log->n, sizeof(*p.held)) };

	*report = (struct placement_report){ 0 };
	for (uint32_t i = 0; i < log->n; i++)
		if (log->jobs[i].wants)
			start[p.n++] = (struct placing){ &log->jobs[i], i };
	if (p.n) {
		memcpy(p.end, start, p.n * sizeof(*start));
		qsort(start, p.n, sizeof(*start), placement_by_start);
		qsort(p.end, p.n, sizeof(*p.end), placement_by_end);
		placement_machine_init(&p.m, f, opts->seed);
		report->nodes = p.m.n;
		for (uint32_t i = 0; i < p.n; i++) {
			placement_end_jobs(&p, log, start[i].job->start_s);
			if (start[i].job->end_s != start[i].job->start_s) /* ran at no time */
				placement_start_job(&p, log, start[i].at, opts, report);
		}
		placement_machine_done(&p.m);
		placement_keep_placed(log);
	}
	for (uint32_t i = 0; i < p.n; i++)
		free(p.held[start[i].at]);
	free(p.held);
	free(p.end);
	free(start);
}
