/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Large files on the screen's own thread: it goes on drawing, and Esc ends them. */
#include "console/app/app_priv.h"

#include "console/lib/progress_line.h"
#include "fabric/base/clock.h"
#include "fabric/base/file_progress.h"

#define DRAW_S	   0.2
#define PATIENCE_S 0.3 /* before there is a word of it */
#define CTRL_C	   3
#define ESCAPE	   27

/* True: nobody wants to wait any longer.  Other keys are for what is not there yet. */
static bool app_wait_given_up(struct app *a)
{
	uint32_t key;

	while ((key = terminal_key(a->term)) != K_NONE) {
		if (key == ESCAPE || key == CTRL_C || key == 'q' || key == K_EOF)
			return true;
		if (key == K_RESIZE)
			app_key(a, key);
	}
	return false;
}

static void app_wait_say(struct app_wait *w, const char *step, uint64_t done, uint64_t total,
			 double now)
{
	char words[80];

	progress_words(words, sizeof(words), step, done, total, now - w->since);
	shell_say(w->a->shell, "%s: %s; Esc ends it", w->what, words);
}

static void app_wait_report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct app_wait *w = ctx;
	double now = clock_s();

	if (step != w->step || done < w->done)
		w->since = now; /* another step, or another file */
	w->step = step;
	w->done = done;
	if (now - w->drawn < DRAW_S)
		return;
	w->drawn = now;
	if (app_wait_given_up(w->a))
		atomic_store(&w->progress.cancel, true);
	if (now - w->begun < PATIENCE_S)
		return;
	app_wait_say(w, step, done, total, now);
	w->said = true;
	app_draw(w->a);
}

void app_wait_begin(struct app_wait *w, struct app *a, const char *what)
{
	*w = (struct app_wait){ .a = a, .what = what, .begun = clock_s() };
	w->progress.report = app_wait_report;
	w->progress.ctx = w;
	w->drawn = w->since = w->begun;
	if (a->term)
		file_progress_set(&w->progress);
}

void app_wait_end(struct app_wait *w)
{
	if (!w->a->term)
		return;
	file_progress_set(NULL);
	if (w->said)
		shell_say(w->a->shell, "%s", "");
}
