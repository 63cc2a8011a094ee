/* SPDX-License-Identifier: GPL-2.0-or-later */
/* update_reconnect: finds the process that carries an update on after the one before has died. */
#ifndef CONSOLE_SESSION_UPDATE_RECONNECT_H
#define CONSOLE_SESSION_UPDATE_RECONNECT_H

#include "fabric/update/journal.h"
#include "fabric/update/watchdog/control_socket.h"

#include <stdbool.h>
#include <sys/types.h>

/* id: "" while it is not known; then the journal that worker has made is looked for.  stop (may
 * be NULL): give it up.  1: l is connected and follows; 0: nobody works on it, *t is how it was
 * left; -ENOENT: there is no such journal, nothing was written. */
int update_reconnect(struct control_link *l, struct txn_info *t, const char *base, char id[48],
		     pid_t worker, bool (*stop)(void *ctx), void *ctx);

#endif
