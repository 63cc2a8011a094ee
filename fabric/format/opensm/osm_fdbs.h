/* SPDX-License-Identifier: GPL-2.0-or-later */
/* osm_fdbs: forwarding tables as opensm.fdbs and ibdiagnet2.fdbs, which ibdmchk reads. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdio.h>

/* As osm_lfts_read().  "UNREACHABLE" is no entry.  -ENOTSUP: a switch has private tables. */
int osm_fdbs_read(struct tables **out, FILE *file, const char *path, const struct fabric *f,
		  struct read_report *report, struct err *err);
/* As osm_lfts_read_before(). */
int osm_fdbs_read_before(struct tables **out, FILE *file, const char *path, const struct fabric *f,
			 struct read_report *report, struct err *err);
int osm_fdbs_write(FILE *file, const struct fabric *f, const struct tables *t, struct err *err);
