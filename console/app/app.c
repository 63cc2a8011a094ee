/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The console: start, loop, end.  One thread draws and reads keys; it never blocks on the wire,
 * on SLURM or on an engine. */
#include "console/app/app.h"

#include "console/app/app_priv.h"
#include "console/io/progress_line.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/process/stderrlog.h"
#include "fabric/base/time/clock.h"

#include <ftw.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MS 250  /* between two frames when only data changed */
#define TICK_MS	 1000 /* ages grow */

static volatile sig_atomic_t deadly_signal;

static void app_on_signal(int sig)
{
	deadly_signal = sig;
}

/* --- loop ------------------------------------------------------------------------------------- */

/* True when there was one. */
static bool app_take_keys(struct app *a)
{
	bool any = false;
	uint32_t key;

	while (!a->quit && !a->lent && !a->fabrics.away &&
	       (key = terminal_key(a->term)) != K_NONE) {
		app_key(a, key);
		any = true;
	}
	return any;
}

/* Between two frames. */
static int app_frame_ms(const struct app *a)
{
	return a->dirty || a->play.on ? FRAME_MS : TICK_MS;
}

static void app_loop(struct app *a)
{
	double shown = 0;

	while (!a->quit && !deadly_signal) {
		struct pollfd fds[4] = {
			{ .fd = a->lent || a->fabrics.away ? -1 : terminal_fd(a->term),
			  .events = POLLIN },
			{ .fd = mailbox_fd(a->box), .events = POLLIN },
			{ .fd = a->source ? source_fd(a->source) : -1, .events = POLLIN },
			{ .fd = app_fabrics_fd(a), .events = POLLIN },
		};
		double left = shown + app_frame_ms(a) / 1e3 - clock_s();

		bool awaited = a->shown_history.awaited;

		/* data waits for the next frame, so it need not wake us before that; but a moment
		 * of the past that was asked for by a key */
		if (a->dirty && !awaited)
			fds[1].fd = -1;
		poll(fds, 4, left > 0 ? (int)ceil(left * 1e3) : 0);
		if ((app_fabrics_take(a) && !a->quit) || app_take_keys(a)) {
			app_take_messages(a);
			app_draw(a);
			shown = clock_s();
			continue;
		}
		app_take_messages(a);
		app_take_jobs(a);
		app_auto_tick(a);
		app_fabrics_tell(a);
		if ((awaited && !a->shown_history.awaited) ||
		    clock_s() - shown >= app_frame_ms(a) / 1e3) {
			app_draw(a);
			shown = clock_s();
		}
	}
}

static void app_catch_signals(void)
{
	struct sigaction sa = { .sa_handler = app_on_signal };

	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int app_run(const struct app_opts *o, app_batch_fn *batch, void *arg)
{
	struct app *a = xcalloc(1, sizeof(*a));
	struct stderrlog *captured = NULL;
	struct progress_line watch = { .files = false };
	struct err err = { "" };
	int rc;

	a->opts = *o;
	app_prepare(a);
	if (batch) {
		app_catch_signals(); /* making a large fabric takes long, too */
		progress_line_files_until(&watch, &deadly_signal);
	}
	rc = app_start(a, &err);
	progress_line_files_end(&watch);
	if (rc && deadly_signal) {
		rc = 128 + deadly_signal;
	} else if (!rc && batch) {
		rc = batch(a, arg, &deadly_signal);
	} else if (!rc) {
		app_catch_signals();
		if (stderrlog_start(&captured, "libs", &err))
			log_add(LOG_WARN, "libs", "%s", err.text);
		app_loop(a);
		rc = deadly_signal ? 128 + deadly_signal : a->exit_code;
		err = a->failed;
	}
	app_end(a);
	stderrlog_stop(captured);
	if (err.text[0])
		fprintf(stderr, "ibroute-top: %s\n", err.text);
	return rc;
}
