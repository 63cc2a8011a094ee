/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/time/sar_step.h"

#include "engines/graph/graph.h"
#include "engines/sar/paper/sar_installed.h"
#include "engines/sar/time/sar_aim.h"
#include "engines/sar/time/sar_fit.h"
#include "engines/sar/time/sar_near.h"
#include "engines/sar/time/sar_scratch.h"
#include "engines/time/demand_time.h"
#include "engines/time/time_gate.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NOTHING		"none were found with which jobs take less time"
#define WORTH		0.998  /* of the time: what moves have to reach */
#define PATIENT		0.9995 /* the same, where there is clearly more to gain */
#define PLENTY		0.97   /* moves that reach that are enough for a step */
#define LITTLE		0.99   /* where nothing reaches that, it is looked for hard, too */
#define NEAR		0.995  /* what scratch reaches of the time, where it is worth aiming at */
#define CLOSE		1.03   /* times that is as good as it */
#define FIT_TRIES	5
#define FIT_TRIES_LARGE 1

/* How a step is looked for. */
struct effort {
	uint32_t flows;
	uint64_t work;
	double patterns; /* so many times do these count */
	double worth;	 /* of the time: what it has to reach */
	bool aim, by_switch, careful, polish;
};

static const struct effort quick = {
	.flows = 1u << 17, .work = 3ull << 22, .patterns = 1, .worth = WORTH
};
static const struct effort hard = {
	.flows = 1u << 19, .work = 1ull << 27, .patterns = 4, .worth = WORTH
};
/* Where scratch reaches clearly more, a little may lead to more: see sar_step_is_patient(). */
static const struct effort patient = {
	.flows = 1u << 19, .work = 1ull << 27, .patterns = 4, .worth = PATIENT
};
/* So much is gained at the end that nothing need be in between. */
static const struct effort aimed = {
	.flows = 1u << 19, .work = 1ull << 27, .worth = 1, .aim = true
};
static const struct effort by_switch = {
	.flows = 1u << 19, .work = 1ull << 27, .worth = 1, .aim = true, .by_switch = true
};
static const struct effort careful = {
	.flows = 1u << 19, .work = 1ull << 27, .worth = 1, .aim = true, .careful = true
};
static const struct effort polished = { .flows = 1u << 19,
					.work = 1ull << 26,
					.patterns = 4,
					.worth = 1,
					.aim = true,
					.polish = true };

static const struct effort *const aims[] = { &aimed, &by_switch, &careful, &polished };

#define AIMS ((uint32_t)(sizeof(aims) / sizeof(*aims)))

/* What was found, with what there is to say about it. */
struct draft {
	struct tables *t;
	struct notes notes;
	uint64_t blocks;
	double before, after; /* time of the objective */
	bool good, slower;    /* slower: somebody waits clearly longer */
};

struct stepping {
	struct sar_timing *k;
	struct tables *target;	  /* from scratch; NULL: not known */
	const struct tables *aim; /* which of those that could be reached is meant */
	double now, there;	  /* time of the installed tables and of those; 0: not known */
	bool fair;		  /* moves care that nobody gets clearly slower */
	struct note kept;	  /* why the installed paths stay, should they */
};

static void draft_done(struct draft *d)
{
	tables_put(d->t);
	notes_done(&d->notes);
	*d = (struct draft){ .t = NULL };
}

static void sar_step_say_kept(struct stepping *s, uint64_t jobs, const char *why)
{
	s->kept.value = jobs;
	snprintf(s->kept.text, sizeof(s->kept.text), "the installed paths stay: %s", why);
}

/* Other tables, other distances: what one sample makes look better than it is the next does not. */
static uint64_t sar_step_sample(const struct tables *t)
{
	const uint64_t *v = (const uint64_t *)(const void *)t->lft;
	uint64_t h = 1;

	for (size_t i = 0; i < (size_t)t->nsw * t->stride / sizeof(*v); i++)
		h = (h ^ v[i]) * 0x9e3779b97f4a7c15ull;
	return h;
}

/* VLs that an update may need: those that are needed now, or few. */
static unsigned sar_step_vls(const struct sar_timing *k)
{
	unsigned now = k->params->current->vls, most = graph_vls(k->f, k->params);

	now = now > SAR_FEW_VLS ? now : SAR_FEW_VLS;
	return now < most ? now : most;
}

/* All that it depends on but fabric and jobs; false: on more than a name can tell. */
static bool sar_step_name_target(char *buf, size_t len, const struct sar_timing *k)
{
	const struct engine_params *p = k->params;

	snprintf(buf, len, "sar pattern=%d detour=%u vls=%u lmc=%u rates=%d escape=%d",
		 (int)k->objective.pattern, k->detour, graph_vls(k->f, p), k->lmc, !p->ignore_rates,
		 p->escape);
	return !k->objective.demand && !p->limits;
}

static int sar_step_make_target(struct stepping *s)
{
	const struct engine_params *params = s->k->params;
	struct engine_params own = *params;
	int rc;

	own.current = NULL;
	own.notes = NULL;
	own.spread = false;
	s->k->params = &own;
	rc = sar_scratch_route(&s->target, s->k);
	sar_timing_end(s->k); /* its last search is still there */
	s->k->params = params;
	return rc;
}

static int sar_step_find_target(struct stepping *s)
{
	struct sar_timing *k = s->k;
	char name[120];
	bool named = sar_step_name_target(name, sizeof(name), k);
	int rc = 0;

	if (named)
		s->target = time_memo_target(k->memo, k->f, k->jobs, name);
	if (!s->target)
		rc = sar_step_make_target(s);
	if (!rc && named)
		time_memo_keep_target(k->memo, k->f, k->jobs, name, s->target);
	return rc;
}

/* *blocks of d->t differ then. */
static int sar_step_search(struct draft *d, struct stepping *s, const struct effort *effort)
{
	struct sar_timing *k = s->k;
	struct sar_search_opts opts = { .from = k->params->current,
					.detour = k->detour,
					.limit = sar_installed_budget(k->f, k->params),
					.blocks_all = sar_installed_blocks(k->f),
					.fair = s->fair && !k->params->sar_slower,
					.careful = effort->careful,
					.by_switch = effort->by_switch,
					.patterns = effort->patterns };
	int rc = sar_timing_begin(k, effort->flows, sar_step_sample(k->params->current),
				  effort->work);

	if (!rc && effort->aim)
		rc = sar_aim_run(&k->search, d->t, s->aim, &opts, &d->blocks);
	if (effort->polish) {
		opts.begun = true;
		opts.blocks_all = 0;
		opts.limit = d->blocks;
	}
	if (!rc && effort->aim == effort->polish)
		rc = sar_search_run(&k->search, d->t, &opts, &d->blocks);
	sar_timing_end(k);
	return rc;
}

static int sar_step_fit(struct draft *d, struct sar_timing *k)
{
	struct engine_params own = *k->params;
	struct sar_fit_opts fit = { .plain = k->params->current,
				    .keep = k->params->current,
				    .few = sar_step_vls(k),
				    .tries = k->large ? FIT_TRIES_LARGE : FIT_TRIES };
	uint32_t back;

	own.notes = &d->notes;
	return sar_fit_layers(d->t, k->f, &fit, &own, &back, k->progress, k->err);
}

static int sar_step_gate_demand(struct time_gate *gate, const struct tables *t,
				struct sar_timing *k)
{
	const struct demand *demand = k->objective.demand;
	struct demand_time before, after;
	int rc = demand_time_compute(&before, k->f, k->params->current, demand, NULL, NULL,
				     k->progress, k->err);

	if (!rc)
		rc = demand_time_compute(&after, k->f, t, demand, NULL, NULL, k->progress, k->err);
	if (!rc)
		gate->demand = (struct time_change){ before.time, after.time, 0 };
	return rc;
}

/* As a plan measures it; single jobs must not wait in an all-to-all either, whatever the objective
 * is. */
static int sar_step_gate(struct time_gate *out, const struct tables *t, struct sar_timing *k)
{
	struct job_time_opts opts = { .seed = 1, .threads = k->params->threads };
	struct time_sheet *was = NULL, *is = NULL;
	struct time_gate all;
	int rc = time_memo_sheet(&was, k->memo, k->f, k->params->current, k->jobs, &opts,
				 k->progress, k->err);

	if (!rc)
		rc = time_memo_sheet(&is, k->memo, k->f, t, k->jobs, &opts, k->progress, k->err);
	if (!rc) {
		time_gate_compare(out, was, is, k->jobs, k->objective.pattern);
		time_gate_compare(&all, was, is, k->jobs, PREDICT_ALLTOALL);
		if (!out->jobs_slower && all.jobs_slower)
			*out = all;
	}
	time_sheet_put(was);
	time_sheet_put(is);
	return rc;
}

/* Is it worth it, and does nobody wait clearly longer?  Says so where it is not. */
static int sar_step_judge(struct draft *d, struct stepping *s, const struct effort *effort)
{
	struct sar_timing *k = s->k;
	const struct time_change *all;
	struct time_gate gate;
	char text[120];
	int rc = sar_step_gate(&gate, d->t, k);

	if (!rc && k->objective.demand)
		rc = sar_step_gate_demand(&gate, d->t, k);
	if (rc)
		return rc;
	all = k->objective.demand ? &gate.demand : &gate.of[k->objective.pattern];
	d->slower = time_gate_slower(&gate) && !k->params->sar_slower;
	d->before = all->before;
	d->after = all->after;
	d->good = !d->slower && all->after <= effort->worth * all->before;
	if (d->slower)
		sar_step_say_kept(s, gate.jobs_slower, time_gate_text(text, sizeof(text), &gate));
	else
		sar_step_say_kept(s, 0, NOTHING);
	return 0;
}

/* 0, and not good: nothing was found, or does not fit the VLs. */
static int sar_step_try(struct draft *d, struct stepping *s, const struct effort *effort)
{
	int rc;

	draft_done(d);
	d->t = sar_timing_copy(s->k, s->k->params->current);
	rc = sar_step_search(d, s, effort);
	if (!rc && d->blocks)
		rc = sar_step_fit(d, s->k);
	if (!rc && d->blocks)
		rc = sar_step_judge(d, s, effort);
	return rc == -ENOSPC ? 0 : rc;
}

/* Moves that need not care who waits meanwhile gain more, and often nobody does in the end.  Where
 * there is no time for a second try, the first has to do. */
static int sar_step_try_moves(struct draft *d, struct stepping *s, const struct effort *effort)
{
	bool once = s->k->large;
	int rc;

	s->fair = once;
	rc = sar_step_try(d, s, effort);
	s->fair = true;
	return rc || once || !d->slower ? rc : sar_step_try(d, s, effort);
}

/* Is what scratch reaches, as far as known, clearly better? */
static bool sar_step_has_more(const struct stepping *s)
{
	return s->there > 0 && s->there < NEAR * s->now;
}

/* *worth: is it? */
static int sar_step_look_far(bool *worth, struct stepping *s)
{
	int rc = sar_step_find_target(s);

	*worth = false;
	if (rc)
		return rc == -ENOSPC ? 0 : rc;
	rc = sar_timing_measure(&s->now, s->k, s->k->params->current, 1);
	if (!rc)
		rc = sar_timing_measure(&s->there, s->k, s->target, 1);
	*worth = !rc && sar_step_has_more(s);
	return rc;
}

/* *other may become what *best was. */
static void sar_step_take_better(struct draft *best, struct draft *other)
{
	struct draft worse = *best;

	if (!other->good || (best->good && other->after > best->after))
		return;
	*best = *other;
	*other = worse;
}

static bool sar_step_is_plenty(const struct draft *d)
{
	return d->good && d->after <= PLENTY * d->before;
}

/* The ways to those tables: the best of all, or the first that is good. */
static int sar_step_aim_at(struct draft *best, struct stepping *s, const struct tables *aim,
			   bool all)
{
	struct draft other = { .t = NULL };
	int rc = 0;

	s->aim = aim;
	for (uint32_t i = 0; i < AIMS && !rc; i++) {
		if (all ? sar_step_is_plenty(best) : best->good)
			break;
		rc = sar_step_try(&other, s, aims[i]);
		if (!rc)
			sar_step_take_better(best, &other);
		draft_done(&other);
	}
	return rc;
}

/* *near: what moves come to without a budget; *close: is that about as good as what scratch
 * reaches? */
static int sar_step_look_near(struct tables **near, bool *close, struct stepping *s)
{
	double time = 0;
	int rc = sar_near_route(near, s->k, sar_step_sample(s->k->params->current));

	if (!rc)
		rc = sar_timing_measure(&time, s->k, *near, 1);
	*close = !rc && time <= CLOSE * s->there;
	return rc;
}

static int sar_step_aim(struct draft *best, struct stepping *s)
{
	struct tables *near = NULL;
	bool worth = false, close = false;
	int rc = sar_step_look_far(&worth, s);

	if (rc || !worth)
		return rc;
	rc = sar_step_look_near(&near, &close, s);
	if (!rc && close)
		rc = sar_step_aim_at(best, s, near, true);
	if (!rc && !best->good)
		rc = sar_step_aim_at(best, s, s->target, false);
	if (!rc && !close && !best->good)
		rc = sar_step_aim_at(best, s, near, true);
	tables_put(near);
	return rc;
}

static void sar_step_tell(const struct draft *d, const struct stepping *s)
{
	const struct sar_timing *k = s->k;
	uint64_t limit = sar_installed_budget(k->f, k->params);

	notes_set_all(k->params->notes, &d->notes);
	if (d->blocks + k->f->nsw / 64 + 1 < limit)
		return;
	notes_set(k->params->notes, "sar_budget", limit,
		  "it changes %llu LFT blocks, the limit is %llu; further updates lower "
		  "the time of jobs further",
		  (unsigned long long)d->blocks, (unsigned long long)limit);
	if (s->now > 0 && s->there > 0 && s->there < s->now)
		notes_set(k->params->notes, "sar_reach", (uint64_t)(1000 * (1 - s->there / s->now)),
			  "routes from scratch take %.1f %% less time than the installed ones",
			  100 * (1 - s->there / s->now));
}

static int sar_step_keep(struct tables **out, struct stepping *s)
{
	struct sar_timing *k = s->k;
	int rc = sar_installed_keep(out, k->f, k->params, k->progress, k->err);

	if (!rc)
		notes_set(k->params->notes, "sar_kept_installed", s->kept.value, "%s",
			  s->kept.text);
	return rc;
}

/* Where the way to what scratch reaches gains nothing, little is enough. */
static bool sar_step_is_patient(const struct stepping *s, const struct draft *best)
{
	return sar_step_has_more(s) && (!best->good || best->after >= best->before);
}

/* *best: what is taken, if it is good: single moves, where these gain little the way to what
 * scratch reaches, or moves looked for longer. */
static int sar_step_find(struct draft *best, struct stepping *s)
{
	struct draft other = { .t = NULL };
	int rc = sar_step_try_moves(best, s, &quick);

	if (rc || s->k->large || sar_step_is_plenty(best))
		return rc;
	rc = sar_step_aim(&other, s);
	if (!rc)
		sar_step_take_better(best, &other);
	draft_done(&other);
	if (rc || (best->good && best->after <= LITTLE * best->before))
		return rc;
	rc = sar_step_try_moves(&other, s, sar_step_is_patient(s, best) ? &patient : &hard);
	if (!rc)
		sar_step_take_better(best, &other);
	draft_done(&other);
	return rc;
}

int sar_step_route(struct tables **out, struct sar_timing *k)
{
	struct stepping s = { .k = k, .fair = true };
	struct draft best = { .t = NULL };
	int rc;

	sar_step_say_kept(&s, 0, NOTHING);
	rc = sar_step_find(&best, &s);
	if (!rc && best.good) {
		sar_step_tell(&best, &s);
		*out = (struct tables *)tables_get(best.t);
	} else if (!rc) {
		rc = sar_step_keep(out, &s);
	}
	draft_done(&best);
	tables_put(s.target);
	return rc;
}
