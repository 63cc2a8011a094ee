/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load_partitions: OpenSM's partitions.conf (fabric/format/opensm/partitions_conf.h); "-" is stdin.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/partitions/partitions.h"

/* The caller ends *p with partitions_end(), also after an error. */
int load_partitions(struct partitions *p, const char *path, const struct fabric *f,
		    struct err *err);
