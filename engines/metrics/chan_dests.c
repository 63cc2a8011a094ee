/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/metrics/chan_dests.h"

#include "engines/verify/verify_walk.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SAY_LIDS 64u

struct count {
	const struct fabric *f;
	const struct tables *t;
	struct chan_dests *out;
	struct walk *walk;
	uint32_t *routes; /* by switch: from there and from those that forward to it */
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

static bool chan_dests_goes_before(const struct chan_dest_list *l, uint32_t k, uint32_t term,
				   uint32_t routes)
{
	return routes > l->routes[k] || (routes == l->routes[k] && term < l->term[k]);
}

static void chan_dests_add(struct chan_dest_list *l, uint32_t term, uint32_t routes)
{
	uint32_t k;

	l->total++;
	if (l->n == CHAN_DESTS && !chan_dests_goes_before(l, CHAN_DESTS - 1, term, routes))
		return;
	k = l->n < CHAN_DESTS ? l->n++ : CHAN_DESTS - 1;
	for (; k && chan_dests_goes_before(l, k - 1, term, routes); k--) {
		l->routes[k] = l->routes[k - 1];
		l->term[k] = l->term[k - 1];
	}
	l->routes[k] = routes;
	l->term[k] = term;
}

/* Each switch sends to the LID on one channel: on it are all routes that meet in the switch. */
static void chan_dests_add_tree(struct count *x, uint32_t term)
{
	const struct walk *w = x->walk;

	for (uint32_t i = 0; i + 1 < w->norder; i++) {
		uint32_t sw = w->order[i], c = w->chan[sw];

		if (!x->routes[sw])
			continue;
		chan_dests_add(&x->out->of[c], term, x->routes[sw]);
		x->routes[x->f->chan_dst[c]] += x->routes[sw];
	}
}

static int chan_dests_count_all(struct count *x, const struct jobset *jobs,
				struct progress *progress, struct err *err)
{
	const struct fabric *f = x->f;

	for (uint32_t lid = 1; lid <= x->t->max_lid; lid++) {
		uint32_t term = fabric_lid_end(f, lid);

		if (lid % SAY_LIDS == 1 &&
		    progress_step(progress, "destinations", lid, x->t->max_lid))
			return err_set(err, -ECANCELED, "cancelled");
		if (term >= f->nterm || f->term_lid[term] != lid ||
		    !(jobs ? chan_dests_seed_jobs(x, jobs, term)
			   : chan_dests_seed_all(x, f->term_sw[term])))
			continue;
		if (walk_lid(x->walk, lid))
			chan_dests_add_tree(x, term);
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
	x.walk = walk_new(f, t);
	x.routes = xcalloc(f->nsw, sizeof(*x.routes));
	rc = chan_dests_count_all(&x, in_jobs ? jobs : NULL, progress, err);
	walk_free(x.walk);
	free(x.routes);
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
