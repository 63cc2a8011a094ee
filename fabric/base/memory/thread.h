/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thread: starts a named thread, and says why where the system has no more. */
#pragma once

#include "fabric/base/message/err.h"

#include <pthread.h>

/* name: of at most 15 characters, as debuggers and ps show it.  0, or -errno with a sentence and
 * *out as it was. */
int thread_start(pthread_t *out, const char *name, void *(*run)(void *arg), void *arg,
		 struct err *err);
