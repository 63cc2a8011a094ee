/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/process/stderrlog.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct stderrlog {
	const char *area;
	int saved; /* the real stderr */
	int pipe_out;
	int stop; /* eventfd */
	pthread_t thread;
	size_t n;
	char line[256];
};

static void stderrlog_flush_line(struct stderrlog *s)
{
	if (s->n)
		log_add(LOG_INFO, s->area, "%.*s", (int)s->n, s->line);
	s->n = 0;
}

/* Everything that is in the pipe now. */
static void stderrlog_drain(struct stderrlog *s)
{
	char buf[1024];
	ssize_t got;

	while ((got = read(s->pipe_out, buf, sizeof(buf))) > 0)
		for (ssize_t i = 0; i < got; i++) {
			if (buf[i] == '\n' || s->n == sizeof(s->line))
				stderrlog_flush_line(s);
			if ((unsigned char)buf[i] >= 0x20)
				s->line[s->n++] = buf[i];
		}
}

/* A child may keep the pipe's write end open: an eventfd signals the end instead. */
static void *stderrlog_reader(void *arg)
{
	struct stderrlog *s = arg;
	struct pollfd fds[2] = { { .fd = s->pipe_out, .events = POLLIN },
				 { .fd = s->stop, .events = POLLIN } };

	do {
		poll(fds, 2, -1);
		stderrlog_drain(s);
	} while (!fds[1].revents);
	stderrlog_flush_line(s);
	return NULL;
}

int stderrlog_start(struct stderrlog **out, const char *area, struct err *err)
{
	struct stderrlog *s = xcalloc(1, sizeof(*s));
	int fds[2] = { -1, -1 }, rc;

	s->area = area;
	fflush(stderr);
	s->saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	s->stop = eventfd(0, EFD_CLOEXEC);
	if (s->saved < 0 || s->stop < 0 || pipe2(fds, O_CLOEXEC) < 0)
		goto fail;
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	s->pipe_out = fds[0];
	if (pthread_create(&s->thread, NULL, stderrlog_reader, s))
		goto fail;
	log_set_stderr(s->saved);
	dup2(fds[1], STDERR_FILENO);
	close(fds[1]);
	*out = s;
	return 0;
fail:
	rc = errno ? -errno : -EAGAIN;
	if (s->saved >= 0)
		close(s->saved);
	if (s->stop >= 0)
		close(s->stop);
	if (fds[0] >= 0) {
		close(fds[0]);
		close(fds[1]);
	}
	free(s);
	return err_set(err, rc, "stderr cannot be redirected to the log: %s", strerror(-rc));
}

void stderrlog_stop(struct stderrlog *s)
{
	if (!s)
		return;
	fflush(stderr);
	dup2(s->saved, STDERR_FILENO);
	log_set_stderr(STDERR_FILENO);
	eventfd_write(s->stop, 1);
	pthread_join(s->thread, NULL);
	close(s->stop);
	close(s->pipe_out);
	close(s->saved);
	free(s);
}
