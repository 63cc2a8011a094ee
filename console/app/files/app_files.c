/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that threads of their own read and write: what runs, how far it is, and that it is ended.
 */
#include "console/app/app_priv.h"

#include "console/config/exits.h"
#include "console/io/progress_line.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_S 0.3 /* before the screen says so */

struct app_file {
	struct file_work *work; /* NULL: none here */
	const char *step;
	uint64_t done;
	double begun, since; /* clock_s() of it all, and of this step */
	char words[80];
};

struct app_files {
	struct app_file file[APP_FILES_MAX];
};

static struct app_file *app_files_find(const struct app *a, const struct file_work_ops *ops)
{
	for (int i = 0; a->files && i < APP_FILES_MAX; i++) {
		struct app_file *f = &a->files->file[i];

		if (f->work && file_work_ops(f->work) == ops)
			return f;
	}
	return NULL;
}

/* The one that somebody waits for; NULL: there is none. */
static struct app_file *app_files_find_waited(const struct app *a)
{
	for (int i = 0; a->files && i < APP_FILES_MAX; i++) {
		struct app_file *f = &a->files->file[i];

		if (f->work && file_work_ops(f->work)->waited)
			return f;
	}
	return NULL;
}

static void app_files_over(struct app *a, const struct file_work_ops *ops, void *ctx, int rc,
			   const struct err *why)
{
	if (!rc)
		ops->done(a, ctx);
	else if (ops->failed)
		ops->failed(a, ctx, rc, why);
	else
		app_fail(a, ops->what, why->text);
}

static int app_files_launch(struct app *a, const struct file_work_ops *ops, void *ctx,
			    struct err *err)
{
	struct app_file *to = NULL;

	if (!a->files)
		a->files = xcalloc(1, sizeof(*a->files));
	for (int i = 0; i < APP_FILES_MAX && !to; i++)
		to = a->files->file[i].work ? NULL : &a->files->file[i];
	if (!to || app_files_find(a, ops)) {
		ops->free(ctx);
		return err_set(err, -EBUSY, "%s: one is already in progress", ops->what);
	}
	*to = (struct app_file){ .begun = clock_s() };
	return file_work_start(&to->work, ops, ctx, a->box, err);
}

int app_files_start(struct app *a, const struct file_work_ops *ops, void *ctx)
{
	struct err err;
	int rc = app_files_launch(a, ops, ctx, &err);

	if (rc)
		app_fail(a, ops->what, err.text);
	return rc;
}

int app_files_begin(struct app *a, const struct file_work_ops *ops, void *ctx, struct err *err)
{
	int rc;

	if (!a->opts.no_screen)
		return app_files_launch(a, ops, ctx, err);
	rc = ops->run(ctx, err);
	app_files_over(a, ops, ctx, rc, err);
	ops->free(ctx);
	return rc;
}

void app_give_up(void *owner, void *ctx, int rc, const struct err *why)
{
	struct app *a = owner;

	(void)ctx;
	(void)rc;
	a->failed = *why;
	a->exit_code = EXIT_UNREADABLE;
	a->quit = true;
}

bool app_files_runs(const struct app *a, const struct file_work_ops *ops)
{
	return app_files_find(a, ops) != NULL;
}

void app_files_cancel(struct app *a, const struct file_work_ops *ops)
{
	struct app_file *f = app_files_find(a, ops);

	if (f)
		file_work_cancel(f->work);
}

const char *app_files_waited(const struct app *a)
{
	const struct app_file *f = app_files_find_waited(a);

	return f ? file_work_ops(f->work)->what : NULL;
}

bool app_files_stop(struct app *a)
{
	struct app_file *f = app_files_find_waited(a);

	if (f)
		file_work_cancel(f->work);
	return f != NULL;
}

/* --- a part of the console ------------------------------------------------------------------ */

static struct app_file *app_files_of(const struct app *a, const struct file_work *w)
{
	for (int i = 0; a->files && i < APP_FILES_MAX; i++)
		if (a->files->file[i].work == w)
			return &a->files->file[i];
	return NULL;
}

static void app_files_step(struct app *a, struct app_file *f, const struct msg *msg)
{
	const struct file_work_ops *ops = file_work_ops(f->work);
	double now = clock_s();

	if (f->step != msg->step || msg->done < f->done)
		f->since = now; /* another step, or another file */
	f->step = msg->step;
	f->done = msg->done;
	progress_words(f->words, sizeof(f->words), msg->step, msg->done, msg->total,
		       now - f->since);
	if (ops->step)
		ops->step(a, file_work_ctx(f->work), f->words);
}

static void app_files_end_one(struct app *a, struct app_file *f)
{
	struct file_work *w = f->work;
	struct err why = { "" };
	int rc = file_work_join(w, &why);

	f->work = NULL; /* what is done now may begin another */
	app_files_over(a, file_work_ops(w), file_work_ctx(w), rc, &why);
	file_work_free(w);
}

static bool app_files_take(struct app *a, struct msg *msg, bool *kept)
{
	struct app_file *f;

	(void)kept;
	if (msg->type != MSG_FILE_STEP && msg->type != MSG_FILE_END)
		return false;
	f = app_files_of(a, msg->file);
	if (f && msg->type == MSG_FILE_STEP)
		app_files_step(a, f, msg);
	else if (f)
		app_files_end_one(a, f);
	return true;
}

static void app_files_refresh(struct app *a)
{
	const struct app_file *f = app_files_find_waited(a);

	if (f && clock_s() - f->begun > PATIENCE_S)
		snprintf(a->state.work, sizeof(a->state.work), "%s: %s",
			 file_work_ops(f->work)->what, f->words);
}

void app_files_free(struct app *a)
{
	for (int i = 0; a->files && i < APP_FILES_MAX; i++) {
		struct file_work *w = a->files->file[i].work;
		struct err why;

		if (!w)
			continue;
		if (!file_work_ops(w)->finishes)
			file_work_cancel(w);
		file_work_join(w, &why);
		file_work_free(w);
	}
	free(a->files);
	a->files = NULL;
}

const struct app_part app_files_part = { .take = app_files_take, .refresh = app_files_refresh };
