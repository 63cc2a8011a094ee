/* SPDX-License-Identifier: GPL-2.0-or-later */
/* progress_line: a progress that takes the time of each step, and shows it on a terminal. */
#pragma once

#include "fabric/base/message/progress.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STOPWATCH_STEPS 24

struct progress_line {
	struct progress progress; /* hand this to engines, verify and metrics */
	struct {
		const char *name;
		double s;
	} step[STOPWATCH_STEPS];
	unsigned nstep;
	int running;   /* step being timed, -1 none */
	uint64_t done; /* of it, as reported last */
	double begun, since, shown;
	double counted;			   /* since when the work of all steps is counted */
	bool tty;			   /* stderr is a terminal */
	bool said;			   /* there is a line of ours on it */
	bool files;			   /* it is this thread's file_progress() */
	const volatile sig_atomic_t *stop; /* cancels when it is not 0; NULL: a signal ends all */
};

void progress_line_start(struct progress_line *w);
/* Ends the step that runs and takes the line off the terminal. */
void progress_line_stop(struct progress_line *w);
/* For large files that this thread reads or writes until progress_line_files_end(): nothing where
 * they are watched already, or where stderr is no terminal. */
void progress_line_files(struct progress_line *w);
/* The same for what goes to stdout: nothing where that is a terminal, too, on which it is seen. */
void progress_line_output(struct progress_line *w);
/* The same where a handler sets *stop, terminal or not: what watches files ends at once then. */
void progress_line_files_until(struct progress_line *w, const volatile sig_atomic_t *stop);
void progress_line_files_end(struct progress_line *w); /* one of zeros is fine */
/* Where there is no progress to hand to anybody: what is waited for, as often as one likes. */
void progress_line_tell(struct progress_line *w, const char *text);

/* "paths 37 %, 12k/s, 3.1 s left": a step that has run for took_s.  Of files, bytes; of a
 * simulation, its nanoseconds. */
void progress_words(char *out, size_t len, const char *step, uint64_t done, uint64_t total,
		    double took_s);

/* Seconds that all steps together still take at most, when work of most took so long; NAN: not
 * known. */
double progress_most_s(uint64_t work, uint64_t most, double took_s);

/* Seconds that the last step that takes long still takes, as the part of it that is done took; NAN:
 * not known, or it is not the last. */
double progress_about_s(bool last, uint64_t done, uint64_t total, double took_s);

/* Seconds of a step, NAN when there was none of that name. */
double progress_line_seconds(const struct progress_line *w, const char *step);
