/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a failure costs, told as soon as it has been seen: found by another thread, from the tables
 * that routed before it. */
#include "console/app/app_priv.h"

#include "engines/weak/failure_cost.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/message/log.h"

#include <stdlib.h>

struct failing {
	struct failure what; /* owned */
	struct failure_cost cost;
	bool any;
};

static int app_failures_run(void *ctx, struct err *err)
{
	struct failing *x = ctx;
	int rc = failure_cost_find(&x->cost, &x->what, file_progress(), err);

	x->any = !rc &&
		 (x->cost.since.switches_away || x->cost.since.cables_away || x->cost.since.away);
	return rc;
}

static void app_failures_done(void *owner, void *ctx)
{
	struct failing *x = ctx;
	struct app *a = owner;
	char text[300];

	/* of a burst the end is told */
	if (a->state.fabric &&
	    !digest_equal(&a->state.fabric->fingerprint, &x->what.now->fingerprint)) {
		app_failures_seen(a, &x->what, a->state.fabric);
		return;
	}
	if (!x->any)
		return;
	a->failure = x->cost;
	a->state.failure = &a->failure;
	log_add(LOG_WARN, "failure", "%s", failure_cost_text(text, sizeof(text), &x->cost));
	if (x->cost.lost)
		log_add(LOG_WARN, "failure", "%s",
			failure_cost_repair_text(text, sizeof(text), &x->cost, x->what.now));
}

/* Tables that nobody can say anything of are no failure. */
static void app_failures_failed(void *owner, void *ctx, int rc, const struct err *why)
{
	(void)owner;
	(void)ctx;
	(void)rc;
	(void)why;
}

static void app_failures_free(void *ctx)
{
	struct failing *x = ctx;

	fabric_put(x->what.was);
	fabric_put(x->what.now);
	tables_put(x->what.t);
	jobset_put(x->what.jobs);
	free(x);
}

static const struct file_work_ops app_failures_ops = {
	.what = "what a failure costs",
	.run = app_failures_run,
	.done = app_failures_done,
	.failed = app_failures_failed,
	.free = app_failures_free,
};

void app_failures_seen(struct app *a, const struct failure *before, const struct fabric *now)
{
	struct failing *x;
	struct err err;

	if (!before->t || !digest_equal(&before->t->fingerprint, &before->was->fingerprint))
		return;
	x = xcalloc(1, sizeof(*x));
	x->what = (struct failure){ .was = fabric_get(before->was),
				    .now = fabric_get(now),
				    .t = tables_get(before->t),
				    .jobs = before->jobs ? jobset_get(before->jobs) : NULL,
				    .threads = 1 };
	if (app_files_begin(a, &app_failures_ops, x, &err))
		log_add(LOG_WARN, "failure", "%s", err.text);
}

void app_failures_changed(struct app *a, const struct fabric *now)
{
	struct failure before = { .was = a->state.fabric,
				  .t = a->state.tables,
				  .jobs = a->state.jobs };

	/* where one runs, it goes on to the newest when it is done */
	if (a->state.fabric && !app_files_runs(a, &app_failures_ops))
		app_failures_seen(a, &before, now);
}
