/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fabrics: several consoles, one for each fabric, of which one has the terminal.
 *
 * Each is a process of its own, with its own record, options, updates and watchdogs: nothing of one
 * fabric can get to another.  The first process only passes the terminal on, tells each of them how
 * the others are, and ends last.
 */
#pragma once

#include "fabric/base/message/err.h"

#include <stddef.h>

/* The console of the i-th fabric, in its own process; link: see fabric_link.h.  Returns its exit
 * code. */
typedef int fabrics_console_fn(void *arg, size_t i, int link);

/* Until the last of them has ended: the exit code, that of the first which has another than 0; or
 * -errno. */
int fabrics_run(const char *const *name, size_t n, fabrics_console_fn *console, void *arg,
		struct err *err);
