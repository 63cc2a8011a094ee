/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/prom/prom_effect.h"

#include "console/app/update/update_effect.h"
#include "fabric/base/memory/mem.h"

#include <stdlib.h>

struct prom_effect {
	struct update_effect *of;
	bool known;	     /* the next is */
	int64_t confirmed_s; /* when the last update was, that is known */
	bool open;	     /* one is under way */
	bool since;	     /* samples are those since one was confirmed */
	bool measured;
	double before, after;
};

struct prom_effect *prom_effect_new(void)
{
	struct prom_effect *x = xcalloc(1, sizeof(*x));

	x->of = update_effect_new();
	return x;
}

void prom_effect_free(struct prom_effect *x)
{
	if (!x)
		return;
	update_effect_free(x->of);
	free(x);
}

/* Those that suffer most; what they have sent until now is what it was before. */
static void prom_effect_begin(struct prom_effect *x, const struct fabric_summary *v)
{
	uint64_t job[EFFECT_JOBS];
	uint32_t n = 0;

	for (uint32_t i = 0; v->jobs && v->by_suffering && i < v->jobs->njob && n < EFFECT_JOBS;
	     i++)
		job[n++] = v->jobs->jobs[v->by_suffering[i]].id;
	update_effect_begin(x->of, job, n, NULL);
	x->since = false;
}

/* Confirmed or not, the routing may be another one from now on. */
static void prom_effect_end(struct prom_effect *x, bool confirmed)
{
	update_effect_routed(x->of);
	x->since = confirmed;
	x->measured = x->measured && !confirmed;
}

void prom_effect_sample(struct prom_effect *x, const struct update_counts *u,
			const struct fabric_summary *v)
{
	bool open = u && u->open + u->left, confirmed = x->known && u;

	confirmed = confirmed && u->confirmed_s > x->confirmed_s;
	if (!x->open && (open || confirmed))
		prom_effect_begin(x, v);
	if ((x->open && !open) || confirmed)
		prom_effect_end(x, confirmed);
	x->open = open;
	x->known = x->known || u;
	x->confirmed_s = u ? u->confirmed_s : x->confirmed_s;
	if (open || !v->jobs || !v->job_Bps)
		return;
	update_effect_sample(x->of, v->jobs, v->job_Bps);
	if (!x->since || !update_effect_whole(x->of))
		return;
	x->since = false;
	x->measured = update_effect_sums(x->of, &x->before, &x->after);
}

bool prom_effect_rates(const struct prom_effect *x, double *before, double *after)
{
	if (!x || !x->measured)
		return false;
	*before = x->before;
	*after = x->after;
	return true;
}
