/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of old sessions, which go when this one has begun. */
#include "console/app/app_priv.h"

#include "console/record/audit/record_prune.h"
#include "fabric/base/memory/mem.h"

#include <stdlib.h>

struct pruning {
	struct record *record;
	const char *record_dir, *state_dir; /* of the options */
	struct record_policy keep;
};

static int app_prune_run(void *ctx, struct err *err)
{
	const struct pruning *p = ctx;

	return record_prune_told(p->record, p->record_dir, p->state_dir, &p->keep, err);
}

static void app_prune_done(void *owner, void *ctx)
{
	(void)owner;
	(void)ctx;
}

static const struct file_work_ops app_prune_ops = {
	.what = "old records",
	.run = app_prune_run,
	.done = app_prune_done,
	.free = free,
};

/* Once, as soon as this session is recorded. */
static void app_prune_refresh(struct app *a)
{
	struct pruning *p;

	if (a->pruned || !a->state.recording || !record_policy_said(&a->opts.keep))
		return;
	a->pruned = true;
	p = xcalloc(1, sizeof(*p));
	*p = (struct pruning){ a->record, a->opts.live.record_dir, a->opts.live.state_dir,
			       a->opts.keep };
	app_files_start(a, &app_prune_ops, p);
}

const struct app_part app_prune_part = { .refresh = app_prune_refresh };
