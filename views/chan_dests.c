/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/chan_dests.h"

#include "fabric/base/mem.h"
#include "views/state.h"

#include <stdlib.h>
#include <string.h>

struct search {
	const struct fabric *f;
	const struct tables *t;
	uint32_t chan;
	uint32_t lid, dst_sw; /* of the destination in hand */
	uint32_t stamp;
	uint32_t *seen; /* per switch: stamp * 2 + does its route take the channel */
	uint32_t *way;
};

/* Does the route from a switch to the destination take the channel? */
static bool takes(struct search *x, uint32_t from)
{
	uint32_t n = 0, at = from;
	bool yes = false;

	while (at != x->dst_sw) {
		uint32_t c;

		if (x->seen[at] / 2 == x->stamp) {
			yes = x->seen[at] & 1;
			break;
		}
		x->seen[at] = x->stamp * 2; /* a circle comes back here and does not */
		x->way[n++] = at;
		c = fabric_chan(x->f, at, tables_row(x->t, at)[x->lid]);
		if (c == FAB_NONE)
			break;
		if (c == x->chan) {
			yes = true;
			break;
		}
		at = x->f->chan_dst[c];
	}
	for (uint32_t i = 0; i < n; i++)
		x->seen[x->way[i]] = x->stamp * 2 + yes;
	return yes;
}

static uint32_t from_all(struct search *x)
{
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < x->f->nsw; sw++)
		if (x->f->sw_nterm[sw] && sw != x->dst_sw && takes(x, sw))
			n += x->f->sw_nterm[sw];
	return n;
}

static uint32_t from_jobs(struct search *x, const struct jobset *jobs, uint32_t term)
{
	uint32_t n = 0;

	for (uint32_t k = jobs->term_off[term]; k < jobs->term_off[term + 1]; k++) {
		const struct job *j = &jobs->jobs[jobs->term_job[k]];

		for (uint32_t i = 0; j->multi && i < j->nterm; i++)
			n += x->f->term_sw[j->terms[i]] != x->dst_sw &&
			     takes(x, x->f->term_sw[j->terms[i]]);
	}
	return n;
}

static void add(struct chan_dests *out, uint32_t term, uint32_t routes)
{
	uint32_t k;

	out->total++;
	if (out->n == CHAN_DESTS && routes <= out->routes[CHAN_DESTS - 1])
		return;
	k = out->n < CHAN_DESTS ? out->n++ : CHAN_DESTS - 1;
	for (; k && out->routes[k - 1] < routes; k--) {
		out->routes[k] = out->routes[k - 1];
		out->term[k] = out->term[k - 1];
	}
	out->routes[k] = routes;
	out->term[k] = term;
}

/* Does the switch that sends on the channel send there what is for that terminal? */
static bool leads_to(const struct search *x, uint32_t term)
{
	uint32_t lid = x->f->term_lid[term];

	return lid <= x->t->max_lid &&
	       tables_row(x->t, x->f->chan_src[x->chan])[lid] == x->f->chan_port[x->chan];
}

void chan_dests_find(struct chan_dests *out, const struct fabric *f, const struct tables *t,
		     const struct jobset *jobs, uint32_t chan)
{
	struct search x = { .f = f, .t = t, .chan = chan };

	memset(out, 0, sizeof(*out));
	out->jobs = jobs && jobs->nmulti && jobs->nterm == f->nterm;
	x.seen = xcalloc(f->nsw, sizeof(*x.seen));
	x.way = xcalloc(f->nsw, sizeof(*x.way));
	for (uint32_t term = 0; term < f->nterm; term++) {
		uint32_t routes;

		if (!leads_to(&x, term))
			continue;
		x.lid = f->term_lid[term];
		x.dst_sw = f->term_sw[term];
		x.stamp++;
		routes = out->jobs ? from_jobs(&x, jobs, term) : from_all(&x);
		if (routes)
			add(out, term, routes);
	}
	free(x.way);
	free(x.seen);
}

void chan_dests_follow(struct chan_dests_kept *d, const struct state *s, uint32_t chan)
{
	const struct usage *u = state_usage(s);
	uint64_t serial = u ? u->serial : 0;

	if (d->chan == chan && d->tables == s->tables && d->serial == serial && d->tables)
		return;
	tables_put(d->tables);
	d->tables = s->tables ? tables_get(s->tables) : NULL;
	d->chan = chan;
	d->serial = serial;
	memset(&d->dests, 0, sizeof(d->dests));
	if (s->tables && s->tables->nsw == s->fabric->nsw)
		chan_dests_find(&d->dests, s->fabric, s->tables, u ? u->jobs : NULL, chan);
}

void chan_dests_done(struct chan_dests_kept *d)
{
	tables_put(d->tables);
	d->tables = NULL;
}
