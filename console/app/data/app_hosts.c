/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables that this session knows follow the hosts; of a demo, whose cables go and come, those that
 * are installed follow the cables, for nobody else knows their SLs.  On large fabrics that takes a
 * while: another thread does it, and installed tables that are read meanwhile wait for it. */
#include "console/app/app_priv.h"

#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/carry.h"
#include "fabric/model/tables/graft.h"
#include "fabric/model/topology/endports.h"

#include <stdlib.h>

#define KNOWN 3

struct following {
	const struct fabric *was, *is;
	const struct tables *of[KNOWN], *on[KNOWN]; /* NULL: none that follows */
	const struct tables *sls;		    /* NULL: none that follow cables */
	const struct endports *sls_ends;
	struct tables *carried;
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
	if (f->sls)
		tables_carry(&f->carried, f->is, f->sls, f->sls_ends, NULL, NULL);
	return 0;
}

static void app_hosts_drop_carried(struct app *a)
{
	tables_put(a->sls.carried);
	tables_put(a->sls.follow);
	a->sls.carried = NULL;
	a->sls.follow = NULL;
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
	if (f->sls) {
		app_hosts_drop_carried(a);
		a->sls.carried = f->carried;
		f->carried = NULL;
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
	tables_put(f->sls);
	endports_put(f->sls_ends);
	tables_put(f->carried);
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

/* What was carried here goes on from where it came, so that what is there again is known again. */
void app_hosts_keep_sls(struct app *a)
{
	const struct fabric *was = a->state.fabric;
	const struct tables *t = a->state.sls_known ? a->state.tables : NULL;

	if (!a->sls.t && !t)
		t = a->first;
	if (!a->demo || !was || !t || t == a->sls.t || t == a->sls.follow ||
	    !digest_equal(&t->fingerprint, &was->fingerprint))
		return;
	tables_put(a->sls.t);
	endports_put(a->sls.ends);
	a->sls.t = tables_get(t);
	a->sls.ends = endports_of(was);
}

const struct tables *app_hosts_carried(struct app *a, const struct tables *read)
{
	if (a->sls.carried && carry_take_lfts(a->sls.carried, a->state.fabric, read)) {
		a->sls.follow = a->sls.carried;
		a->sls.carried = NULL;
	}
	return a->sls.follow;
}

void app_hosts_end(struct app *a)
{
	app_hosts_drop_carried(a);
	tables_put(a->sls.t);
	endports_put(a->sls.ends);
}

/* By which way each follows; false: none does. */
static bool app_hosts_choose(struct app *a, struct following *f)
{
	bool any = false;

	if (a->demo && !digest_equal(&f->was->switch_graph, &f->is->switch_graph)) {
		app_hosts_drop_carried(a);
		f->sls = tables_get(a->sls.t);
		f->sls_ends = endports_get(a->sls.ends);
		return f->sls;
	}
	for (int i = 0; i < KNOWN; i++) {
		const struct tables *t = *app_hosts_known(a, i);

		if (t && digest_equal(&t->fingerprint, &f->was->fingerprint) &&
		    digest_equal(&f->was->switch_graph, &f->is->switch_graph))
			f->of[i] = tables_get(t);
		any |= f->of[i] != NULL;
	}
	return any;
}

void app_hosts_changed(struct app *a, const struct fabric *was, const struct fabric *is)
{
	struct following *f;
	struct err err;

	/* where one runs, it goes on to the newest when it is done */
	if (app_hosts_follow(a))
		return;
	f = xcalloc(1, sizeof(*f));
	f->was = fabric_get(was);
	f->is = fabric_get(is);
	if (!app_hosts_choose(a, f))
		app_hosts_free(f);
	else if (app_files_begin(a, &app_hosts_ops, f, &err))
		log_add(LOG_WARN, "sweep", "%s", err.text);
}
