/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables that this session knows follow the hosts.  On large fabrics that takes a while: another
 * thread does it, and installed tables that are read meanwhile wait for it. */
#include "console/app/app_priv.h"

#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/graft.h"
#include "fabric/model/topology/endports.h"

#include <stdlib.h>

#define KNOWN 3

struct following {
	const struct fabric *was, *is;
	const struct tables *of[KNOWN], *on[KNOWN]; /* NULL: none that follows */
};

static const struct tables **app_hosts_known(struct app *a, int i)
{
	const struct tables **const known[KNOWN] = { &a->applied, &a->undo, &a->first };

	return known[i];
}

static int app_hosts_run(void *ctx, struct err *err)
{
	struct following *f = ctx;
	struct endports *ends = endports_of(f->was);

	(void)err;
	for (int i = 0; i < KNOWN; i++) {
		struct tables *on = NULL;

		/* what does not follow stays as it is, of a fabric that is no more */
		if (f->of[i] && !tables_graft(&on, f->is, f->of[i], ends, NULL, NULL))
			f->on[i] = on;
	}
	endports_put(ends);
	return 0;
}

static void app_hosts_done(void *owner, void *ctx)
{
	struct following *f = ctx;
	struct app *a = owner;

	for (int i = 0; i < KNOWN; i++) {
		const struct tables **known = app_hosts_known(a, i);

		if (!f->on[i] || *known != f->of[i])
			continue;
		tables_put(*known);
		*known = f->on[i];
		f->on[i] = NULL;
	}
	if (a->state.fabric && !digest_equal(&a->state.fabric->fingerprint, &f->is->fingerprint))
		app_hosts_changed(a, f->is, a->state.fabric);
}

static void app_hosts_free(void *ctx)
{
	struct following *f = ctx;

	for (int i = 0; i < KNOWN; i++) {
		tables_put(f->of[i]);
		tables_put(f->on[i]);
	}
	fabric_put(f->was);
	fabric_put(f->is);
	free(f);
}

static const struct file_work_ops app_hosts_ops = {
	.what = "tables that follow the hosts",
	.run = app_hosts_run,
	.done = app_hosts_done,
	.free = app_hosts_free,
};

bool app_hosts_follow(const struct app *a)
{
	return app_files_runs(a, &app_hosts_ops);
}

void app_hosts_changed(struct app *a, const struct fabric *was, const struct fabric *is)
{
	struct following *f;
	struct err err;
	bool any = false;

	/* where one runs, it goes on to the newest when it is done */
	if (app_hosts_follow(a) || !digest_equal(&was->switch_graph, &is->switch_graph))
		return;
	f = xcalloc(1, sizeof(*f));
	f->was = fabric_get(was);
	f->is = fabric_get(is);
	for (int i = 0; i < KNOWN; i++) {
		const struct tables *t = *app_hosts_known(a, i);

		if (t && digest_equal(&t->fingerprint, &was->fingerprint))
			f->of[i] = tables_get(t);
		any |= f->of[i] != NULL;
	}
	if (!any)
		app_hosts_free(f);
	else if (app_files_begin(a, &app_hosts_ops, f, &err))
		log_add(LOG_WARN, "sweep", "%s", err.text);
}
