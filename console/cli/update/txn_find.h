/* SPDX-License-Identifier: GPL-2.0-or-later */
/* txn_find: updates by what an operator types. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/update/journal/journal.h"

/* The one whose id is, or alone begins with, that; "last" is the newest.  -ENOENT, -EINVAL when
 * several do. */
int txn_find(struct txn_info *out, const char *base, const char *typed, struct err *err);
/* The exit code, the same for all commands, where that failed: EXIT_REFUSED for an id that is none,
 * EXIT_UNREADABLE for journals that cannot be read. */
int txn_find_exit(int rc);
