/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sim_remote: a simulated fabric for other processes of the same user on this machine.
 *
 * The owner of the simulator serves it at a Unix socket; another process opens a port there that
 * is like any other (mad.h), with the simulator's faults.  Management datagrams are sent
 * unchanged in both directions, many in one message.  Simulators with a virtual clock cannot be
 * served.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/ib/mad.h"

#include <stdbool.h>
#include <stdint.h>

struct sim;
struct sim_server;

/* Serves ports of that terminal at DIR/name (mode 0600), in a thread of its own.  The simulator
 * must outlive the server.  -errno. */
int sim_server_start(struct sim_server **out, struct sim *s, uint32_t term, const char *dir,
		     const char *name, struct err *err);
/* Whoever is connected finds that the fabric is gone.  NULL is fine. */
void sim_server_stop(struct sim_server *s);

/* -ENOLINK: nobody serves a simulator there (any more).  Every function of the port returns that,
 * too, once the server has stopped or its process has died. */
int sim_remote_open(struct mad_port *out, const char *path, struct err *err);
/* Has the server of such a port gone?  For the thread that uses the port. */
bool sim_remote_gone(const struct mad_port *port);
