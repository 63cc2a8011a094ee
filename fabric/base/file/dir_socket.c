/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/file/dir_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* By way of the folder's descriptor. */
static struct sockaddr_un dir_socket_address(int dir, const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/%s", dir, name);
	return a;
}

int dir_socket_listen(int fd, int dir, const char *name, int backlog)
{
	struct sockaddr_un a = dir_socket_address(dir, name);

	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || fchmodat(dir, name, 0600, 0) ||
	    listen(fd, backlog))
		return -errno;
	return 0;
}

int dir_socket_connect(int fd, int dir, const char *name)
{
	struct sockaddr_un a = dir_socket_address(dir, name);

	return connect(fd, (struct sockaddr *)&a, sizeof(a)) ? -errno : 0;
}
