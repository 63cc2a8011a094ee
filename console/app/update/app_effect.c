/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether an update has helped: what the jobs sent before it and what they send since, and how slow
 * the slowest one is said to be. */
#include "console/app/app_priv.h"
#include "fabric/base/memory/mem.h"
#include "views/canvas/text.h"
#include "views/data/context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS	16 /* that suffer most */
#define SAMPLES 30 /* of each side: jobs do not send all the time */

struct app_effect {
	char plan[64];
	uint64_t job[JOBS];
	/* bytes per second at most: a job that computes for a while is not slower for that */
	double before[JOBS], after[JOBS];
	uint32_t n, nbefore, nafter; /* jobs, samples */
	double slowest;		     /* of all jobs, before; NAN unknown */
	bool told;
};

/* By its id; NAN: it has ended, or a rate is unknown. */
static double app_effect_rate(const struct fabric_summary *v, uint64_t id)
{
	for (uint32_t i = 0; v->jobs && v->job_Bps && i < v->jobs->njob; i++)
		if (v->jobs->jobs[i].id == id)
			return v->job_Bps[i];
	return NAN;
}

static double app_effect_slowest(const struct state *s)
{
	const struct link_usage *u = state_usage(s);

	return u && u->together && u->together->worst != FAB_NONE ? u->together->slowdown_max : NAN;
}

static void app_effect_begin(struct app *a, const struct fabric_summary *v)
{
	struct app_effect *x = xcalloc(1, sizeof(*x));

	free(a->effect);
	a->effect = x;
	memcpy(x->plan, a->state.apply.plan, sizeof(x->plan));
	x->slowest = app_effect_slowest(&a->state);
	for (uint32_t i = 0; v->jobs && v->by_suffering && i < v->jobs->njob && x->n < JOBS; i++)
		if (isfinite(v->job_Bps[v->by_suffering[i]]))
			x->job[x->n++] = v->jobs->jobs[v->by_suffering[i]].id;
}

static void app_effect_add(struct app_effect *x, double *peak, uint32_t *n,
			   const struct fabric_summary *v)
{
	if (*n == SAMPLES)
		return;
	++*n;
	for (uint32_t k = 0; k < x->n; k++)
		peak[k] = fmax(peak[k], app_effect_rate(v, x->job[k])); /* NAN: as it was */
}

static void app_effect_say(struct app *a, const struct app_effect *x)
{
	double before = 0, after = 0, slowest = app_effect_slowest(&a->state);
	char b[FIGURE_LEN], g[FIGURE_LEN], slow[64] = "", best[96] = "";
	uint32_t n = 0, most = 0;

	for (uint32_t k = 0; k < x->n; k++) {
		if (!(x->before[k] > 0) || !(x->after[k] > 0))
			continue; /* it has not sent on both sides */
		n++;
		before += x->before[k];
		after += x->after[k];
		if (x->after[k] - x->before[k] > x->after[most] - x->before[most] ||
		    !(x->before[most] > 0))
			most = k;
	}
	a->state.apply.effect[0] = '\0';
	if (!n)
		return;
	if (isfinite(x->slowest) && isfinite(slowest))
		snprintf(slow, sizeof(slow), "slowest job %.1fx -> %.1fx (predicted); ", x->slowest,
			 slowest);
	if (x->after[most] > 1.02 * x->before[most])
		snprintf(best, sizeof(best), ", most job %llu: %s -> %s",
			 (unsigned long long)x->job[most], figure_rate(b, x->before[most], false),
			 figure_rate(g, x->after[most], false));
	snprintf(a->state.apply.effect, sizeof(a->state.apply.effect),
		 "%speak rates of %u jobs: %s -> %s GB/s (%+.0f%%)%s", slow, n,
		 figure_rate(b, before, false), figure_rate(g, after, false),
		 100 * (after - before) / before, best);
}

static void app_effect_sample(struct app *a)
{
	const struct fabric_summary *v = &shell_context(a->shell)->summary;
	enum apply_state s = a->state.apply.state;
	struct app_effect *x;

	if (s == APPLY_ORDERING || s == APPLY_READY) {
		if (!a->effect || strcmp(a->effect->plan, a->state.apply.plan) || a->effect->nafter)
			app_effect_begin(a, v);
		app_effect_add(a->effect, a->effect->before, &a->effect->nbefore, v);
	}
	x = a->effect;
	if (!x || !x->nbefore || (s != APPLY_CONFIRM && s != APPLY_KEPT))
		return;
	app_effect_add(x, x->after, &x->nafter, v);
	if (x->nafter < x->nbefore) {
		snprintf(a->state.apply.effect, sizeof(a->state.apply.effect),
			 "sample %u of %u, as many as before the update", x->nafter, x->nbefore);
		return;
	}
	app_effect_say(a, x);
	if (s == APPLY_KEPT && !x->told) {
		app_record_action(a, "apply.effect", a->state.apply.effect);
		x->told = true;
	}
}

static void app_effect_hear(struct app *a, const struct app_news *n)
{
	if (n->type == NEWS_SAMPLE)
		app_effect_sample(a);
}

static void app_effect_end(struct app *a)
{
	free(a->effect);
	a->effect = NULL;
}

const struct app_part app_effect_part = { .hear = app_effect_hear, .end = app_effect_end };
