/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/beside/fresh_gap.h"

#include "engines/metrics/metrics.h"
#include "engines/opensm/beside/beside.h"
#include "engines/time/shift_time.h"
#include "fabric/base/memory/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHIFTS 64

struct fresh_figures {
	double time; /* of shifts: 1 is without contention */
	uint64_t efi;
	unsigned vls;
};

struct fresh_gap {
	struct table_selection_log log;
	struct beside *beside;
};

/* --- in a process of its own ------------------------------------------------------------------ */

static int fresh_gap_measure(struct fresh_figures *out, const struct fabric *f,
			     const struct tables *t, struct err *err)
{
	struct shift_time_opts so = { .shifts = SHIFTS, .seed = 1, .threads = 1 };
	struct metrics_opts mo = { .threads = 1 };
	struct shift_time shift;
	struct metrics *m;
	int rc = shift_time_compute(&shift, f, t, &so, NULL, err);

	if (!rc)
		rc = metrics_compute(&m, f, t, NULL, &mo, NULL, err);
	if (rc)
		return rc;
	*out = (struct fresh_figures){ 1 / shift.sync.mean, m->efi_max, m->vls_used };
	metrics_free(m);
	return 0;
}

static void fresh_gap_keep_quiet(void *ctx, const char *sentence)
{
	(void)ctx;
	(void)sentence;
}

static int fresh_gap_work(const struct beside_question *q, struct isolated_out *result,
			  struct err *err)
{
	static const struct table_selection_log quiet = { fresh_gap_keep_quiet, NULL };
	struct engine_params params = q->policy->params;
	struct fresh_figures both[2];
	struct route_limits *l;
	struct tables *fresh;
	int rc;

	table_selection_limits(&l, q->f, q->policy, &quiet);
	params.threads = 1;
	params.limits = l;
	engine_spec_apply(&q->policy->spec, &params);
	rc = engine_run(q->policy->spec.engine, &fresh, q->f, NULL, NULL, &params, NULL, err);
	if (!rc)
		rc = fresh_gap_measure(&both[0], q->f, q->t, err);
	if (!rc)
		rc = fresh_gap_measure(&both[1], q->f, fresh, err);
	if (!rc)
		isolated_put(result, both, sizeof(both));
	return rc;
}

/* --- the thread ------------------------------------------------------------------------------- */

static void fresh_gap_done(void *ctx, const struct beside_question *q,
			   const struct isolated *result)
{
	const struct fresh_gap *g = ctx;
	struct fresh_figures both[2];
	char text[300];

	memcpy(both, result->data, sizeof(both));
	snprintf(text, sizeof(text),
		 "the repaired routing against a fresh one by %s: time of shifts %.3f and %.3f "
		 "(%+.1f %%), maximum EFI %" PRIu64 " and %" PRIu64 ", %u and %u VLs",
		 q->policy->spec.label, both[0].time, both[1].time,
		 100 * (both[0].time / both[1].time - 1), both[0].efi, both[1].efi, both[0].vls,
		 both[1].vls);
	g->log.say(g->log.ctx, text);
}

static void fresh_gap_failed(void *ctx, const struct err *why)
{
	const struct fresh_gap *g = ctx;
	char text[300];

	snprintf(text, sizeof(text), "no fresh routing to compare with: %.250s", why->text);
	g->log.say(g->log.ctx, text);
}

static const struct beside_ops fresh_gap_beside = {
	.work = fresh_gap_work,
	.done = fresh_gap_done,
	.failed = fresh_gap_failed,
};

/* --- the side of OpenSM ----------------------------------------------------------------------- */

struct fresh_gap *fresh_gap_new(const struct table_selection_log *log)
{
	struct fresh_gap *g = xcalloc(1, sizeof(*g));

	g->log = *log;
	g->beside = beside_new(&fresh_gap_beside, g);
	if (g->beside)
		return g;
	free(g);
	return NULL;
}

void fresh_gap_free(struct fresh_gap *g)
{
	if (!g)
		return;
	beside_free(g->beside);
	free(g);
}

void fresh_gap_ask(struct fresh_gap *g, const struct fabric *f, const struct tables *t,
		   struct policy *policy)
{
	if (g)
		beside_ask(g->beside, f, t, policy);
}
