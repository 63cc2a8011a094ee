/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/summary/congestion.h"

#include "fabric/base/memory/mem.h"
#include "views/data/state/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_PCT 20 /* where the limit warns of nothing */
#define FULL_PCT 50 /* a port that is less full keeps nobody waiting */

#define ON_THE_WAY (FAB_NONE - 1)

/* What is only needed while findings are made. */
struct search {
	const struct sample_summary *t;
	const struct fabric *f;
	double wait_pct;
	uint32_t *
		cause; /* fabric port by channel; FAB_NONE: it does not wait, or is not looked at */
	uint32_t *way; /* channels from the one that is looked at to its cause */
	uint32_t *found; /* finding by fabric port, + 1 */
};

double congestion_limit(double warn_pct)
{
	return warn_pct > 0 ? warn_pct : WAIT_PCT;
}

static const struct port_rate *congestion_rate(const struct search *x, uint32_t port)
{
	return &x->t->rates->port[port];
}

/* The fullest port that leads on from the link's far end; FAB_NONE: none sends anything. */
static uint32_t congestion_next(const struct search *x, uint32_t chan)
{
	uint32_t sw = x->f->chan_dst[chan], back = x->f->port_off[sw] + x->f->chan_rport[chan];
	const uint32_t *fullest = x->t->fullest[sw];

	return fullest[0] == back ? fullest[1] : fullest[0];
}

/* The link that one goes on to; FAB_NONE: *port is the cause. */
static uint32_t congestion_step(const struct search *x, uint32_t chan, uint32_t *port)
{
	uint32_t at = chan_fabric_port(x->f, chan), next = congestion_next(x, chan), on;
	double util = congestion_rate(x, at)->util_pct, next_util;

	*port = at;
	if (next == FAB_NONE)
		return FAB_NONE;
	next_util = congestion_rate(x, next)->util_pct;
	if (next_util < util || next_util < FULL_PCT)
		return FAB_NONE;
	*port = next;
	on = x->f->port[next].chan;
	return on != FAB_NONE && congestion_rate(x, next)->wait_pct >= x->wait_pct ? on : FAB_NONE;
}

/* Links that are as full as each other may wait in a circle: one of them is the cause then. */
static void congestion_follow(struct search *x, uint32_t chan)
{
	uint32_t n = 0, port = FAB_NONE;

	while (chan != FAB_NONE && x->cause[chan] == FAB_NONE) {
		x->cause[chan] = ON_THE_WAY;
		x->way[n++] = chan;
		chan = congestion_step(x, chan, &port);
	}
	if (chan != FAB_NONE)
		port = x->cause[chan] == ON_THE_WAY ? chan_fabric_port(x->f, chan) : x->cause[chan];
	while (n)
		x->cause[x->way[--n]] = port;
}

static void congestion_add(struct congestion *out, struct search *x, uint32_t chan)
{
	uint32_t port = x->cause[chan];
	struct congestion_finding *g;

	if (!x->found[port]) {
		if (!(out->n & (out->n + 1)))
			out->finding = xrealloc(out->finding, (out->n + 1) * 2ull, sizeof(*g));
		out->finding[out->n++] = (struct congestion_finding){
			port, 0, chan, fmax(0, port_rate_congestion(congestion_rate(x, port)))
		};
		x->found[port] = out->n;
	}
	g = &out->finding[x->found[port] - 1];
	g->waiting++;
	g->worst_pct = fmax(g->worst_pct, x->t->congestion[chan]);
	if (congestion_rate(x, chan_fabric_port(x->f, chan))->wait_pct >
	    congestion_rate(x, chan_fabric_port(x->f, g->longest))->wait_pct)
		g->longest = chan;
}

static int congestion_cmp(const void *pa, const void *pb)
{
	const struct congestion_finding *a = pa, *b = pb;

	if (a->worst_pct > b->worst_pct || a->worst_pct < b->worst_pct)
		return a->worst_pct > b->worst_pct ? -1 : 1;
	return a->port < b->port ? -1 : a->port > b->port;
}

/* In order, and which links are in which. */
static void congestion_order(struct congestion *out, struct search *x)
{
	if (out->n)
		qsort(out->finding, out->n, sizeof(*out->finding), congestion_cmp);
	for (uint32_t i = 0; i < out->n; i++)
		x->found[out->finding[i].port] = i;
	for (uint32_t i = 0; i < x->t->nwaiting; i++) {
		uint32_t chan = x->t->waiting[i];

		if (x->cause[chan] != FAB_NONE)
			out->of_chan[chan] = x->found[x->cause[chan]];
	}
	for (uint32_t i = 0; i < out->n; i++)
		if (x->f->port[out->finding[i].port].chan != FAB_NONE)
			out->of_chan[x->f->port[out->finding[i].port].chan] = i;
}

void congestion_find(struct congestion *out, const struct sample_summary *t, double wait_pct)
{
	const struct fabric *f = t->fabric;
	struct search x = { .t = t, .f = f, .wait_pct = wait_pct };

	congestion_done(out);
	out->wait_pct = wait_pct;
	out->of_chan = xcalloc(f->nchan + 1ull, sizeof(*out->of_chan));
	memset(out->of_chan, 0xff, f->nchan * sizeof(*out->of_chan));
	if (!t->nwaiting)
		return;
	x.cause = xcalloc(f->nchan, sizeof(*x.cause));
	x.way = xcalloc(f->nchan, sizeof(*x.way));
	x.found = xcalloc(f->nport, sizeof(*x.found));
	memset(x.cause, 0xff, f->nchan * sizeof(*x.cause));
	for (uint32_t i = 0; i < t->nwaiting; i++) {
		uint32_t chan = t->waiting[i];

		if (!(congestion_rate(&x, chan_fabric_port(f, chan))->wait_pct >= wait_pct))
			continue;
		congestion_follow(&x, chan);
		congestion_add(out, &x, chan);
	}
	congestion_order(out, &x);
	free(x.cause);
	free(x.way);
	free(x.found);
}

void congestion_done(struct congestion *c)
{
	free(c->finding);
	free(c->of_chan);
	memset(c, 0, sizeof(*c));
}
