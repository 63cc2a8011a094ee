/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/approval.h"

#include "fabric/base/time/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define REPORT_MS 200

static void approval_report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct executor_event ev = { .kind = APPLY_ITEM };
	struct transaction *t = ctx;
	uint64_t now = clock_ms();

	if (now - t->reported_ms < REPORT_MS)
		return;
	t->reported_ms = now;
	pthread_mutex_lock(&t->lock);
	snprintf(t->st.step, sizeof(t->st.step), "judging: %.12s %u %%", step,
		 total ? (unsigned)(100 * done / total) : 0);
	pthread_mutex_unlock(&t->lock);
	ev.list = t->list;
	transaction_emit(t, &ev);
}

bool approval_ask(struct transaction *t)
{
	struct progress was = { .report = t->progress.report, .ctx = t->progress.ctx };
	struct err err = { "" };
	int rc;

	if (!t->o.approve)
		return true;
	pthread_mutex_lock(&t->lock);
	snprintf(t->st.step, sizeof(t->st.step), "judging");
	pthread_mutex_unlock(&t->lock);
	t->progress.report = approval_report;
	t->progress.ctx = t;
	rc = t->o.approve(t->o.ctx, t->plan, &t->progress, &err);
	t->progress.report = was.report;
	t->progress.ctx = was.ctx;
	if (atomic_load(&t->progress.cancel))
		return transaction_fail(t, -ECANCELED, "cancelled before anything was written");
	return rc ? transaction_fail(t, rc, "%s", err.text) : true;
}
