/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View 9: records are read, verified and replayed by threads of their own. */
#include "console/app/app_priv.h"

#include "console/collect/acts.h"
#include "console/record/audit/session_read.h"
#include "console/record/record_files.h"
#include "console/record/recording/replay.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/time/stamp.h"
#include "views/data/state/key_hint.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the list -------------------------------------------------------------------------------- */

struct reading_sessions {
	char dir[200], open[80];
	const struct sessions
		*known; /* those of the state, which stay until this is done; or NULL */
	struct sessions *read;
};

static bool app_sessions_stopped(void *arg)
{
	(void)arg;
	return progress_cancelled(file_progress());
}

static int app_sessions_run(void *ctx, struct err *err)
{
	struct reading_sessions *r = ctx;
	struct sessions *list;

	(void)err;
	r->read = session_read(r->dir, r->open, r->known, app_sessions_stopped, NULL);
	if (r->open[0] || !r->read->nrow)
		return 0;
	list = r->read; /* the cursor begins on the newest: its actions, too */
	r->read = session_read(r->dir, list->row[0].file, list, app_sessions_stopped, NULL);
	sessions_free(list);
	return 0;
}

/* Of this session, as far as it is written. */
static void app_sessions_mark_own(const struct app *a, struct sessions *s)
{
	const char *path = a->record ? record_path(a->record) : "", *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	for (uint32_t i = 0; *name && i < s->nrow; i++)
		s->row[i].now = s->row[i].open_end && s->row[i].sid[0] &&
				!strncmp(name, s->row[i].sid, strlen(s->row[i].sid));
}

static void app_sessions_done(void *owner, void *ctx)
{
	struct app *a = owner;
	struct reading_sessions *r = ctx;
	char open[sizeof(a->session_wanted)];

	a->state.sessions_busy = false;
	sessions_free((struct sessions *)(uintptr_t)a->state.sessions);
	r->read->serial = ++a->sessions_read;
	app_sessions_mark_own(a, r->read);
	a->state.sessions = r->read;
	r->read = NULL;
	snprintf(open, sizeof(open), "%s", a->session_wanted);
	a->session_wanted[0] = '\0';
	if (open[0] && strcmp(open, a->state.sessions->opened) != 0)
		app_sessions_read(a, open);
}

static void app_sessions_step(void *owner, void *ctx, const char *words)
{
	struct app *a = owner;

	(void)ctx;
	snprintf(a->state.sessions_step, sizeof(a->state.sessions_step), "%s", words);
}

static void app_sessions_free(void *ctx)
{
	struct reading_sessions *r = ctx;

	sessions_free(r->read);
	free(r);
}

static const struct file_work_ops app_sessions_list = {
	.what = "records",
	.run = app_sessions_run,
	.done = app_sessions_done,
	.step = app_sessions_step,
	.free = app_sessions_free,
};

static uint32_t app_sessions_uid(const char *user)
{
	struct passwd pw, *found = NULL;
	char buf[2048];

	if (!strncmp(user, "uid ", 4))
		return (uint32_t)strtoul(user + 4, NULL, 10);
	return !getpwnam_r(user, &pw, buf, sizeof(buf), &found) && found ? pw.pw_uid : UINT32_MAX;
}

static void app_sessions_take_act(struct session_row *row, const struct act *x)
{
	snprintf(row->file, sizeof(row->file), "%s", x->id);
	row->part = record_name(row->sid, sizeof(row->sid), x->id);
	stamp_utc(row->start, sizeof(row->start), "%Y-%m-%dT%H:%M:%SZ", x->begin_ms / 1000);
	stamp_utc(row->end, sizeof(row->end), "%Y-%m-%dT%H:%M:%SZ", x->end_ms / 1000);
	snprintf(row->fabric, sizeof(row->fabric), "%s", x->fabric);
	row->uid = app_sessions_uid(x->user);
	row->bytes = x->bytes;
	row->open_end = !strcmp(x->state, "open");
	row->told = true;
}

/* Who may not read the records sees which there are, where a collector keeps an index of them. */
static bool app_sessions_of_collector(struct app *a)
{
	struct sessions *s;
	struct err unused;

	if (!a->acts || !record_dir_check(record_dir(a->opts.live.record_dir), &unused))
		return false;
	s = xcalloc(1, sizeof(*s));
	snprintf(s->dir, sizeof(s->dir), "the index of the collector");
	s->row = xcalloc(a->acts->n + 1, sizeof(*s->row));
	for (size_t i = 0; i < a->acts->n; i++)
		if (a->acts->v[i].kind == ACT_RECORD)
			app_sessions_take_act(&s->row[s->nrow++], &a->acts->v[i]);
	s->serial = ++a->sessions_read;
	sessions_free((struct sessions *)(uintptr_t)a->state.sessions);
	a->state.sessions = s;
	return true;
}

void app_sessions_read(struct app *a, const char *open)
{
	struct reading_sessions *r;

	snprintf(a->session_wanted, sizeof(a->session_wanted), "%s", open ? open : "");
	if (open && app_files_runs(a, &app_sessions_list))
		return; /* as soon as that is done */
	if (app_files_runs(a, &app_sessions_list)) {
		app_files_cancel(a, &app_sessions_list);
		shell_say(a->shell, "stopped reading the records; %s starts again",
			  key_hint("verify"));
		return;
	}
	if (!open && app_sessions_of_collector(a))
		return;
	r = xcalloc(1, sizeof(*r));
	snprintf(r->dir, sizeof(r->dir), "%s", record_dir(a->opts.live.record_dir));
	/* again: with the lines of the one that is open */
	snprintf(r->open, sizeof(r->open), "%s",
		 open		     ? open
		 : a->state.sessions ? a->state.sessions->opened
				     : "");
	r->known = open ? a->state.sessions : NULL; /* V reads them again */
	a->state.sessions_step[0] = '\0';
	a->state.sessions_busy = !app_files_start(a, &app_sessions_list, r);
}

/* --- a replay -------------------------------------------------------------------------------- */

struct replaying {
	char *path, seq[24];
	struct cast_events events;
	uint32_t from;
};

static void app_sessions_replay_free(void *ctx)
{
	struct replaying *r = ctx;

	if (!r)
		return;
	cast_events_free(&r->events);
	free(r->path);
	free(r);
}

static int app_sessions_replay_run(void *ctx, struct err *err)
{
	struct replaying *r = ctx;

	return replay_play(&r->events, r->from, 1, err);
}

static void app_sessions_replay_done(void *owner, void *ctx)
{
	struct app *a = owner;

	(void)ctx;
	a->lent = false;
	terminal_return(a->term);
}

static void app_sessions_replay_failed(void *owner, void *ctx, int rc, const struct err *why)
{
	(void)rc;
	app_sessions_replay_done(owner, ctx);
	app_fail(owner, "replay", why->text);
}

/* Has the terminal while it runs; keys are its own. */
static const struct file_work_ops app_sessions_player = {
	.what = "replay",
	.run = app_sessions_replay_run,
	.done = app_sessions_replay_done,
	.failed = app_sessions_replay_failed,
	.free = app_sessions_replay_free,
};

static int app_sessions_cast_run(void *ctx, struct err *err)
{
	struct replaying *r = ctx;
	int rc = cast_read_session(&r->events, r->path, err);

	return rc ? rc : replay_place(&r->from, &r->events, r->path, r->seq, err);
}

/* What was read goes on to the player. */
static void app_sessions_cast_done(void *owner, void *ctx)
{
	struct replaying *r = ctx, *read;
	struct app *a = owner;

	if (!a->term) {
		app_fail(a, "replay", "no terminal to replay it on");
		return;
	}
	read = xcalloc(1, sizeof(*read));
	*read = *r;
	memset(r, 0, sizeof(*r));
	terminal_lend(a->term);
	a->lent = true;
	if (app_files_start(a, &app_sessions_player, read))
		app_sessions_replay_done(a, NULL);
}

static const struct file_work_ops app_sessions_cast = {
	.what = "replay",
	.waited = true,
	.run = app_sessions_cast_run,
	.done = app_sessions_cast_done,
	.free = app_sessions_replay_free,
};

/* file and seq, as the view names them */
void app_sessions_replay(struct app *a, const char *text)
{
	enum apply_state st = a->state.apply.state;
	struct replaying *r;
	char file[80], seq[24];

	if (sscanf(text, "%79s %23s", file, seq) != 2)
		return;
	if (st == APPLY_RUNNING || st == APPLY_ROLLING_BACK) {
		shell_say(a->shell, "tables are being written: a replay would hide that");
		return;
	}
	app_record_action(a, "replay", text);
	r = xcalloc(1, sizeof(*r));
	r->path = xasprintf("%s/%s", record_dir(a->opts.live.record_dir), file);
	memcpy(r->seq, seq, sizeof(seq));
	app_files_start(a, &app_sessions_cast, r);
}

/* --- a part of the console ------------------------------------------------------------------- */

static void app_sessions_end(struct app *a)
{
	sessions_free((struct sessions *)(uintptr_t)a->state.sessions);
}

const struct app_part app_sessions_part = { .end = app_sessions_end };
