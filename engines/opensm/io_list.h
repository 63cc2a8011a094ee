/* SPDX-License-Identifier: GPL-2.0-or-later */
/* io_list: which hosts of OpenSM's fabric are for storage and I/O. */
#pragma once

#include "engines/opensm/policy.h"
#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"

/* Makes those of f storage that the policy (may be NULL) names as io-nodes: a host list, or a file
 * beside it as io_nodes.h has it, which a process of its own reads; where it says nothing those of
 * guid_file, OpenSM's io_guid_file (may be NULL).  f must still be the caller's alone.  Returns how
 * many; -errno: none could be read. */
int io_list_mark(struct fabric *f, const struct policy *p, const char *policy_path,
		 const char *guid_file, struct err *err);
