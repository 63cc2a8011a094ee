/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/err.h"

#include "fabric/base/plain.h"

#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *err, int rc, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return rc;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	plain_text(err->text, "\n\t");
	return rc;
}
