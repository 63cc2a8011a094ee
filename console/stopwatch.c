/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/stopwatch.h"

#include "fabric/base/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SHOW_AFTER_S 0.1 /* between two updates of the line */
#define LEFT_AFTER_S 0.5 /* of a step, before it can be told how long it takes */

static void end_step(struct stopwatch *w, double now)
{
	if (w->running >= 0)
		w->step[w->running].s += now - w->since;
	w->running = -1;
}

static void begin_step(struct stopwatch *w, const char *name, double now)
{
	unsigned i = 0;

	end_step(w, now);
	while (i < w->nstep && strcmp(w->step[i].name, name))
		i++;
	if (i == STOPWATCH_STEPS)
		return;
	if (i == w->nstep) {
		w->step[i].name = name;
		w->step[i].s = 0;
		w->nstep++;
	}
	w->running = (int)i;
	w->since = now;
}

static void show(struct stopwatch *w, const char *step, uint64_t done, uint64_t total, double now)
{
	if (now - w->shown < SHOW_AFTER_S)
		return;
	w->shown = now;
	fprintf(stderr, "\r\033[K%s", step);
	if (total) {
		double share = (double)done / (double)total, took = now - w->since;

		fprintf(stderr, " %.0f %%", 100 * share);
		if (took > LEFT_AFTER_S && share > 0.02)
			fprintf(stderr, ", %.1f s left", took / share - took);
	}
	fprintf(stderr, " (%.0f s; Ctrl-C ends it)", now - w->begun);
	fflush(stderr);
}

static void report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct stopwatch *w = ctx;
	double now = clock_s();

	if (w->running < 0 || strcmp(w->step[w->running].name, step))
		begin_step(w, step, now);
	if (w->tty)
		show(w, step, done, total, now);
}

void stopwatch_start(struct stopwatch *w)
{
	memset(w, 0, sizeof(*w));
	w->progress.report = report;
	w->progress.ctx = w;
	atomic_init(&w->progress.cancel, false);
	w->running = -1;
	w->begun = w->shown = clock_s();
	w->tty = isatty(STDERR_FILENO);
}

void stopwatch_stop(struct stopwatch *w)
{
	end_step(w, clock_s());
	if (w->tty) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
}

void stopwatch_writing(const char *path)
{
	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[K%s%s", path ? "writing " : "", path ? path : "");
	fflush(stderr);
}

double stopwatch_seconds(const struct stopwatch *w, const char *step)
{
	for (unsigned i = 0; i < w->nstep; i++)
		if (!strcmp(w->step[i].name, step))
			return w->step[i].s;
	return NAN;
}
