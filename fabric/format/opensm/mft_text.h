/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mft_text: multicast tables as opensm.mcfdbs (which ibdmchk reads) and as dump_fts -M, dump_mfts
 * and ibroute -M print them. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/model/multicast/mcast.h"
#include "fabric/model/topology/fabric.h"

#include <stdio.h>

/* Into an empty one, sorted.  -EINVAL: no such dump, or none of its switches is in f; -ENODATA: a
 * part of it is missing. */
int mft_text_read(struct mcast *m, FILE *file, const char *path, const struct fabric *f,
		  struct read_report *report, struct err *err);
