/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/sar_method.h"

#include <errno.h>
#include <string.h>

static const char *const methods[] = {
	[SAR_LEAFWISE] = "leafwise",
	[SAR_PAPER] = "paper",
	[SAR_PATCH] = "patch",
};

#define NMETHODS (sizeof(methods) / sizeof(*methods))

const char *sar_method_name(enum sar_method method)
{
	return methods[method];
}

int sar_method_parse(enum sar_method *out, const char *text, struct err *err)
{
	for (size_t i = 0; i < NMETHODS; i++) {
		if (strcmp(methods[i], text))
			continue;
		*out = (enum sar_method)i;
		return 0;
	}
	return err_set(err, -EINVAL,
		       "there is no method \"%s\" of sar; choose leafwise, paper or patch", text);
}
