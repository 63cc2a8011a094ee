/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * osm_lfts: forwarding tables as OpenSM's opensm-lfts.dump and infiniband-diags' dump_fts
 * (dump_lfts.sh) print them: a heading per switch and a line per LID.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdio.h>

/* Out: tables of engine "file" (SL 0, SL2VL identity), the caller's reference.  path is for
 * messages; report may be NULL.  Switches and LIDs that f does not have are skipped with a
 * warning.  -EINVAL: not a dump of LFTs, or none of its switches is in f. */
int osm_lfts_read(struct tables **out, FILE *file, const char *path, const struct fabric *f,
		  struct read_report *report, struct err *err);
/* The same of an older state of the fabric: switches of f that are not in the dump have no entries.
 */
int osm_lfts_read_before(struct tables **out, FILE *file, const char *path, const struct fabric *f,
			 struct read_report *report, struct err *err);
/* In the form of opensm-lfts.dump.  -EIO. */
int osm_lfts_write(FILE *file, const struct fabric *f, const struct tables *t, struct err *err);
