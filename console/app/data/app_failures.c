/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a failure costs, told as soon as it has been seen: found by another thread, from the tables
 * that routed before it. */
#include "console/app/app_priv.h"

#include "engines/weak/failure_cost.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/message/log.h"
#include "fabric/base/message/plural.h"
#include "fabric/model/tables/tables_diff.h"
#include "fabric/model/topology/fabric_diff.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct failing {
	struct failure what; /* owned */
	struct failure_cost cost;
	bool any;
	char came[240]; /* "1 cable came up (leaf01/13 - spine1/1)", "": nothing has */
};

#define NAMES 3 /* of what came, one by one */

/* Nodes, and cables between those that were there. */
static void app_failures_came(char *buf, size_t size, const struct failure *x)
{
	static const char *const whats[] = { "switch", "host", "cable" };
	struct fabric_diff *d = fabric_diff_new(x->was, x->now);
	uint32_t n[3] = { 0 }, all = 0;
	char names[180] = "", more[24] = "", counts[80] = "";
	size_t len = 0, at = 0;

	for (size_t i = 0; i < d->n; i++) {
		const struct fabric_diff_row *r = &d->row[i];
		int k = 0;

		while (k < 3 && strcmp(r->what, whats[k]) != 0)
			k++;
		if (r->change != FDIFF_NEW || k == 3)
			continue;
		n[k]++;
		if (all++ < NAMES)
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%.50s",
						len ? ", " : "", r->subject);
	}
	for (int k = 0; k < 3; k++)
		if (n[k])
			at += (size_t)snprintf(counts + at, sizeof(counts) - at, "%s%u %s%s",
					       at ? ", " : "", n[k], whats[k],
					       k ? plural(n[k]) : plural_es(n[k]));
	if (all > NAMES)
		snprintf(more, sizeof(more), " and %u more", all - NAMES);
	if (all)
		snprintf(buf, size, "%s came up (%s%s)", counts, names, more);
	fabric_diff_free(d);
}

static void app_failures_written(struct app *a);

static int app_failures_run(void *ctx, struct err *err)
{
	struct failing *x = ctx;
	int rc;

	if (!x->what.by)
		app_failures_came(x->came, sizeof(x->came), &x->what);
	rc = failure_cost_find(&x->cost, &x->what, file_progress(), err);
	x->any = !rc &&
		 (x->cost.since.switches_away || x->cost.since.cables_away || x->cost.since.away);
	return rc;
}

static void app_failures_drop(struct failure *x)
{
	fabric_put(x->was);
	fabric_put(x->now);
	tables_put(x->t);
	tables_put(x->by);
	jobset_put(x->jobs);
	*x = (struct failure){ 0 };
}

static void app_failures_copy(struct failure *out, const struct failure *x,
			      const struct fabric *now, const struct tables *by)
{
	*out = (struct failure){ .was = fabric_get(x->was),
				 .now = fabric_get(now),
				 .t = tables_get(x->t),
				 .by = by ? tables_get(by) : NULL,
				 .jobs = x->jobs ? jobset_get(x->jobs) : NULL,
				 .threads = 1 };
}

/* Paths are lost, and nobody has found others yet: is told once. */
static void app_failures_wait(struct app *a, const struct failing *x)
{
	char text[300];

	if (!a->unrepaired.was)
		app_failures_copy(&a->unrepaired, &x->what, x->what.now, NULL);
	if (a->state.tables && a->state.tables != x->what.by) {
		app_failures_written(a);
		return;
	}
	if (!a->repair_told)
		log_add(LOG_WARN, "failure", "%s",
			failure_cost_repair_text(text, sizeof(text), &x->cost, x->what.now));
	a->repair_told = true;
}

static void app_failures_tell_came(const struct failing *x)
{
	if (x->came[0])
		log_add(LOG_INFO, "failure", "%s", x->came);
}

static void app_failures_done(void *owner, void *ctx)
{
	struct failing *x = ctx;
	struct app *a = owner;
	char text[300];

	/* of a burst the end is told */
	if (a->state.fabric &&
	    !digest_equal(&a->state.fabric->fingerprint, &x->what.now->fingerprint)) {
		app_failures_drop(&a->unrepaired);
		app_failures_seen(a, &x->what, a->state.fabric);
		return;
	}
	app_failures_tell_came(x);
	if (!x->any)
		return;
	a->failure = x->cost;
	a->state.failure = &a->failure;
	if (!a->unrepaired.was)
		log_add(LOG_WARN, "failure", "%s", failure_cost_text(text, sizeof(text), &x->cost));
	if (!x->cost.lost)
		return;
	if (!x->cost.repaired) {
		app_failures_wait(a, x);
		return;
	}
	app_failures_drop(&a->unrepaired);
	log_add(LOG_INFO, "failure", "%s",
		failure_cost_repair_text(text, sizeof(text), &x->cost, x->what.now));
}

/* Tables that nobody can say anything of are no failure. */
static void app_failures_failed(void *owner, void *ctx, int rc, const struct err *why)
{
	(void)owner;
	(void)why;
	if (rc != -ECANCELED)
		app_failures_tell_came(ctx);
}

static void app_failures_free(void *ctx)
{
	struct failing *x = ctx;

	app_failures_drop(&x->what);
	free(x);
}

static const struct file_work_ops app_failures_ops = {
	.what = "what a failure costs",
	.run = app_failures_run,
	.done = app_failures_done,
	.failed = app_failures_failed,
	.free = app_failures_free,
};

static void app_failures_begin(struct app *a, const struct failure *before,
			       const struct fabric *now, const struct tables *by)
{
	struct failing *x = xcalloc(1, sizeof(*x));
	struct err err;

	app_failures_copy(&x->what, before, now, by);
	if (app_files_begin(a, &app_failures_ops, x, &err))
		log_add(LOG_WARN, "failure", "%s", err.text);
}

/* Other tables are there: do they have the paths that were lost?  An update tells of itself. */
static void app_failures_written(struct app *a)
{
	if (a->applied && digest_equal(&a->applied->fingerprint, &a->state.fabric->fingerprint) &&
	    tables_forward_same(a->state.fabric, a->applied, a->state.tables)) {
		a->failure.repaired = true;
		app_failures_drop(&a->unrepaired);
		return;
	}
	app_failures_begin(a, &a->unrepaired, a->state.fabric, a->state.tables);
}

void app_failures_seen(struct app *a, const struct failure *before, const struct fabric *now)
{
	if (!before->t || !digest_equal(&before->t->fingerprint, &before->was->fingerprint))
		return;
	a->repair_told = false;
	app_failures_begin(a, before, now, NULL);
}

void app_failures_changed(struct app *a, const struct fabric *now)
{
	struct failure before = { .was = a->state.fabric,
				  .t = a->state.tables,
				  .jobs = a->state.jobs };
	struct failure last = a->unrepaired;

	a->unrepaired = (struct failure){ 0 };
	/* where one runs, it goes on to the newest when it is done */
	if (a->state.fabric && !app_files_runs(a, &app_failures_ops))
		app_failures_seen(a, !before.t && last.was ? &last : &before, now);
	app_failures_drop(&last);
}

static void app_failures_hear(struct app *a, const struct app_news *n)
{
	if (n->type == NEWS_TABLES && a->unrepaired.was && !app_files_runs(a, &app_failures_ops))
		app_failures_written(a);
}

static void app_failures_end(struct app *a)
{
	app_failures_drop(&a->unrepaired);
}

const struct app_part app_failures_part = { .hear = app_failures_hear, .end = app_failures_end };
