/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wall_notify: how an update ended, to the terminals of those concerned and to the system's log. */
#pragma once

#include <stdint.h>

/* A line to every terminal on which root or user is logged in (NULL: root only), as wall(1) does,
 * but nobody else's, and to syslog.  A terminal that is stopped is passed over.  Control
 * characters become '?'.  Returns how many terminals took it. */
uint32_t wall_notify(const char *user, const char *text);
