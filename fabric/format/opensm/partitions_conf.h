/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partitions_conf: OpenSM's partitions.conf, as opensm(8) describes it and OpenSM takes it. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/model/partitions/partitions.h"

#include <stdio.h>

/* Into one that partitions_begin() has made.  The first partition is the default one.  -EINVAL: a
 * line for which OpenSM would leave the whole file aside; -E2BIG: too many partitions. */
int partitions_conf_read(struct partitions *p, FILE *file, const char *path, const struct fabric *f,
			 struct read_report *report, struct err *err);
