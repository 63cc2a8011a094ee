/* SPDX-License-Identifier: GPL-2.0-or-later */
/* auto_run: the automatic mode as a service: no terminal, one line on stdout for what it does. */
#ifndef CONSOLE_SESSION_AUTO_RUN_H
#define CONSOLE_SESSION_AUTO_RUN_H

#include "console/app/app_opts.h"

/* Until SIGTERM or SIGINT, which leave an update under way to its own process.  The exit code. */
int auto_run(const struct app_opts *o);

#endif
