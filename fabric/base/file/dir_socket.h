/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dir_socket: Unix sockets by a name in an open folder, whose path may be longer than the address of
 * a socket. */
#pragma once

/* Binds fd to the name, for this user alone, and listens; 0 or -errno. */
int dir_socket_listen(int fd, int dir, const char *name, int backlog);
int dir_socket_connect(int fd, int dir, const char *name); /* 0 or -errno */
