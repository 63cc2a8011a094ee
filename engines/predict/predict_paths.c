/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/predict/predict_paths.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Walked side by side: their look-ups miss the caches, and the misses overlap. */
#define LEGS 256

struct leg {
	uint32_t sw, dsw, flow;
	uint16_t lid;
	float part;
};

static uint32_t predict_paths_term_rate(const struct fabric *f, uint32_t term)
{
	return fabric_port(f, f->term_sw[term], f->term_port[term])->rate_Mbps;
}

static uint32_t predict_paths_fastest_terminal(const struct fabric *f)
{
	uint32_t term, max = 0;

	for (term = 0; term < f->nterm; term++)
		max = predict_paths_term_rate(f, term) > max ? predict_paths_term_rate(f, term)
							     : max;
	return max;
}

static void predict_paths_set_speeds(struct predict_paths *p)
{
	const struct fabric *f = p->f;
	uint32_t base = predict_paths_fastest_terminal(f), i, rate;

	p->Mbps = base;
	p->slow = xcalloc(p->nlink, sizeof(*p->slow));
	for (i = 0; i < p->nlink; i++) {
		rate = i < f->nchan ? fabric_chan_Mbps(f, i)
				    : predict_paths_term_rate(f, (i - f->nchan) / 2);
		p->slow[i] = base && rate ? (float)base / (float)rate : 1;
	}
}

void predict_paths_speeds(struct predict_paths *p, const struct fabric *f)
{
	*p = (struct predict_paths){ .f = f, .nlink = f->nchan + 2 * f->nterm };
	predict_paths_set_speeds(p);
}

static void predict_paths_find_arrivals(struct predict_paths *p)
{
	const struct fabric *f = p->f;
	uint32_t lid, sw;
	uint8_t port = 0;

	p->arrives = xcalloc(f->max_lid + 1u, sizeof(*p->arrives));
	for (lid = 1; lid <= f->max_lid; lid++) {
		sw = fabric_lid_switch(f, lid, &port);
		p->arrives[lid] = sw != FAB_NONE && tables_row(p->t, sw)[lid] == port;
	}
}

int predict_paths_check(const struct fabric *f, const struct tables *t, const struct jobset *jobs,
			struct err *err)
{
	int rc = tables_check_fabric(t, f, err);

	return rc ? rc : jobset_check_fabric(jobs, f, err);
}

void predict_paths_init(struct predict_paths *p, const struct fabric *f, const struct tables *t,
			predict_lids_fn lids, void *lids_ctx)
{
	uint32_t sw, port;

	*p = (struct predict_paths){ .f = f, .t = t, .lids = lids, .lids_ctx = lids_ctx };
	p->nlink = f->nchan + 2 * f->nterm;
	for (sw = 0; sw < f->nsw; sw++)
		p->width = f->sw_nports[sw] + 2u > p->width ? f->sw_nports[sw] + 2u : p->width;
	p->hop = xcalloc((size_t)f->nsw * p->width, sizeof(*p->hop));
	for (sw = 0; sw < f->nsw; sw++) {
		for (port = 0; port < p->width; port++)
			p->hop[sw * p->width + port] = fabric_chan(f, sw, (uint8_t)port);
	}
	predict_paths_set_speeds(p);
	predict_paths_find_arrivals(p);
}

int predict_paths_open(struct predict_paths *p, const struct fabric *f, const struct tables *t,
		       const struct jobset *jobs, predict_lids_fn lids, void *lids_ctx,
		       struct err *err)
{
	int rc = predict_paths_check(f, t, jobs, err);

	if (!rc)
		predict_paths_init(p, f, t, lids, lids_ctx);
	return rc;
}

void predict_paths_done(struct predict_paths *p)
{
	free(p->slow);
	free(p->hop);
	free(p->arrives);
}

void predict_paths_trace_init(struct trace *tr)
{
	*tr = (struct trace){ 0 };
	tr->leg = xcalloc(LEGS + PREDICT_MAX_LIDS, sizeof(*tr->leg));
}

void predict_paths_trace_done(struct trace *tr)
{
	free(tr->steps);
	free(tr->stranded);
	free(tr->leg);
}

static void predict_paths_strand(struct trace *tr, uint32_t flow)
{
	tr->nstranded += !tr->stranded[flow];
	tr->stranded[flow] = true;
}

/* All legs one switch further; returns how many have not arrived. */
static uint32_t predict_paths_advance(struct trace *tr, const struct predict_paths *p, uint32_t n)
{
	const struct fabric *f = p->f;
	const uint8_t *lft = p->t->lft;
	size_t stride = p->t->stride;
	uint32_t i, left = 0, last = p->width - 1;

	if (tr->cap < tr->n + n) {
		tr->cap = 2 * tr->cap > tr->n + n ? 2 * tr->cap : tr->n + n;
		tr->steps = xrealloc(tr->steps, tr->cap, sizeof(*tr->steps));
	}
	for (i = 0; i < n; i++) {
		struct leg leg = tr->leg[i];
		uint32_t port = lft[leg.sw * stride + leg.lid];
		uint32_t c = p->hop[leg.sw * p->width + (port < last ? port : last)];

		if (c == FAB_NONE) {
			predict_paths_strand(tr, leg.flow);
			continue;
		}
		tr->steps[tr->n++] = (struct step){ c, leg.flow, leg.part };
		leg.sw = f->chan_dst[c];
		tr->leg[left] = leg;
		left += leg.sw != leg.dsw;
	}
	return left;
}

static void predict_paths_walk_legs(struct trace *tr, const struct predict_paths *p, uint32_t n)
{
	uint32_t i, hops;

	for (hops = 1; n && hops < p->f->nsw; hops++)
		n = predict_paths_advance(tr, p, n);
	for (i = 0; i < n; i++)
		predict_paths_strand(tr, tr->leg[i].flow); /* they circle */
}

/* Legs of one flow behind those that are there; returns how many there are then. */
static uint32_t predict_paths_add_legs(struct trace *tr, const struct predict_paths *p,
				       const struct flow *fl, uint32_t flow, uint32_t n)
{
	const struct fabric *f = p->f;
	struct leg leg = { .sw = f->term_sw[fl->src], .dsw = f->term_sw[fl->dst], .flow = flow };
	uint16_t lids[PREDICT_MAX_LIDS] = { f->term_lid[fl->dst] };
	uint32_t i, count = p->lids ? p->lids(p->lids_ctx, fl->src, fl->dst, lids) : 1;

	leg.part = 1.0f / (float)count;
	for (i = 0; i < count; i++) {
		leg.lid = lids[i];
		if (fabric_lid_end(f, leg.lid) != fl->dst || !p->arrives[leg.lid])
			predict_paths_strand(tr, flow);
		else if (leg.sw != leg.dsw)
			tr->leg[n++] = leg;
	}
	return n;
}

void predict_paths_trace_clear(struct trace *tr)
{
	tr->n = tr->nstranded = tr->nflow = 0;
}

void predict_paths_trace_flows(struct trace *tr, const struct predict_paths *p,
			       const struct flow *flows, uint32_t n)
{
	uint32_t i, legs = 0, first = tr->nflow;

	if (tr->cap_flow < first + n) {
		tr->cap_flow = first + n > 2 * tr->cap_flow ? first + n : 2 * tr->cap_flow;
		tr->stranded = xrealloc(tr->stranded, tr->cap_flow, sizeof(*tr->stranded));
	}
	tr->nflow += n;
	for (i = 0; i < n; i++) {
		tr->stranded[first + i] = false;
		legs = predict_paths_add_legs(tr, p, &flows[i], first + i, legs);
		if (legs < LEGS)
			continue;
		predict_paths_walk_legs(tr, p, legs);
		legs = 0;
	}
	predict_paths_walk_legs(tr, p, legs);
}
