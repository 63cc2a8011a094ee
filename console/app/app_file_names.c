/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of files, for Tab: read by a thread, and then the key comes again. */
#include "console/app/app_priv.h"

#include "console/config/user_path.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#include <stdio.h>
#include <stdlib.h>

struct listing {
	char path[PATH_TEXT];
	uint64_t keys; /* so many before it: where another one came since, nobody waits for it */
	uint32_t key;  /* that asked */
	VEC(char *) names;
};

static void app_file_names_add(void *ctx, const char *name)
{
	struct listing *l = ctx;

	vec_push(&l->names, xstrdup(name));
}

static int app_file_names_run(void *ctx, struct err *err)
{
	struct listing *l = ctx;

	(void)err;
	user_path_names(l->path, app_file_names_add, l);
	return 0;
}

static void app_file_names_done(void *owner, void *ctx)
{
	struct listing *l = ctx;
	struct app *a = owner;

	if (l->keys != a->keys)
		return;
	a->listing = l;
	app_key(a, l->key);
	a->listing = NULL;
	app_draw(a);
}

static void app_file_names_free(void *ctx)
{
	struct listing *l = ctx;

	for (size_t i = 0; i < l->names.n; i++)
		free(l->names.v[i]);
	vec_free(&l->names);
	free(l);
}

static const struct file_work_ops app_file_names_ops = {
	.what = "file names",
	.run = app_file_names_run,
	.done = app_file_names_done,
	.free = app_file_names_free,
};

void app_file_names(void *of, const char *path, void (*name)(void *to, const char *name), void *to)
{
	struct app *a = of;
	struct listing *l = a->listing;

	for (size_t i = 0; l && i < l->names.n; i++)
		name(to, l->names.v[i]);
	if (l || app_files_runs(a, &app_file_names_ops))
		return;
	l = xcalloc(1, sizeof(*l));
	snprintf(l->path, sizeof(l->path), "%s", path);
	l->keys = a->keys;
	l->key = a->last_key;
	app_files_start(a, &app_file_names_ops, l);
}
