/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/beside/improver.h"

#include "engines/opensm/beside/beside.h"
#include "engines/predict/predict.h"
#include "engines/repair/repair.h"
#include "engines/time/shift_time.h"
#include "engines/transition/transition.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARE	   .05 /* of the LFT blocks in a step */
#define BISECTIONS 50
#define LITTLE	   .02 /* by which one figure may get worse where the other gets better */

struct improver {
	struct improver_ops ops;
	void *ctx;
	struct beside *beside;
	pthread_mutex_t lock;
	const struct tables *last; /* for which there is no step */
};

/* What the process puts; the LFTs follow where it is a step. */
struct improver_step {
	bool any, better;
	uint32_t entries, blocks;
	double ebb[2], shifts[2]; /* now, then; shifts: what engines compare by */
};

/* --- in a process of its own ------------------------------------------------------------------ */

static int improver_measure(struct improver_step *s, int i, const struct fabric *f,
			    const struct tables *t, struct err *err)
{
	static const struct ebb_opts opts = { .bisections = BISECTIONS, .seed = 1, .threads = 1 };
	struct ebb ebb;
	int rc = predict_ebb(&ebb, f, t, &opts, NULL, err);

	if (rc)
		return rc;
	s->ebb[i] = ebb.mean;
	return shift_time_score(&s->shifts[i], f, t, NULL, err);
}

static bool improver_is_better(const struct improver_step *s)
{
	double ebb = s->ebb[1] / s->ebb[0] - 1, shifts = s->shifts[1] / s->shifts[0] - 1;

	return (ebb > 0 && shifts > -LITTLE) || (shifts > 0 && ebb > -LITTLE);
}

/* Anything that a step does not do any more, whoever made it. */
static int improver_check(const struct fabric *f, const struct tables *was, const struct tables *t,
			  struct err *err)
{
	struct transition *plan;
	int rc = transition_plan(&plan, f, was, t, NULL, NULL, err);

	if (rc)
		return rc;
	if (plan->ndrain || plan->nwaves > 1)
		rc = err_set(err, -EPROTO, "%u waves, and %u LIDs to be drained", plan->nwaves,
			     plan->ndrain);
	transition_free(plan);
	if (!rc && (tables_sl_bytes(was) != tables_sl_bytes(t) || was->sl_kind != t->sl_kind ||
		    (t->sl && memcmp(was->sl, t->sl, tables_sl_bytes(t)) != 0)))
		rc = err_set(err, -EPROTO, "SLs of paths would change");
	return rc;
}

static void improver_count(struct improver_step *s, const struct tables *a, const struct tables *b)
{
	for (uint32_t sw = 0; sw < a->nsw; sw++)
		for (uint32_t first = 0; first <= a->max_lid; first += LFT_BLOCK) {
			uint32_t n = 0;

			for (uint32_t lid = first; lid < first + LFT_BLOCK && lid <= a->max_lid;
			     lid++)
				n += tables_row(a, sw)[lid] != tables_row(b, sw)[lid];
			s->entries += n;
			s->blocks += n > 0;
		}
	s->any = s->blocks > 0;
}

static int improver_judge(struct improver_step *s, const struct beside_question *q,
			  const struct tables *t, struct err *err)
{
	int rc;

	improver_count(s, q->t, t);
	if (!s->any)
		return 0;
	rc = improver_check(q->f, q->t, t, err);
	if (!rc)
		rc = improver_measure(s, 0, q->f, q->t, err);
	if (!rc)
		rc = improver_measure(s, 1, q->f, t, err);
	s->better = !rc && improver_is_better(s);
	return rc;
}

static void improver_keep_quiet(void *ctx, const char *sentence)
{
	(void)ctx;
	(void)sentence;
}

static int improver_work(const struct beside_question *q, struct isolated_out *result,
			 struct err *err)
{
	static const struct table_selection_log quiet = { improver_keep_quiet, NULL };
	struct engine_params params = q->policy->params;
	struct improver_step s = { .any = false };
	struct route_limits *l;
	struct tables *t;
	int rc;

	table_selection_limits(&l, q->f, q->policy, &quiet);
	params.threads = 1;
	params.limits = l;
	params.current = q->t;
	params.vls = (uint8_t)repair_vls(q->f, q->t, params.vls);
	params.sar_change = SHARE;
	rc = engine_run(&engine_repair, &t, q->f, NULL, NULL, &params, NULL, err);
	if (!rc)
		rc = improver_judge(&s, q, t, err);
	if (rc)
		return rc;
	isolated_put(result, &s, sizeof(s));
	if (s.better)
		isolated_put(result, t->lft, (size_t)t->nsw * t->stride);
	return 0;
}

/* --- the thread ------------------------------------------------------------------------------- */

static void improver_rest(struct improver *i, const struct tables *t)
{
	const struct tables *old;

	pthread_mutex_lock(&i->lock);
	old = i->last;
	i->last = tables_get(t);
	pthread_mutex_unlock(&i->lock);
	tables_put(old);
}

static void improver_tell(const struct improver *i, const struct improver_step *s)
{
	char text[300];

	if (!s->any)
		snprintf(text, sizeof(text), "no step towards even loads is left");
	else
		snprintf(
			text, sizeof(text),
			"a step towards even loads%s: %u LFT entries in %u blocks, in any order, "
			"nobody has to drain; effective bisection bandwidth %.4f, then %.4f; shifts "
			"%.4f, then %.4f",
			s->better ? "" : " is not taken", s->entries, s->blocks, s->ebb[0],
			s->ebb[1], s->shifts[0], s->shifts[1]);
	i->ops.say(i->ctx, text);
}

static void improver_done(void *ctx, const struct beside_question *q, const struct isolated *result)
{
	struct improver *i = ctx;
	struct improver_step s;
	struct tables *t;

	memcpy(&s, result->data, sizeof(s));
	improver_tell(i, &s);
	if (!s.better) {
		improver_rest(i, q->t);
		return;
	}
	t = tables_onto(q->f, q->t, q->t);
	memcpy(t->lft, result->data + sizeof(s), (size_t)t->nsw * t->stride);
	i->ops.found(i->ctx, q->t, t);
	tables_put(t);
}

static void improver_failed(void *ctx, const struct err *why)
{
	struct improver *i = ctx;
	char text[300];

	snprintf(text, sizeof(text), "no step towards even loads: %.250s", why->text);
	i->ops.say(i->ctx, text);
}

static unsigned improver_patience(const struct beside_question *q)
{
	return q->policy->improve_s;
}

static const struct beside_ops improver_beside = {
	.patience = improver_patience,
	.work = improver_work,
	.done = improver_done,
	.failed = improver_failed,
};

/* --- the side of OpenSM ----------------------------------------------------------------------- */

struct improver *improver_new(const struct improver_ops *ops, void *ctx)
{
	struct improver *i = xcalloc(1, sizeof(*i));

	i->ops = *ops;
	i->ctx = ctx;
	pthread_mutex_init(&i->lock, NULL);
	i->beside = beside_new(&improver_beside, i);
	if (i->beside)
		return i;
	improver_free(i);
	return NULL;
}

void improver_free(struct improver *i)
{
	if (!i)
		return;
	beside_free(i->beside);
	tables_put(i->last);
	pthread_mutex_destroy(&i->lock);
	free(i);
}

void improver_installed(struct improver *i, const struct fabric *f, const struct tables *t,
			struct policy *policy, bool repaired)
{
	bool rests;

	if (!i)
		return;
	pthread_mutex_lock(&i->lock);
	rests = i->last == t;
	pthread_mutex_unlock(&i->lock);
	if (repaired && policy->improve_s && !rests)
		beside_ask(i->beside, f, t, policy);
	else
		beside_forget(i->beside);
}
