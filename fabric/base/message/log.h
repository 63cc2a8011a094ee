/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log: what happened, in one line each; shown by the event view or on stderr.
 *
 * Thread-safe.  Until a sink is set, lines of LOG_WARN and above go to stderr.
 */
#pragma once

#include <stdint.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

struct log_line {
	uint64_t time_ns; /* CLOCK_REALTIME */
	enum log_level level;
	char area[12]; /* "sweep", "slurm", "apply", ... */
	char text[300];
};

typedef void (*log_sink_fn)(void *ctx, const struct log_line *line);

/* The sink runs in the thread that logs, in several at a time where these log at once; none runs
 * any more after it was replaced.  It may take a lock that others hold while they log. */
void log_set_sink(log_sink_fn fn, void *ctx); /* NULL: back to stderr */
/* Where lines go without a sink; for whoever redirects the process's stderr. */
void log_set_stderr(int fd);
void log_add(enum log_level level, const char *area, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
const char *log_level_name(enum log_level level); /* "debug", "info", "warn", "error" */
