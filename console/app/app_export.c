/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is in view into a file: the rows and columns of its table as they are shown, the links of a
 * heatmap or a picture, the lines of other views, or the screen with its colours. */
#include "console/app/app_priv.h"

#include "console/config/user_path.h"
#include "console/io/output_file.h"
#include "console/io/rows_out.h"
#include "console/picture/screen_page.h"
#include "console/picture/screen_shot.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/text/json_text.h"
#include "views/table/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct export
{
	char path[PATH_TEXT];
	bool over; /* a file that is there */
	char *text;
	size_t len;
	struct screen_shot *shot; /* instead of a text; NULL: none */
	char font[PATH_TEXT];
	unsigned size;
	char what[32]; /* "12 rows" */
};

static void app_export_json(FILE *out, const struct rows_out *r)
{
	json_t *j = rows_out_json(r);

	json_dumpf(j, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
	fputc('\n', out);
	json_decref(j);
}

static void app_export_text(FILE *out, const struct canvas *c, const char *title)
{
	char *text = canvas_dump(c);

	(void)title;
	fputs(text, out);
	free(text);
}

/* Calls put() for each line of the screen. */
static void app_export_each_line(const struct canvas *c, void (*put)(void *to, const char *line),
				 void *to)
{
	char *text = canvas_dump(c), *end;

	for (char *line = text; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		put(to, line);
	}
	free(text);
}

static void app_export_line_csv(void *to, const char *line)
{
	rows_out_csv_text(to, line);
	fputs("\r\n", to);
}

static void app_export_lines_csv(FILE *out, const struct canvas *c, const char *title)
{
	(void)title;
	fputs("line\r\n", out);
	app_export_each_line(c, app_export_line_csv, out);
}

static void app_export_line_json(void *to, const char *line)
{
	json_array_append_new(to, json_text(line));
}

static void app_export_lines_json(FILE *out, const struct canvas *c, const char *title)
{
	json_t *lines = json_array(), *j = json_object();

	app_export_each_line(c, app_export_line_json, lines);
	json_object_set_new(j, "title", json_text(title));
	json_object_set_new(j, "lines", lines);
	json_dumpf(j, out, JSON_INDENT(1));
	fputc('\n', out);
	json_decref(j);
}

/* By the end of the file's name: a table has rows(), any view screen(), or is a picture that takes
 * too long for this thread. */
static const struct export_form {
	const char *end;
	void (*rows)(FILE *out, const struct rows_out *r);
	void (*screen)(FILE *out, const struct canvas *c, const char *title);
	bool picture;
} app_export_forms[] = {
	{ ".txt", .rows = rows_out_text, .screen = app_export_text },
	{ ".csv", .rows = rows_out_csv, .screen = app_export_lines_csv },
	{ ".json", .rows = app_export_json, .screen = app_export_lines_json },
	{ ".html", .screen = screen_page_html },
	{ ".svg", .screen = screen_page_svg },
	{ ".png", .picture = true },
};

static const struct export_form *app_export_form(const char *path)
{
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < sizeof(app_export_forms) / sizeof(app_export_forms[0]); i++)
		if (!strcasecmp(dot, app_export_forms[i].end))
			return &app_export_forms[i];
	return NULL;
}

static void app_export_rows(struct app *a, FILE *out, const struct export_form *form,
			    const struct table *t, enum row_kind kind)
{
	const struct field *field[TABLE_COLS];
	struct rows_out r = { .rows = { kind, app_shown(a), &shell_context(a->shell)->summary },
			      .row = t->row,
			      .n = t->nrow,
			      .field = field };

	for (uint32_t i = 0; i < t->nshown; i++)
		if (t->shown[i].field) /* no picture */
			field[r.nfield++] = t->shown[i].field;
	form->rows(out, &r);
}

/* What a heatmap and a picture are made of: all links, with their usual fields. */
static uint32_t app_export_links(struct app *a, FILE *out, const struct export_form *form)
{
	const struct state *s = app_shown(a);
	const struct field *field[TABLE_COLS];
	struct rows_out r = { .rows = { ROWS_LINKS, s, &shell_context(a->shell)->summary },
			      .n = s->fabric->nchan,
			      .field = field };
	uint32_t *row = xcalloc(r.n + 1, sizeof(*row));
	size_t nfield;
	const struct field *all = fields_of(ROWS_LINKS, &nfield);

	for (uint32_t i = 0; i < r.n; i++)
		row[i] = i;
	r.row = row;
	for (size_t i = 0; i < nfield && r.nfield < TABLE_COLS; i++)
		if (all[i].usual)
			field[r.nfield++] = &all[i];
	form->rows(out, &r);
	free(row);
	return r.n;
}

static bool app_export_is_of_links(struct app *a, const struct export_form *form)
{
	enum view_id view = shell_context(a->shell)->view;

	return (view == VIEW_HEATMAP || view == VIEW_TOPOLOGY) && app_shown(a)->fabric &&
	       (form->rows == rows_out_csv || form->rows == app_export_json);
}

/* Drawn for it: without what was said to whoever asked for it.  Where nobody looks at a screen it
 * has colours all the same. */
static void app_export_screen(struct app *a, struct export *x, FILE *out,
			      const struct export_form *form, const struct canvas *as)
{
	const struct state *shown = app_shown(a);
	int colours = a->state.colours;
	struct canvas *c = canvas_new(as->w, as->h, as->ascii);
	char title[120];

	if (!a->term)
		a->state.colours = 256;
	shell_draw(a->shell, c, shown);
	a->state.colours = colours;
	snprintf(title, sizeof(title), "ibroute-top: %.90s",
		 shown->fabric ? shown->fabric->name : "no fabric");
	if (form->picture)
		x->shot = screen_shot_new(c);
	else
		form->screen(out, c, title);
	canvas_free(c);
}

/* Only the thread that draws may read the rows: the text is made here, and written by another. */
static int app_export_make(struct export **out, struct app *a, const struct canvas *as,
			   const char *to, struct err *err)
{
	const struct export_form *form = app_export_form(to);
	const struct table_ops *ops;
	const struct table *t;
	struct export *x;
	FILE *f;

	if (!form)
		return err_set(err, -EINVAL,
			       "'%.100s' has to end in .txt, .csv or .json, or, with colours, in "
			       ".html, .svg or .png",
			       to);
	t = shell_table_of(a->shell, app_shown(a), &ops);
	t = t && t->nshown && form->rows ? t : NULL;
	x = xcalloc(1, sizeof(*x));
	f = open_memstream(&x->text, &x->len);
	snprintf(x->what, sizeof(x->what), "screen");
	if (t) {
		app_export_rows(a, f, form, t, ops->kind);
		snprintf(x->what, sizeof(x->what), "%u row%s", t->nrow, plural(t->nrow));
	} else if (app_export_is_of_links(a, form)) {
		uint32_t n = app_export_links(a, f, form);

		snprintf(x->what, sizeof(x->what), "%u link%s", n, plural(n));
	} else {
		app_export_screen(a, x, f, form, as);
	}
	fclose(f);
	snprintf(x->path, sizeof(x->path), "%s", to);
	user_path_expand(x->path, sizeof(x->path));
	snprintf(x->font, sizeof(x->font), "%s", a->png_font);
	user_path_expand(x->font, sizeof(x->font));
	x->size = a->opts.png_size;
	*out = x;
	return 0;
}

static int app_export_put(FILE *out, const void *what, struct err *err)
{
	const struct export *x = what;

	if (x->shot)
		return screen_shot_png(out, x->shot, x->font, x->size, err);
	/* output_file tells */
	fwrite(x->text, 1, x->len, out);
	return 0;
}

static int app_export_run(void *ctx, struct err *err)
{
	struct export *x = ctx;
	struct stat st;

	if (!x->over && !lstat(x->path, &st))
		return err_set(err, -EEXIST, "%s exists: 'export!' overwrites it", x->path);
	return output_file_write(x->path, app_export_put, x, err);
}

static void app_export_done(void *owner, void *ctx)
{
	const struct export *x = ctx;
	struct app *a = owner;

	app_record_action(a, "export", x->path);
	shell_say(a->shell, "%s written to %s", x->what, x->path);
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

	screen_shot_free(x->shot);
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

static void app_export_begin(struct app *a, const char *to, bool over)
{
	struct export *x = NULL;
	struct err err = { "" };
	int rc;

	if (!a->canvas)
		return;
	pthread_mutex_lock(&a->events_lock);
	rc = app_export_make(&x, a, a->canvas, to, &err);
	pthread_mutex_unlock(&a->events_lock);
	if (rc) {
		shell_say(a->shell, "export: %s", err.text);
		return;
	}
	x->over = over;
	app_files_start(a, &app_export_ops, x);
}

void app_export(struct app *a, const char *to)
{
	app_export_begin(a, to, false);
}

void app_export_over(struct app *a, const char *to)
{
	app_export_begin(a, to, true);
}

int app_export_now(struct app *a, const struct canvas *as, const char *to, bool over, FILE *say,
		   struct err *err)
{
	struct export *x;
	int rc = app_export_make(&x, a, as, to, err);

	if (rc)
		return rc;
	x->over = over;
	rc = app_export_run(x, err);
	if (!rc)
		fprintf(say, "%s written to %s\n", x->what, x->path);
	app_export_free(x);
	return rc;
}
