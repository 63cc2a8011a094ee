/* SPDX-License-Identifier: GPL-2.0-or-later */
/* osm_tables: what osm_clock left of a run of OpenSM: PREFIX.lids, .lft, .sl and .json. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/builder.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>

/* The fabric of b with OpenSM's LIDs, and its tables; the caller owns a reference of what is there,
 * also after an error, and b.  SLs of terminals on the first port of their node. */
int osm_tables_read(struct fabric **f, struct tables **t, struct builder *b, const char *prefix,
		    struct err *err);
/* Did it say them all? */
bool osm_tables_know_sls(const char *prefix);
