/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stopwatch: a progress that takes the time of each step, and shows it on a terminal. */
#ifndef CONSOLE_STOPWATCH_H
#define CONSOLE_STOPWATCH_H

#include "fabric/base/progress.h"

#include <stdbool.h>

#define STOPWATCH_STEPS 8

struct stopwatch {
	struct progress progress; /* hand this to engines, verify and metrics */
	struct {
		const char *name;
		double s;
	} step[STOPWATCH_STEPS];
	unsigned nstep;
	int running; /* step being timed, -1 none */
	double begun, since, shown;
	bool tty; /* stderr is a terminal */
};

void stopwatch_start(struct stopwatch *w);
/* Ends the step that runs and takes the line off the terminal. */
void stopwatch_stop(struct stopwatch *w);
/* What a file that may be large is called while it is written; NULL: it is done.  Terminals only. */
void stopwatch_writing(const char *path);
/* Seconds of a step, NAN when there was none of that name. */
double stopwatch_seconds(const struct stopwatch *w, const char *step);

#endif
