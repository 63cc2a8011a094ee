/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/io/progress_line.h"

#include "fabric/base/message/file_progress.h"
#include "fabric/base/time/clock.h"
#include "views/canvas/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_CHARS 78  /* a line of a terminal has no room for more */
#define SHOW_AFTER_S   0.1 /* between two updates of the line */
#define LEFT_AFTER_S   0.5 /* of a step, before it can be said how long it takes */

static void progress_line_end_step(struct progress_line *w, double now)
{
	if (w->running >= 0)
		w->step[w->running].s += now - w->since;
	w->running = -1;
}

static void progress_line_begin_step(struct progress_line *w, const char *name, double now)
{
	unsigned i = 0;

	progress_line_end_step(w, now);
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

/* Of what a step counts; others count what their names say. */
static const char *progress_line_unit(const char *step)
{
	static const struct {
		const char *step, *unit;
	} of[] = {
		{ "reading", "B" },	 { "verifying", "B" },	{ "to disk", "B" },
		{ "simulating", " ns" }, { "settling", " ns" },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
		if (!strcmp(step, of[i].step))
			return of[i].unit;
	return "";
}

/* counted: with how many of how many, too. */
static void progress_line_put_words(char *out, size_t len, const char *step, uint64_t done,
				    uint64_t total, double took_s, bool counted)
{
	double share = total ? (double)done / (double)total : 0;
	char figure[2][FIGURE_LEN];
	int n = snprintf(out, len, "%s", step);

	if (total && (size_t)n < len)
		n += snprintf(out + n, len - (size_t)n, " %.0f %%", 100 * share);
	if (total && counted && (size_t)n < len)
		n += snprintf(out + n, len - (size_t)n, ", %s of %s%s",
			      figure_short(figure[0], done), figure_short(figure[1], total),
			      progress_line_unit(step));
	if (took_s > LEFT_AFTER_S && done && (size_t)n < len)
		n += snprintf(out + n, len - (size_t)n, ", %s%s/s",
			      figure_short(figure[0], (uint64_t)((double)done / took_s)),
			      progress_line_unit(step));
	if (took_s > LEFT_AFTER_S && share > 0.02 && (size_t)n < len)
		snprintf(out + n, len - (size_t)n, ", %.1f s left", took_s / share - took_s);
}

void progress_words(char *out, size_t len, const char *step, uint64_t done, uint64_t total,
		    double took_s)
{
	progress_line_put_words(out, len, step, done, total, took_s, false);
}

static void progress_line_show(struct progress_line *w, const char *step, uint64_t done,
			       uint64_t total, double now)
{
	char words[120], end[100];
	double most, about;

	if (now - w->shown < SHOW_AFTER_S)
		return;
	w->shown = now;
	w->said = true;
	most = progress_most_s(w->progress.work, w->progress.most, now - w->counted);
	about = progress_about_s(w->progress.last, done, total, now - w->since);
	if (isfinite(most) && isfinite(about))
		snprintf(end, sizeof(end),
			 "(%.0f s, about %.0f s left, at most %.0f s; Ctrl-C cancels)",
			 now - w->begun, fmin(about, most), most);
	else if (isfinite(most))
		snprintf(end, sizeof(end), "(%.0f s, at most %.0f s left; Ctrl-C cancels)",
			 now - w->begun, most);
	else
		snprintf(end, sizeof(end), "(%.0f s; Ctrl-C cancels)", now - w->begun);
	progress_line_put_words(words, sizeof(words), step, done, total, now - w->since, true);
	if (strlen(words) + strlen(end) > LINE_MAX_CHARS)
		progress_words(words, sizeof(words), step, done, total, now - w->since);
	fprintf(stderr, "\r\033[K%s %s", words, end);
	fflush(stderr);
}

static void progress_line_report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct progress_line *w = ctx;
	double now = clock_s();

	if (w->running < 0 || strcmp(w->step[w->running].name, step) || done < w->done)
		progress_line_begin_step(w, step, now); /* some come several times */
	w->done = done;
	if (!w->progress.work)
		w->counted = now;
	if (w->stop && *w->stop)
		atomic_store(&w->progress.cancel, true);
	if (w->tty)
		progress_line_show(w, step, done, total, now);
}

/* Later steps take up to twice as long for the same work as those before: measured 30 to 150
 * million looks at a dependency a second, from step to step. */
#define SLOWER 2

double progress_most_s(uint64_t work, uint64_t most, double took_s)
{
	if (!most || !work || took_s < LEFT_AFTER_S)
		return NAN;
	return fmax(1, ceil(SLOWER * took_s * (double)(most - work) / (double)work));
}

double progress_about_s(bool last, uint64_t done, uint64_t total, double took_s)
{
	double share = total ? (double)done / (double)total : 0;

	return last && share > 0.02 && took_s > LEFT_AFTER_S ? took_s / share - took_s : NAN;
}

void progress_line_tell(struct progress_line *w, const char *text)
{
	double now = clock_s();

	if (!w->tty || now - w->shown < SHOW_AFTER_S || now - w->begun < LEFT_AFTER_S)
		return;
	w->shown = now;
	w->said = true;
	fprintf(stderr, "\r\033[K%s (%.0f s; Ctrl-C cancels)", text, now - w->begun);
	fflush(stderr);
}

void progress_line_start(struct progress_line *w)
{
	memset(w, 0, sizeof(*w));
	w->progress.report = progress_line_report;
	w->progress.ctx = w;
	atomic_init(&w->progress.cancel, false);
	w->running = -1;
	w->begun = w->shown = clock_s();
	w->tty = isatty(STDERR_FILENO);
}

void progress_line_stop(struct progress_line *w)
{
	progress_line_end_step(w, clock_s());
	if (w->said) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
	w->said = false;
}

void progress_line_files(struct progress_line *w)
{
	progress_line_start(w);
	w->files = w->tty && !file_progress();
	if (w->files)
		file_progress_set(&w->progress);
}

void progress_line_output(struct progress_line *w)
{
	if (isatty(STDOUT_FILENO))
		progress_line_start(w);
	else
		progress_line_files(w);
}

void progress_line_files_until(struct progress_line *w, const volatile sig_atomic_t *stop)
{
	progress_line_start(w);
	w->stop = stop;
	w->files = !file_progress();
	if (w->files)
		file_progress_set(&w->progress);
}

void progress_line_files_end(struct progress_line *w)
{
	if (!w->files)
		return;
	file_progress_set(NULL);
	progress_line_stop(w);
	w->files = false;
}

double progress_line_seconds(const struct progress_line *w, const char *step)
{
	for (unsigned i = 0; i < w->nstep; i++)
		if (!strcmp(w->step[i].name, step))
			return w->step[i].s;
	return NAN;
}
