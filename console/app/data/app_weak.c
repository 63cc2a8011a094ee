/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the failure of each cable and switch would cost: found by threads of their own when the weak
 * view is opened, or asked again. */
#include "console/app/app_priv.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "views/data/state/key_hint.h"
#include "views/data/lists/weak_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct finding_weak {
	struct weak_list *list; /* its report comes */
};

static int app_weak_run(void *ctx, struct err *err)
{
	struct finding_weak *x = ctx;
	struct engine_params params = { .current = x->list->tables };
	struct weak_opts opts = { .cables = true, .switches = true };

	return weak_find(&x->list->report, x->list->fabric, &params, &opts, file_progress(), err);
}

static void app_weak_done(void *owner, void *ctx)
{
	struct finding_weak *x = ctx;
	struct app *a = owner;

	a->state.weak.busy = false;
	a->state.weak.why[0] = '\0';
	weak_list_free((struct weak_list *)(uintptr_t)a->state.weak.list);
	x->list->serial = ++a->weak_found;
	a->state.weak.list = x->list;
	x->list = NULL;
}

static void app_weak_failed(void *owner, void *ctx, int rc, const struct err *why)
{
	struct app *a = owner;

	(void)ctx;
	a->state.weak.busy = false;
	if (rc == -ECANCELED)
		snprintf(a->state.weak.why, sizeof(a->state.weak.why), "stopped; %s: search again",
			 key_hint("again"));
	else
		snprintf(a->state.weak.why, sizeof(a->state.weak.why), "%.250s", why->text);
}

static void app_weak_step(void *owner, void *ctx, const char *words)
{
	struct app *a = owner;

	(void)ctx;
	snprintf(a->state.weak.step, sizeof(a->state.weak.step), "%s", words);
}

static void app_weak_free(void *ctx)
{
	struct finding_weak *x = ctx;

	weak_list_free(x->list);
	free(x);
}

static const struct file_work_ops app_weak_ops = {
	.what = "weak cables and switches",
	.waited = true,
	.run = app_weak_run,
	.done = app_weak_done,
	.failed = app_weak_failed,
	.step = app_weak_step,
	.free = app_weak_free,
};

void app_weak_find(struct app *a)
{
	const struct tables *t = state_tables(&a->state);
	struct finding_weak *x;
	struct err err;

	if (!t || a->state.weak.busy)
		return;
	x = xcalloc(1, sizeof(*x));
	x->list = xcalloc(1, sizeof(*x->list));
	x->list->fabric = fabric_get(a->state.fabric);
	x->list->tables = tables_get(t);
	a->state.weak.busy = true;
	a->state.weak.step[0] = '\0';
	if (app_files_begin(a, &app_weak_ops, x, &err)) {
		a->state.weak.busy = false;
		snprintf(a->state.weak.why, sizeof(a->state.weak.why), "%.250s", err.text);
	}
}

void app_weak_opened(struct app *a)
{
	const struct weak_list *l = state_weak(&a->state);
	const struct tables *t = state_tables(&a->state);

	if (t && (!l || !tables_same(l->tables, t, l->fabric)))
		app_weak_find(a);
}

static void app_weak_end(struct app *a)
{
	weak_list_free((struct weak_list *)(uintptr_t)a->state.weak.list);
}

const struct app_part app_weak_part = { .end = app_weak_end };
