/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load_tables: tables, SLs and SL2VL tables from any file that we can read, told apart by what is
 * in them.  "-" is stdin.  Warnings of the readers go to the log. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

/* opensm-lfts.dump and the like, opensm.fdbs, our tables.ibr, what a saved plan is to install, or
 * netloc's X-log-paths.ndat, beside which X-nodes.ndat must be; or a folder with tables.ibr, as
 * route and snapshots write it.  Where they are of an older state of the fabric: with its present
 * hosts if the switches and cables are the same (graft.h), else as below. */
int load_tables(struct tables **out, const char *path, const struct fabric *f, struct err *err);

/* Of any older state of the fabric what still stands, and no paths for hosts that are new
 * (fabric/model/tables/carry.h); with a line of the log that tells what has changed since. */
int load_tables_before(struct tables **out, const char *path, const struct fabric *f,
		       struct err *err);

/* Into tables that the caller alone owns: path-sl lines; opensm-sl2vl.dump or the form of
 * ibdmchk. */
int load_path_sl(struct tables *t, const char *path, const struct fabric *f, struct err *err);
int load_sl2vl(struct tables *t, const char *path, const struct fabric *f, struct err *err);
