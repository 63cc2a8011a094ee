/* SPDX-License-Identifier: GPL-2.0-or-later */
/* path_sl: the SL of each path, a line "0xsrc_guid dlid sl" each, as ibdmchk -c reads it. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdio.h>

/* Sets the SLs of t (owned by the caller alone) in the cheapest form that holds the file's:
 * constant, by destination LID, by source switch, by source terminal.  The GUID is that of
 * the source's port or, when the node has one port, of its node.  A path that the file does not
 * name has SL 0.  -EINVAL: no usable line. */
int path_sl_read(struct tables *t, FILE *file, const char *path, const struct fabric *f,
		 struct read_report *report, struct err *err);
/* A line per source terminal and LID of every other terminal and every switch:
 * O(terminals^2 * 2^lmc) lines. */
int path_sl_write(FILE *file, const struct fabric *f, const struct tables *t, struct err *err);
