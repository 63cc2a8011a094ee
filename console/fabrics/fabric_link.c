/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/fabrics/fabric_link.h"

#include <errno.h>
#include <sys/socket.h>

int fabric_link_send(int fd, const struct fabric_msg *m)
{
	ssize_t n;

	do
		n = send(fd, m, sizeof(*m), MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int fabric_link_take(int fd, struct fabric_msg *m)
{
	ssize_t n;

	do
		n = recv(fd, m, sizeof(*m), MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? -EAGAIN : -EPIPE;
	return n == (ssize_t)sizeof(*m) ? 0 : -EPIPE;
}
