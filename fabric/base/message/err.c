/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/message/err.h"

#include "fabric/base/message/plain.h"

#include <stdarg.h>

int err_set(struct err *err, int rc, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return rc;
	va_start(ap, fmt);
	plain_vformat(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return rc;
}
