/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/memory/guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct guard {
	jmp_buf back;
	struct guard *outer;
	struct err *err;
	int rc;
};

static _Thread_local struct guard *innermost;
static void (*guard_end)(int rc, const char *sentence);

int guarded_call(int (*fn)(void *ctx, struct err *err), void *ctx, struct err *err)
{
	struct guard g = { .outer = innermost, .err = err };

	innermost = &g;
	if (!_setjmp(g.back))
		g.rc = fn(ctx, err);
	innermost = g.outer;
	return g.rc;
}

void guard_give_up(int rc, const char *fmt, ...)
{
	struct guard *g = innermost;
	struct err why;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why.text, sizeof(why.text), fmt, ap);
	va_end(ap);
	if (g) {
		g->rc = err_set(g->err, rc, "%s", why.text);
		_longjmp(g->back, 1);
	}
	if (guard_end)
		guard_end(rc, why.text);
	fprintf(stderr, "ibroute-top: %s\n", why.text);
	exit(255);
}

void guard_set_end(void (*end)(int rc, const char *sentence))
{
	guard_end = end;
}
