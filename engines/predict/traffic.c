/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/predict/traffic.h"

#include "engines/verify/verify_walk.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Hosts that talk to each other: those of a job, or all without one (the last group). */
struct group {
	uint32_t *term;
	uint32_t n;
	double in; /* sum of what its hosts receive */
};

struct traffic_work {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	struct predict_lids to;
	double *out, *in; /* per terminal, bytes/s */
	struct group *group;
	uint32_t ngroup;
	uint32_t *member; /* terminals, group after group */
	double *load;	  /* per channel */
	double *at;	  /* per switch: passing through it; 0 between destinations */
};

/* What the switch port of a host receives is what the host sends. */
static uint32_t traffic_measure(struct traffic_work *x, const struct rates *rates)
{
	const struct fabric *f = x->f;
	uint32_t unknown = 0;

	for (uint32_t t = 0; t < f->nterm; t++) {
		const struct port_rate *r =
			&rates->port[f->port_off[f->term_sw[t]] + f->term_port[t]];

		unknown += !isfinite(r->rx_Bps) || !isfinite(r->tx_Bps);
		x->out[t] = isfinite(r->rx_Bps) ? r->rx_Bps : 0;
		x->in[t] = isfinite(r->tx_Bps) ? r->tx_Bps : 0;
	}
	return unknown;
}

static uint32_t traffic_group_of(const struct jobset *jobs, uint32_t t)
{
	if (!jobs)
		return 0;
	return jobs->term_off[t] < jobs->term_off[t + 1] ? jobs->term_job[jobs->term_off[t]]
							 : jobs->njob;
}

static void traffic_form_groups(struct traffic_work *x, const struct jobset *jobs)
{
	uint32_t at = 0;

	x->ngroup = jobs ? jobs->njob + 1 : 1;
	x->group = arena_alloc(x->mem, x->ngroup, sizeof(*x->group));
	x->member = arena_alloc(x->mem, x->f->nterm + 1, sizeof(*x->member));
	for (uint32_t t = 0; t < x->f->nterm; t++)
		x->group[traffic_group_of(jobs, t)].n++;
	for (uint32_t g = 0; g < x->ngroup; g++) {
		x->group[g].term = x->member + at;
		at += x->group[g].n;
		x->group[g].n = 0;
	}
	for (uint32_t t = 0; t < x->f->nterm; t++) {
		struct group *g = &x->group[traffic_group_of(jobs, t)];

		g->term[g->n++] = t;
		g->in += x->in[t];
	}
}

/* Of what a host sends to another, the share that goes to that LID. */
static double traffic_share(const struct traffic_work *x, uint32_t src, uint32_t dst, uint16_t lid)
{
	uint16_t lids[PREDICT_MAX_LIDS];
	uint32_t n, of = 0;

	if (!x->to.lids)
		return lid == x->f->term_lid[dst];
	n = x->to.lids(x->to.ctx, src, dst, lids);
	for (uint32_t i = 0; i < n; i++)
		of += lids[i] == lid;
	return n ? (double)of / n : 0;
}

/* What all of a group send to a LID of one of them, at their switches; false: nothing. */
static bool traffic_gather(struct traffic_work *x, const struct group *g, uint32_t dst, uint16_t lid)
{
	bool any = false;

	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t t = g->term[i];
		double others = g->in - x->in[t], much;

		if (t == dst || others <= 0)
			continue;
		much = x->out[t] * x->in[dst] / others * traffic_share(x, t, dst, lid);
		x->at[x->f->term_sw[t]] += much;
		any |= much > 0;
	}
	return any;
}

/* Down the tree of the LID. */
static void traffic_send_on(struct traffic_work *x, const struct walk *w)
{
	const struct fabric *f = x->f;

	for (uint32_t i = 0; i < w->norder && w->order[i] != w->dsw; i++) {
		uint32_t u = w->order[i], c = w->chan[u];

		x->load[c] += x->at[u];
		x->at[f->chan_dst[c]] += x->at[u];
		x->at[u] = 0;
	}
	x->at[w->dsw] = 0;
	/* those without a path stay there */
	if (w->norder < f->nsw)
		for (uint32_t u = 0; u < f->nsw; u++)
			x->at[u] = 0;
}

static void traffic_send_to(struct traffic_work *x, struct walk *w, const struct group *g, uint32_t dst)
{
	uint32_t lids = x->to.lids ? 1u << x->f->lmc : 1;

	for (uint32_t k = 0; k < lids; k++) {
		uint16_t lid = (uint16_t)(x->f->term_lid[dst] + k);

		if (!traffic_gather(x, g, dst, lid))
			continue;
		if (walk_lid(w, lid))
			traffic_send_on(x, w);
		else
			memset(x->at, 0, x->f->nsw * sizeof(*x->at));
	}
}

static int traffic_send_all(struct traffic_work *x, const struct tables *t, struct progress *progress,
			    struct err *err)
{
	struct walk *w = walk_new(x->f, t);
	uint32_t done = 0;
	int rc = 0;

	for (uint32_t g = 0; g < x->ngroup && !rc; g++) {
		for (uint32_t i = 0; i < x->group[g].n && !rc; i++) {
			uint32_t dst = x->group[g].term[i];

			if (!(done++ & 63) && progress_step(progress, "traffic", done, x->f->nterm))
				rc = err_set(err, -ECANCELED, "cancelled");
			if (x->in[dst] > 0)
				traffic_send_to(x, w, &x->group[g], dst);
		}
	}
	walk_free(w);
	return rc;
}

static void traffic_summarise(struct traffic *out, const struct traffic_work *x)
{
	const struct fabric *f = x->f;
	uint32_t n = 0;

	out->chan = FAB_NONE;
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t port = f->port_off[f->chan_src[c]] + f->chan_port[c];
		double Bps = f->port[port].rate_Mbps * 1e6 / 8, util;

		if (Bps <= 0)
			continue;
		n++;
		util = x->load[c] / Bps * 100;
		out->util_mean += util;
		out->over += util > 100;
		if (util <= out->util_max)
			continue;
		out->util_max = util;
		out->chan = c;
	}
	if (n)
		out->util_mean /= n;
	for (uint32_t t = 0; t < f->nterm; t++)
		out->known = out->known || x->out[t] > 0;
}

int traffic_predict(struct traffic *out, const struct fabric *f, const struct tables *t,
		    const struct jobset *jobs, const struct rates *rates,
		    const struct predict_lids *to, struct progress *progress, struct err *err)
{
	struct traffic_work x = { .f = f };
	int rc;

	*out = (struct traffic){ .chan = FAB_NONE };
	if (rates->nport != f->nport || (jobs && jobs->nterm != f->nterm))
		return err_set(err, -EINVAL, "rates or jobs are of another fabric");
	if (to)
		x.to = *to;
	x.mem = arena_new();
	x.out = arena_alloc(x.mem, f->nterm + 1, sizeof(*x.out));
	x.in = arena_alloc(x.mem, f->nterm + 1, sizeof(*x.in));
	x.load = arena_alloc(x.mem, f->nchan + 1, sizeof(*x.load));
	x.at = arena_alloc(x.mem, f->nsw + 1, sizeof(*x.at));
	out->unknown = traffic_measure(&x, rates);
	traffic_form_groups(&x, jobs);
	rc = traffic_send_all(&x, t, progress, err);
	if (!rc)
		traffic_summarise(out, &x);
	arena_free(x.mem);
	return rc;
}
