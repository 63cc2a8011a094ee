/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/message/log.h"

#include "fabric/base/message/plain.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Those who log only read: whoever waits in a sink, for a lock that another thread has while that
 * one logs, does not make it wait. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static log_sink_fn sink;
static void *sink_ctx;
static int stderr_fd = STDERR_FILENO;

void log_set_sink(log_sink_fn fn, void *ctx)
{
	pthread_rwlock_wrlock(&lock);
	sink = fn;
	sink_ctx = ctx;
	pthread_rwlock_unlock(&lock);
}

void log_set_stderr(int fd)
{
	pthread_rwlock_wrlock(&lock);
	stderr_fd = fd;
	pthread_rwlock_unlock(&lock);
}

const char *log_level_name(enum log_level level)
{
	static const char *const names[] = { "debug", "info", "warn", "error" };

	return names[level];
}

void log_add(enum log_level level, const char *area, const char *fmt, ...)
{
	struct log_line line = { .level = level };
	struct timespec ts;
	va_list ap;

	clock_gettime(CLOCK_REALTIME, &ts);
	line.time_ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	snprintf(line.area, sizeof(line.area), "%s", area);
	va_start(ap, fmt);
	plain_vformat(line.text, sizeof(line.text), fmt, ap);
	va_end(ap);

	pthread_rwlock_rdlock(&lock);
	if (sink)
		sink(sink_ctx, &line);
	else if (level >= LOG_WARN)
		dprintf(stderr_fd, "ibroute-top: %s: %s: %s\n", log_level_name(level), area,
			line.text);
	pthread_rwlock_unlock(&lock);
}
