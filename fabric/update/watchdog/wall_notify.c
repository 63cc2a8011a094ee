/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/watchdog/wall_notify.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>
#include <utmpx.h>

static bool wall_notify_write_one(const char *tty, const char *line)
{
	char path[sizeof("/dev/") + __UT_LINESIZE];
	size_t len = strlen(line);
	struct stat st;
	bool ok;
	int fd;

	snprintf(path, sizeof(path), "/dev/%.*s", __UT_LINESIZE, tty);
	if (strstr(path, ".."))
		return false;
	fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ok = !fstat(fd, &st) && S_ISCHR(st.st_mode) && isatty(fd) &&
	     write(fd, line, len) == (ssize_t)len;
	close(fd);
	return ok;
}

static bool wall_notify_concerns(const struct utmpx *u, const char *user)
{
	return u->ut_type == USER_PROCESS &&
	       (!strncmp(u->ut_user, "root", sizeof(u->ut_user)) ||
		(user && !strncmp(u->ut_user, user, sizeof(u->ut_user))));
}

uint32_t wall_notify(const char *user, const char *text)
{
	char *clean = plain_text(xstrdup(text), ""), *line;
	const struct utmpx *u;
	uint32_t n = 0;

	syslog(LOG_DAEMON | LOG_NOTICE, "ibroute-top: %s", clean);
	line = xasprintf("\r\n\aibroute-top: %s\r\n", clean);
	setutxent();
	while ((u = getutxent()))
		n += wall_notify_concerns(u, user) && wall_notify_write_one(u->ut_line, line);
	endutxent();
	free(line);
	free(clean);
	return n;
}
