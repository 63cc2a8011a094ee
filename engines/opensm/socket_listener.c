/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/socket_listener.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A socket without anybody behind it is what a killed OpenSM leaves. */
static int socket_listener_clear_path(const struct sockaddr_un *at, struct err *err)
{
	struct stat st;
	int fd, rc;

	if (lstat(at->sun_path, &st))
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(err, -EEXIST, "%s exists and is not a socket", at->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	rc = fd < 0 ? -1 : connect(fd, (const struct sockaddr *)at, sizeof(*at));
	if (fd >= 0)
		close(fd);
	if (!rc)
		return err_set(err, -EADDRINUSE, "another OpenSM responds at %s", at->sun_path);
	unlink(at->sun_path);
	return 0;
}

static int socket_listener_make_folder(const char *path, struct err *err)
{
	char *dir = xstrdup(path), *slash = strrchr(dir, '/');
	int rc = 0;

	if (slash && slash != dir) {
		*slash = '\0';
		if (mkdir(dir, 0700) && errno != EEXIST)
			rc = err_set(err, -errno, "%s cannot be made: %s", dir, strerror(errno));
	}
	free(dir);
	return rc;
}

/* The mode of the open socket is that of its name from the beginning. */
static int socket_listener_bind(int fd, const struct sockaddr_un *at, int backlog, struct err *err)
{
	if (fd < 0 || fchmod(fd, 0600) || bind(fd, (const struct sockaddr *)at, sizeof(*at)) ||
	    chmod(at->sun_path, 0600) || listen(fd, backlog))
		return err_set(err, -errno, "no socket at %s: %s", at->sun_path, strerror(errno));
	return 0;
}

int socket_listener_open(const char *path, int backlog, struct err *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd, rc;

	if (strlen(path) >= sizeof(at.sun_path))
		return err_set(err, -ENAMETOOLONG, "%s: a socket's path has at most %zu characters",
			       path, sizeof(at.sun_path) - 1);
	strcpy(at.sun_path, path);
	rc = socket_listener_make_folder(path, err);
	if (!rc)
		rc = socket_listener_clear_path(&at, err);
	if (rc)
		return rc;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	rc = socket_listener_bind(fd, &at, backlog, err);
	if (rc && fd >= 0)
		close(fd);
	return rc ? rc : fd;
}

static bool socket_listener_may_come_in(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		return false;
	return !peer.uid || peer.uid == geteuid();
}

int socket_listener_accept(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0 || socket_listener_may_come_in(fd))
		return fd;
	close(fd);
	return -1;
}
