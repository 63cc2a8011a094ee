/* SPDX-License-Identifier: GPL-2.0-or-later */
/* osm_subnet: nodes and links as OpenSM's opensm-subnet.lst, which ibdmchk reads. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/model/topology/builder.h"
#include "fabric/model/topology/fabric.h"

#include <stdio.h>

/* Adds the file's nodes and links to b.  -EINVAL: not such a list.  A node without a line of its
 * own, a link that contradicts an earlier one, and an end in the middle of a line are gaps of the
 * report.  The file does not have the LMC: if it is not 0, freeze_opts.lmc must be set. */
int osm_subnet_read(struct builder *b, FILE *file, const char *path, struct read_report *report,
		    struct err *err);
/* Every link once per direction. */
int osm_subnet_write(FILE *file, const struct fabric *f, struct err *err);
