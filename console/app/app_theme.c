/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Colours of the screen: those that have a name at once, files in a thread of their own. */
#include "console/app/app_priv.h"

#include "console/config/theme_file.h"
#include "fabric/base/memory/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct theme_work {
	char what[PATH_TEXT];
	struct theme theme;
};

static void app_theme_use(struct app *a, const struct theme *t, const char *what)
{
	theme_use(t);
	snprintf(a->theme, sizeof(a->theme), "%s", what);
	if (!a->term)
		return;
	terminal_restyle(a->term);
	a->state.colours = terminal_colours(a->term);
	a->dirty = true;
}

static int app_theme_run(void *ctx, struct err *err)
{
	struct theme_work *w = ctx;

	return theme_read(&w->theme, w->what, err);
}

static void app_theme_done(void *owner, void *ctx)
{
	struct theme_work *w = ctx;

	app_theme_use(owner, &w->theme, w->what);
}

static void app_theme_failed(void *owner, void *ctx, int rc, const struct err *why)
{
	(void)ctx;
	(void)rc;
	app_fail(owner, "theme", why->text);
}

static const struct file_work_ops app_theme_ops = {
	.what = "theme",
	.run = app_theme_run,
	.done = app_theme_done,
	.failed = app_theme_failed,
	.free = free,
};

int app_theme_set(struct app *a, const char *what, struct err *err)
{
	struct theme_work *w;
	struct theme t;
	int rc;

	if (theme_named(&t, what)) {
		app_theme_use(a, &t, what);
		return 0;
	}
	if (!a->theme[0]) { /* it begins: nobody waits for a key yet */
		rc = theme_read(&t, what, err);
		if (!rc)
			app_theme_use(a, &t, what);
		return rc;
	}
	w = xcalloc(1, sizeof(*w));
	snprintf(w->what, sizeof(w->what), "%s", what);
	app_files_start(a, &app_theme_ops, w);
	return 0;
}
