/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/jobs/poller_pipe.h"

#include "fabric/base/file/store.h"
#include "fabric/base/time/clock.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool poller_pipe_args(uint32_t *interval_ms, int argc, char **argv)
{
	*interval_ms = 10000;
	if (argc == 3 && !strcmp(argv[1], "--interval-ms"))
		*interval_ms = (uint32_t)strtoul(argv[2], NULL, 10);
	else if (argc != 1)
		return false;
	if (*interval_ms < 100)
		*interval_ms = 100;
	return true;
}

int poller_pipe_stdout(void)
{
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	if (fd >= 0)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	return fd;
}

bool poller_pipe_wait(uint32_t ms)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	uint64_t end = clock_ms() + ms;
	int64_t left = ms;
	char drop[64];

	do {
		int rc = poll(&in, 1, (int)left);

		if (rc > 0 && read(STDIN_FILENO, drop, sizeof(drop)) <= 0)
			return false;
		left = (int64_t)(end - clock_ms());
	} while (left > 0);
	return true;
}

static bool poller_pipe_put(int fd, char *lines, size_t len)
{
	int rc = store_put(fd, lines, len);

	free(lines);
	return !rc;
}

bool poller_pipe_text(int fd, enum jobwire_type type, const char *text)
{
	size_t len;
	char *lines = jobwire_text(&len, type, time(NULL), text);

	return poller_pipe_put(fd, lines, len);
}

bool poller_pipe_list(int fd, const struct job_list *l)
{
	size_t len;
	char *lines = jobwire_list(&len, l);

	return poller_pipe_put(fd, lines, len);
}
