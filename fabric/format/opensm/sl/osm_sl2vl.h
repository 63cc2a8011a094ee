/* SPDX-License-Identifier: GPL-2.0-or-later */
/* osm_sl2vl: the mapping of SLs on VLs as OpenSM's opensm-sl2vl.dump. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdio.h>

/* Sets the SL2VL of t (which the caller must own alone) in the cheapest form that holds what
 * the file says; ports that the file leaves out keep the identity.  -EINVAL: not such a dump,
 * or none of its switches is in f. */
int osm_sl2vl_read(struct tables *t, FILE *file, const char *path, const struct fabric *f,
		   struct read_report *report, struct err *err);
int osm_sl2vl_write(FILE *file, const struct fabric *f, const struct tables *t, struct err *err);
