/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Views that were saved: read when it begins, changed in the file one at a time. */
#include "console/app/app_priv.h"

#include "console/config/saved_file.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "views/saved/saved_view.h"

#include <stdlib.h>
#include <string.h>

/* What a thread of its own reads or writes. */
struct saved_work {
	char *path;
	struct saved_views all;
	struct saved_view view;
	bool deletes; /* the one of that name */
};

static void app_saved_free(void *ctx)
{
	struct saved_work *w = ctx;

	free(w->path);
	free(w);
}

/* Also after a change: another console may have saved some, too. */
static int app_saved_read_run(void *ctx, struct err *err)
{
	struct saved_work *w = ctx;

	return saved_file_read(&w->all, w->path, err);
}

static void app_saved_read_done(void *owner, void *ctx)
{
	const struct saved_work *w = ctx;
	struct app *a = owner;

	if (!a->saved_views)
		a->saved_views = xcalloc(1, sizeof(*a->saved_views));
	*a->saved_views = w->all;
	a->state.saved_views = a->saved_views;
}

static const struct file_work_ops app_saved_read_ops = {
	.what = "saved views",
	.run = app_saved_read_run,
	.done = app_saved_read_done,
	.free = app_saved_free,
};

void app_saved_read(struct app *a)
{
	struct saved_work *w;
	struct err err;

	if (a->opts.no_screen)
		return; /* nobody asks for one by a key */
	w = xcalloc(1, sizeof(*w));
	w->path = saved_file_path();
	if (!w->path)
		app_saved_free(w);
	else if (app_files_begin(a, &app_saved_read_ops, w, &err))
		app_fail(a, "views", err.text);
}

void app_saved_read_now(struct app *a)
{
	char *path = saved_file_path();
	struct err err;

	if (!a->saved_views)
		a->saved_views = xcalloc(1, sizeof(*a->saved_views));
	if (path && saved_file_read(a->saved_views, path, &err))
		log_add(LOG_WARN, "views", "%s", err.text);
	a->state.saved_views = a->saved_views;
	free(path);
}

/* NULL: there is no place for it, or what is there is not read yet, as is said. */
static struct saved_work *app_saved_new(struct app *a)
{
	struct saved_work *w;

	if (app_files_runs(a, &app_saved_read_ops)) {
		shell_say(a->shell, "saved views are still being read");
		return NULL;
	}
	w = xcalloc(1, sizeof(*w));
	w->path = saved_file_path();
	if (w->path)
		return w;
	shell_say(a->shell, "HOME is not set: there is no place to save views in");
	app_saved_free(w);
	return NULL;
}

static int app_saved_change_run(void *ctx, struct err *err)
{
	struct saved_work *w = ctx;
	int rc = saved_file_change(w->path, w->view.name, w->deletes ? NULL : &w->view, err);

	return rc ? rc : saved_file_read(&w->all, w->path, err);
}

static void app_saved_change_done(void *owner, void *ctx)
{
	const struct saved_work *w = ctx;
	struct app *a = owner;

	app_saved_read_done(owner, ctx);
	app_record_action(a, w->deletes ? "view.delete" : "view.save", w->view.name);
	if (w->deletes)
		shell_say(a->shell, "saved view %s deleted", w->view.name);
	else
		shell_say(a->shell, "saved in %s: :view %s shows it", w->path, w->view.name);
}

static const struct file_work_ops app_saved_change_ops = {
	.what = "save view",
	.waited = true,
	.finishes = true,
	.run = app_saved_change_run,
	.done = app_saved_change_done,
	.free = app_saved_free,
};

void app_saved_keep(struct app *a, const struct saved_view *v)
{
	struct saved_work *w = app_saved_new(a);

	if (!w)
		return;
	w->view = *v;
	app_files_start(a, &app_saved_change_ops, w);
}

void app_saved_delete(struct app *a, const char *name)
{
	const struct saved_view *v = saved_views_find(a->saved_views, name);
	struct saved_work *w = v ? app_saved_new(a) : NULL;

	if (!w)
		return;
	w->view = *v;
	w->deletes = true;
	app_files_start(a, &app_saved_change_ops, w);
}

static void app_saved_end(struct app *a)
{
	free(a->saved_views);
}

const struct app_part app_saved_part = { .end = app_saved_end };
