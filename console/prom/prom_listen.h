/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prom_listen: GET /metrics over HTTP, by libmicrohttpd in a thread of its own.
 *
 * Clients get the newest text without waiting.  Their number is limited, of all and of an address;
 * invalid ones are disconnected at once, silent ones after 5 s, and after 10 s those whose request or
 * reply is still not through, however often they send a byte.  Where all places are taken, the oldest
 * client goes.
 */
#pragma once

#include "fabric/base/message/err.h"

struct prom_server;

/* where: "PORT", "ADDRESS:PORT", "[IPv6]:PORT"; without an address 127.0.0.1.  Port 0: any that is
 * free.  Prints the URL on stderr.  -EINVAL for an invalid address, -ENOTSUP in a
 * program built without libmicrohttpd, else what the system says. */
int prom_server_start(struct prom_server **out, const char *where, struct err *err);
/* Takes text, from malloc().  Until the first one clients get 503. */
void prom_server_text(struct prom_server *s, char *text);
void prom_server_stop(struct prom_server *s); /* NULL is fine */
