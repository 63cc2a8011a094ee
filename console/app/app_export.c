/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table in view into a file: its rows and columns as they are shown. */
#include "console/app/app_priv.h"

#include "console/config/user_path.h"
#include "console/io/output_file.h"
#include "console/io/rows_out.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"
#include "views/table/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct export
{
	char path[PATH_TEXT];
	char *text;
	size_t len;
	uint32_t n; /* rows */
};

static void app_export_json(FILE *out, const struct rows_out *r)
{
	json_t *j = rows_out_json(r);

	json_dumpf(j, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
	fputc('\n', out);
	json_decref(j);
}

typedef void export_fn(FILE *out, const struct rows_out *r);

/* By the end of the file's name; NULL: none. */
static export_fn *app_export_form(const char *path)
{
	const char *dot = strrchr(path, '.');

	if (!dot)
		return NULL;
	if (!strcasecmp(dot, ".txt"))
		return rows_out_text;
	if (!strcasecmp(dot, ".csv"))
		return rows_out_csv;
	return strcasecmp(dot, ".json") ? NULL : app_export_json;
}

/* Only the thread that draws may read the rows: the text is made here, and written by another. */
static struct export *app_export_collect(struct app *a, const struct table *t, enum row_kind kind,
					 export_fn *form)
{
	const struct field *field[TABLE_COLS];
	struct rows_out r = { .rows = { kind, app_shown(a), &shell_context(a->shell)->summary },
			      .row = t->row,
			      .n = t->nrow,
			      .field = field };
	struct export *x = xcalloc(1, sizeof(*x));
	FILE *out = open_memstream(&x->text, &x->len);

	for (uint32_t i = 0; i < t->nshown; i++)
		if (t->shown[i].field) /* no picture */
			field[r.nfield++] = t->shown[i].field;
	form(out, &r);
	fclose(out);
	x->n = t->nrow;
	return x;
}

static int app_export_put(FILE *out, const void *what, struct err *err)
{
	const struct export *x = what;

	(void)err; /* output_file tells */
	fwrite(x->text, 1, x->len, out);
	return 0;
}

static int app_export_run(void *ctx, struct err *err)
{
	struct export *x = ctx;

	return output_file_write(x->path, app_export_put, x, err);
}

static void app_export_done(void *owner, void *ctx)
{
	const struct export *x = ctx;
	struct app *a = owner;

	app_record_action(a, "export", x->path);
	shell_say(a->shell, "%u row%s written to %s", x->n, plural(x->n), x->path);
}

static void app_export_failed(void *owner, void *ctx, int rc, const struct err *why)
{
	(void)ctx;
	(void)rc;
	app_fail(owner, "export", why->text);
}

static void app_export_free(void *ctx)
{
	struct export *x = ctx;

	free(x->text);
	free(x);
}

static const struct file_work_ops app_export_ops = {
	.what = "export",
	.waited = true,
	.run = app_export_run,
	.done = app_export_done,
	.failed = app_export_failed,
	.free = app_export_free,
};

void app_export(struct app *a, const char *to)
{
	export_fn *form = app_export_form(to);
	const struct table *t;
	struct export *x = NULL;
	const struct table_ops *ops;

	if (!form) {
		shell_say(a->shell, "export: '%.100s' has to end in .txt, .csv or .json", to);
		return;
	}
	pthread_mutex_lock(&a->events_lock);
	t = shell_table_of(a->shell, app_shown(a), &ops);
	if (t && t->nshown)
		x = app_export_collect(a, t, ops->kind, form);
	pthread_mutex_unlock(&a->events_lock);
	if (!x) {
		shell_say(a->shell, "export: this view has no table");
		return;
	}
	snprintf(x->path, sizeof(x->path), "%s", to);
	user_path_expand(x->path, sizeof(x->path));
	app_files_start(a, &app_export_ops, x);
}
