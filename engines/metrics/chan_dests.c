/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * To one destination each switch sends on one channel, so the routes over that channel are those
 * that come together in the switch: counted from the switches that nobody sends to towards the
 * destination.  Switches on a circle never have their turn, and their routes never arrive.
 */
#include "engines/metrics/chan_dests.h"

#include "fabric/base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SAY_DESTS 64u

struct count {
	const struct fabric *f;
	const struct tables *t;
	struct chan_dests *out;
	/* by switch, of the destination in hand */
	uint32_t *chan;	  /* FAB_NONE: leads nowhere, or it is the destination's own */
	uint32_t *routes; /* that come together there */
	uint32_t *from;	  /* switches that send to it and have not had their turn */
	uint32_t *turn;
};

static bool chan_dests_seed_all(struct count *x, uint32_t dst_sw)
{
	for (uint32_t sw = 0; sw < x->f->nsw; sw++)
		x->routes[sw] = sw == dst_sw ? 0 : x->f->sw_nterm[sw];
	return true;
}

static bool chan_dests_seed_jobs(struct count *x, const struct jobset *jobs, uint32_t term)
{
	uint32_t dst_sw = x->f->term_sw[term];
	bool any = false;

	memset(x->routes, 0, x->f->nsw * sizeof(*x->routes));
	for (uint32_t k = jobs->term_off[term]; k < jobs->term_off[term + 1]; k++) {
		const struct job *j = &jobs->jobs[jobs->term_job[k]];

		for (uint32_t i = 0; j->multi && i < j->nterm; i++) {
			uint32_t sw = x->f->term_sw[j->terms[i]];

			x->routes[sw] += sw != dst_sw;
			any |= sw != dst_sw;
		}
	}
	return any;
}

static void chan_dests_add(struct chan_dest_list *l, uint32_t term, uint32_t routes)
{
	uint32_t k;

	l->total++;
	if (l->n == CHAN_DESTS && routes <= l->routes[CHAN_DESTS - 1])
		return;
	k = l->n < CHAN_DESTS ? l->n++ : CHAN_DESTS - 1;
	for (; k && l->routes[k - 1] < routes; k--) {
		l->routes[k] = l->routes[k - 1];
		l->term[k] = l->term[k - 1];
	}
	l->routes[k] = routes;
	l->term[k] = term;
}

static void chan_dests_look_up(struct count *x, uint32_t lid, uint32_t dst_sw)
{
	memset(x->from, 0, x->f->nsw * sizeof(*x->from));
	for (uint32_t sw = 0; sw < x->f->nsw; sw++) {
		x->chan[sw] =
			sw == dst_sw ? FAB_NONE : fabric_chan(x->f, sw, tables_row(x->t, sw)[lid]);
		if (x->chan[sw] != FAB_NONE)
			x->from[x->f->chan_dst[x->chan[sw]]]++;
	}
}

/* In turn: first the switches that nobody sends to.  Returns how many there are. */
static uint32_t chan_dests_put_in_turn(struct count *x)
{
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < x->f->nsw; sw++)
		if (!x->from[sw])
			x->turn[n++] = sw;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t chan = x->chan[x->turn[i]], to;

		if (chan == FAB_NONE)
			continue;
		to = x->f->chan_dst[chan];
		x->routes[to] += x->routes[x->turn[i]];
		if (!--x->from[to])
			x->turn[n++] = to;
	}
	return n;
}

/* Backwards, so that it is known whether the routes of a switch arrive. */
static void chan_dests_take(struct count *x, uint32_t term, uint32_t n)
{
	uint32_t dst_sw = x->f->term_sw[term];
	uint32_t *arrives = x->from; /* that is counted */

	memset(arrives, 0, x->f->nsw * sizeof(*arrives));
	arrives[dst_sw] = 1;
	for (uint32_t i = n; i--;) {
		uint32_t sw = x->turn[i], chan = x->chan[sw];

		if (chan == FAB_NONE || !arrives[x->f->chan_dst[chan]])
			continue;
		arrives[sw] = 1;
		if (x->routes[sw])
			chan_dests_add(&x->out->of[chan], term, x->routes[sw]);
	}
}

static int chan_dests_count_all(struct count *x, const struct jobset *jobs,
				struct progress *progress, struct err *err)
{
	const struct fabric *f = x->f;

	for (uint32_t term = 0; term < f->nterm; term++) {
		uint32_t lid = f->term_lid[term], dst_sw = f->term_sw[term];

		if (term % SAY_DESTS == 0 &&
		    progress_step(progress, "destinations", term, f->nterm))
			return err_set(err, -ECANCELED, "cancelled");
		if (lid > x->t->max_lid ||
		    !(jobs ? chan_dests_seed_jobs(x, jobs, term) : chan_dests_seed_all(x, dst_sw)))
			continue;
		chan_dests_look_up(x, lid, dst_sw);
		chan_dests_take(x, term, chan_dests_put_in_turn(x));
	}
	return 0;
}

int chan_dests_compute(struct chan_dests **out, const struct fabric *f, const struct tables *t,
		       const struct jobset *jobs, struct progress *progress, struct err *err)
{
	bool in_jobs = jobs && jobs->nmulti && jobs->nterm == f->nterm;
	struct count x = { .f = f, .t = t };
	int rc;

	*out = NULL;
	if (t->nsw != f->nsw)
		return err_set(err, -EINVAL, "tables of %u switches for a fabric of %u", t->nsw,
			       f->nsw);
	x.out = xcalloc(1, sizeof(*x.out));
	x.out->jobs = in_jobs;
	x.out->nchan = f->nchan;
	x.out->of = xcalloc(f->nchan + 1u, sizeof(*x.out->of));
	x.chan = xcalloc(4u * f->nsw + 1u, sizeof(*x.chan));
	x.routes = x.chan + f->nsw;
	x.from = x.routes + f->nsw;
	x.turn = x.from + f->nsw;
	rc = chan_dests_count_all(&x, in_jobs ? jobs : NULL, progress, err);
	free(x.chan);
	if (rc)
		chan_dests_free(x.out);
	else
		*out = x.out;
	return rc;
}

void chan_dests_free(struct chan_dests *d)
{
	if (d)
		free(d->of);
	free(d);
}
