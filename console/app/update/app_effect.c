/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The effect of an update on the jobs, for the last page of the update and the record. */
#include "console/app/app_priv.h"
#include "console/app/update/update_effect.h"
#include "fabric/base/memory/mem.h"
#include "views/data/context.h"

#include <stdlib.h>
#include <string.h>

struct app_effect {
	struct update_effect *of;
	char plan[64]; /* of the update that is prepared, open, or was the last; "" none */
	bool writing, told;
};

static struct app_effect *app_effect_get(struct app *a)
{
	if (!a->effect) {
		a->effect = xcalloc(1, sizeof(*a->effect));
		a->effect->of = update_effect_new();
	}
	return a->effect;
}

/* What the preview says that the plan was made from; NULL: it was made from none. */
static const struct job_time_changes *app_effect_told(const struct app *a)
{
	const struct state_preview *p = &a->state.preview;

	for (uint32_t i = 0; i < p->n; i++) {
		size_t n = strlen(p->list[i].id);

		if (!strncmp(p->list[i].id, a->state.apply.plan, n) &&
		    a->state.apply.plan[n] == ' ')
			return p->list[i].jobs_time;
	}
	return NULL;
}

/* The jobs that suffer most, the one first that line one of the Overview names. */
static uint32_t app_effect_jobs(const struct app *a, uint64_t job[EFFECT_JOBS + 1])
{
	const struct fabric_summary *v = &shell_context(a->shell)->summary;
	const struct link_usage *u = state_usage(&a->state);
	uint32_t n = 0;

	if (u && u->together && u->together->worst != FAB_NONE)
		job[n++] = u->jobs->jobs[u->together->worst].id;
	for (uint32_t i = 0; v->jobs && v->by_suffering && i < v->jobs->njob; i++) {
		uint64_t id = v->jobs->jobs[v->by_suffering[i]].id;

		if (n && id == job[0])
			continue;
		if (n == EFFECT_JOBS + 1)
			break;
		job[n++] = id;
	}
	return n;
}

static void app_effect_begin(struct app *a)
{
	struct app_effect *x = app_effect_get(a);
	uint64_t job[EFFECT_JOBS + 1];
	uint32_t n = app_effect_jobs(a, job);

	memcpy(x->plan, a->state.apply.plan, sizeof(x->plan));
	x->told = a->state.apply.measured = false;
	update_effect_begin(x->of, job, n, app_effect_told(a));
}

static void app_effect_say(struct app *a)
{
	struct state_apply *s = &a->state.apply;
	struct app_effect *x = app_effect_get(a);

	if (strcmp(x->plan, s->plan) != 0 ||
	    !update_effect_text(x->of, s->effect, sizeof(s->effect)) || x->told ||
	    s->state != APPLY_KEPT || !s->effect[0])
		return;
	app_record_action_of(a, "apply.effect", s->effect, s->txn);
	x->told = s->measured = true;
}

static void app_effect_sample(struct app *a)
{
	const struct fabric_summary *v = &shell_context(a->shell)->summary;
	enum apply_state s = a->state.apply.state;
	struct app_effect *x = app_effect_get(a);

	if (s == APPLY_RUNNING || s == APPLY_ROLLING_BACK) {
		x->writing = true;
		return;
	}
	if (x->writing)
		update_effect_routed(x->of);
	x->writing = false;
	if (v->jobs && v->job_Bps)
		update_effect_sample(x->of, v->jobs, v->job_Bps);
	if (s == APPLY_ORDERING || s == APPLY_READY) {
		app_effect_begin(a);
		update_effect_before(x->of, a->state.apply.effect, sizeof(a->state.apply.effect));
	}
	if (s == APPLY_CONFIRM || (s == APPLY_KEPT && !x->told))
		app_effect_say(a);
}

static void app_effect_hear(struct app *a, const struct app_news *n)
{
	enum apply_state s = a->state.apply.state;

	if (n->type == NEWS_SAMPLE)
		app_effect_sample(a);
	else if ((s == APPLY_ORDERING || s == APPLY_READY ||
		  (s == APPLY_RUNNING && !app_effect_get(a)->writing)) &&
		 strcmp(app_effect_get(a)->plan, a->state.apply.plan) != 0)
		app_effect_begin(a);
	/* one that is short is over before the next sample */
	if (s == APPLY_RUNNING || s == APPLY_ROLLING_BACK)
		app_effect_get(a)->writing = true;
}

static void app_effect_end(struct app *a)
{
	if (!a->effect)
		return;
	update_effect_free(a->effect->of);
	free(a->effect);
	a->effect = NULL;
}

const struct app_part app_effect_part = { .hear = app_effect_hear, .end = app_effect_end };
