/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View 9: records are read and verified by a thread of their own, and replayed on the terminal. */
#include "console/app/app_priv.h"

#include "console/lib/progress_line.h"
#include "console/record/replay.h"
#include "console/record/session_read.h"
#include "fabric/base/clock.h"
#include "fabric/base/file_progress.h"
#include "fabric/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct app_sessions {
	pthread_t thread;
	pthread_mutex_t lock;
	bool running, stop; /* under lock, as what follows */
	struct sessions *done;
	uint64_t read; /* times */
	struct progress progress;
	char step[48]; /* under lock: how far the file is that is being read */
	double since;
	const char *doing; /* the thread's, as the next */
	uint64_t done_bytes;
	char dir[200], open[80];
	const struct sessions *known; /* those of the state, while it runs */
	struct mailbox *box;
};

static bool app_sessions_stopped(void *arg)
{
	struct app_sessions *w = arg;
	bool stop;

	pthread_mutex_lock(&w->lock);
	stop = w->stop;
	pthread_mutex_unlock(&w->lock);
	return stop;
}

static void app_sessions_tell(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct app_sessions *w = ctx;
	double now = clock_s();

	if (step != w->doing || done < w->done_bytes)
		w->since = now; /* something else */
	w->doing = step;
	w->done_bytes = done;
	pthread_mutex_lock(&w->lock);
	progress_words(w->step, sizeof(w->step), step, done, total, now - w->since);
	pthread_mutex_unlock(&w->lock);
}

static void *app_sessions_run(void *ctx)
{
	struct app_sessions *w = ctx;
	struct sessions *s;

	file_progress_set(&w->progress);
	s = session_read(w->dir, w->open, w->known, app_sessions_stopped, w);
	pthread_mutex_lock(&w->lock);
	w->done = s;
	pthread_mutex_unlock(&w->lock);
	mailbox_send(w->box, msg_new(MSG_LOG)); /* wakes the loop */
	return NULL;
}

static void app_sessions_end_reading(struct app_sessions *w)
{
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	atomic_store(&w->progress.cancel, true);
	pthread_mutex_unlock(&w->lock);
}

/* --- the application's side -------------------------------------------------------------- */

void app_sessions_read(struct app *a, const char *open)
{
	struct app_sessions *w = a->sessions;

	if (!w) {
		w = a->sessions = xcalloc(1, sizeof(*w));
		pthread_mutex_init(&w->lock, NULL);
		w->box = a->box;
		w->progress.report = app_sessions_tell;
		w->progress.ctx = w;
	}
	if (w->running) {
		app_sessions_end_reading(w);
		shell_say(a->shell, "reading the records ends; V begins again");
		return;
	}
	w->stop = false;
	atomic_store(&w->progress.cancel, false);
	snprintf(w->dir, sizeof(w->dir), "%s", record_dir(a->opts.record_dir));
	/* anew: with the lines of the one that is open */
	snprintf(w->open, sizeof(w->open), "%s",
		 open		     ? open
		 : a->state.sessions ? a->state.sessions->opened
				     : "");
	w->known = open ? a->state.sessions : NULL; /* V reads them anew */
	w->step[0] = '\0';
	w->doing = NULL;
	w->running = !pthread_create(&w->thread, NULL, app_sessions_run, w);
	a->state.sessions_busy = w->running;
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

void app_sessions_take(struct app *a)
{
	struct app_sessions *w = a->sessions;
	struct sessions *s = NULL;

	if (!w || !w->running)
		return;
	pthread_mutex_lock(&w->lock);
	s = w->done;
	w->done = NULL;
	memcpy(a->state.sessions_step, w->step, sizeof(w->step));
	pthread_mutex_unlock(&w->lock);
	if (!s)
		return;
	pthread_join(w->thread, NULL);
	w->running = a->state.sessions_busy = false;
	sessions_free((struct sessions *)(uintptr_t)a->state.sessions);
	s->serial = ++w->read;
	app_sessions_mark_own(a, s);
	a->state.sessions = s;
}

void app_sessions_free(struct app *a)
{
	struct app_sessions *w = a->sessions;

	if (w && w->running) {
		app_sessions_end_reading(w);
		pthread_join(w->thread, NULL);
		sessions_free(w->done);
	}
	if (w)
		pthread_mutex_destroy(&w->lock);
	free(w);
	sessions_free((struct sessions *)(uintptr_t)a->state.sessions);
}

/* file and seq, as the view names them */
void app_sessions_replay(struct app *a, const char *text)
{
	enum apply_state st = a->state.apply.state;
	char file[80], seq[24], *path;
	struct cast_events e = { 0 };
	struct err err = { "" };
	struct app_wait wait;
	uint32_t from = 0;
	int rc;

	if (sscanf(text, "%79s %23s", file, seq) != 2)
		return;
	if (st == APPLY_RUNNING || st == APPLY_ROLLING_BACK) {
		shell_say(a->shell, "routes are being written: a replay would hide that");
		return;
	}
	app_record_action(a, "replay", text);
	path = xasprintf("%s/%s", record_dir(a->opts.record_dir), file);
	app_wait_begin(&wait, a, "replay");
	rc = cast_read_session(&e, path, &err);
	if (!rc)
		rc = replay_place(&from, &e, path, seq, &err);
	app_wait_end(&wait);
	if (!rc) {
		terminal_lend(a->term);
		rc = replay_play(&e, from, 1, &err);
		terminal_return(a->term);
	}
	if (rc)
		app_fail(a, "replay", err.text);
	cast_events_free(&e);
	free(path);
}
