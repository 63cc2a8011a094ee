/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dump_whole: whether a dump has all switches of the fabric. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>

/* seen: by switch; what: "tables", "rows"; path: for the message.  -ENODATA names the first that is
 * missing: the file ended between two switches. */
int dump_whole(const bool *seen, const struct fabric *f, const char *what, const char *path,
	       struct err *err);
