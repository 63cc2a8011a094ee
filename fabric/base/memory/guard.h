/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guard: what cannot go on ends a call, where it would end the program otherwise.
 *
 * mem.h and digest.h do not report errors: for want of memory, or of SHA-256 in libcrypto, they
 * give up.  That ends the program, unless the thread is in a guarded call: then that returns
 * -errno. A plugin has no program of its own to end and guards whatever its host calls.
 *
 * A guarded call is left as by longjmp(): what it has allocated and not yet handed out is lost, and
 * a lock that it holds stays locked.  So it must not allocate while it holds a lock, nor wait for
 * threads (pool.h) that may give up instead of it, and what needs much memory belongs into
 * isolate.h, where nothing is lost.
 */
#pragma once

#include "fabric/base/message/err.h"

/* fn's result, or what it has given up with.  May be nested: the innermost one returns. */
int guarded_call(int (*fn)(void *ctx, struct err *err), void *ctx, struct err *err);

/* rc: -errno.  Outside of a guarded call prints the sentence to stderr and exits with 255, or does
 * what guard_set_end() said. */
_Noreturn void guard_give_up(int rc, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* How this process ends where nothing guards it; end must not return.  NULL: as above. */
void guard_set_end(void (*end)(int rc, const char *sentence));
