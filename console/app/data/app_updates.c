/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last updates of the fabric, for view 7 without a plan: those that a collector keeps, else
 * what the journals here say, read by a thread of their own. */
#include "console/app/app_priv.h"

#include "console/collect/acts.h"
#include "fabric/base/memory/mem.h"
#include "views/apply/apply_updates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading_updates {
	const char *state_dir; /* the console's, which outlives it */
	struct acts *acts;
};

static void app_updates_put(struct apply_update *u, const struct act *x)
{
	*u = (struct apply_update){ .begin_s = x->begin_ms / 1000,
				    .end_s = x->end_ms / 1000,
				    .blocks = x->blocks };
	snprintf(u->user, sizeof(u->user), "%s", x->user);
	snprintf(u->engine, sizeof(u->engine), "%s", x->engine);
	snprintf(u->state, sizeof(u->state), "%s", x->state);
	snprintf(u->text, sizeof(u->text), "%s", x->text);
}

void app_updates_take(struct app *a, const struct acts *acts)
{
	const char *name = a->state.fabric ? a->state.fabric->name : "";
	struct apply_updates *l = xcalloc(1, sizeof(*l));

	for (size_t i = 0; i < acts->n && l->n < APPLY_UPDATES; i++) {
		const struct act *x = &acts->v[i];

		if (x->kind == ACT_UPDATE && (!*name || !x->fabric[0] || !strcmp(x->fabric, name)))
			app_updates_put(&l->row[l->n++], x);
	}
	free((struct apply_updates *)(uintptr_t)a->state.updates);
	a->state.updates = l;
}

static int app_updates_run(void *ctx, struct err *err)
{
	struct reading_updates *r = ctx;
	const struct acts_dirs dirs = { r->state_dir, "" };

	(void)err;
	acts_scan(r->acts, &dirs);
	return 0;
}

static void app_updates_done(void *owner, void *ctx)
{
	struct reading_updates *r = ctx;
	struct app *a = owner;

	app_updates_take(a, a->acts ? a->acts : r->acts);
}

static void app_updates_free(void *ctx)
{
	struct reading_updates *r = ctx;

	acts_put(r->acts);
	free(r);
}

static const struct file_work_ops app_updates_ops = {
	.what = "updates",
	.run = app_updates_run,
	.done = app_updates_done,
	.free = app_updates_free,
};

void app_updates_read(struct app *a)
{
	struct reading_updates *r;
	struct err unused;

	if (a->acts) {
		app_updates_take(a, a->acts);
		return;
	}
	if (app_files_runs(a, &app_updates_ops))
		return;
	r = xcalloc(1, sizeof(*r));
	r->state_dir = a->opts.live.state_dir;
	r->acts = acts_new();
	app_files_begin(a, &app_updates_ops, r, &unused); /* without room for it: not now */
}

static void app_updates_end(struct app *a)
{
	free((struct apply_updates *)(uintptr_t)a->state.updates);
}

const struct app_part app_updates_part = { .end = app_updates_end };
