/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes on rows: read when it begins, changed in the file one at a time, and in the record. */
#include "console/app/app_priv.h"

#include "console/config/note_file.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"

#include <stdlib.h>

/* What a thread of its own reads or writes. */
struct note_work {
	char *path;
	struct row_notes all;
	struct row_note note;
	char what[PATH_TEXT]; /* it is on */
};

static void app_notes_free(void *ctx)
{
	struct note_work *w = ctx;

	row_notes_done(&w->all);
	free(w->path);
	free(w);
}

static int app_notes_read_run(void *ctx, struct err *err)
{
	struct note_work *w = ctx;

	return note_file_read(&w->all, w->path, err);
}

static void app_notes_read_done(void *owner, void *ctx)
{
	struct note_work *w = ctx;
	struct app *a = owner;

	row_notes_done(&a->row_notes);
	a->row_notes = w->all;
	w->all = (struct row_notes){ 0 };
	a->state.row_notes = &a->row_notes;
}

static const struct file_work_ops app_notes_read_ops = {
	.what = "notes",
	.run = app_notes_read_run,
	.done = app_notes_read_done,
	.free = app_notes_free,
};

void app_notes_read(struct app *a)
{
	struct note_work *w;
	struct err err;

	if (a->opts.no_screen)
		return;
	w = xcalloc(1, sizeof(*w));
	w->path = note_file_path();
	if (!w->path)
		app_notes_free(w);
	else if (app_files_begin(a, &app_notes_read_ops, w, &err))
		app_fail(a, "notes", err.text);
}

void app_notes_read_now(struct app *a)
{
	char *path = note_file_path();
	struct err err;

	if (path && note_file_read(&a->row_notes, path, &err))
		log_add(LOG_WARN, "notes", "%s", err.text);
	a->state.row_notes = &a->row_notes;
	free(path);
}

/* Read again: another console may have written some, too. */
static int app_notes_change_run(void *ctx, struct err *err)
{
	struct note_work *w = ctx;
	int rc = note_file_change(w->path, &w->note, err);

	return rc ? rc : note_file_read(&w->all, w->path, err);
}

static void app_notes_change_done(void *owner, void *ctx)
{
	const struct note_work *w = ctx;
	struct app *a = owner;
	bool deleted = !w->note.text[0];
	char *detail = xasprintf("%s%s%s", w->what, deleted ? "" : ": ", w->note.text);

	app_notes_read_done(owner, ctx);
	app_record_action(a, deleted ? "note.delete" : "note", detail);
	shell_say(a->shell, deleted ? "note on %s deleted" : "noted on %s", w->what);
	free(detail);
}

static const struct file_work_ops app_notes_change_ops = {
	.what = "note",
	.waited = true,
	.finishes = true,
	.run = app_notes_change_run,
	.done = app_notes_change_done,
	.free = app_notes_free,
};

void app_notes_change(struct app *a, const struct request *r)
{
	struct note_work *w;

	if (app_files_runs(a, &app_notes_read_ops)) {
		shell_say(a->shell, "notes are still being read");
		return;
	}
	w = xcalloc(1, sizeof(*w));
	w->path = note_file_path();
	if (!w->path) {
		shell_say(a->shell, "HOME is not set: there is no place to keep notes in");
		app_notes_free(w);
		return;
	}
	w->note = *r->note;
	snprintf(w->what, sizeof(w->what), "%s", r->text);
	app_files_start(a, &app_notes_change_ops, w);
}

static void app_notes_end(struct app *a)
{
	row_notes_done(&a->row_notes);
}

const struct app_part app_notes_part = { .end = app_notes_end };
