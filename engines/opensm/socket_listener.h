/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * socket_listener: a Unix socket with a name, for root and the user that this process runs as.
 */
#pragma once

#include "fabric/base/message/err.h"

/* Makes the socket's folder (mode 0700) and the socket (0600).  The descriptor, which does not
 * block; -EADDRINUSE: another OpenSM answers there; -EEXIST: something else has that name. */
int socket_listener_open(const char *path, int backlog, struct err *err);
/* The next connection of who is allowed to come in, which does not block; -1: there is none. */
int socket_listener_accept(int listener);
