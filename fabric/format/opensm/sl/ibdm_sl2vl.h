/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibdm_sl2vl: the SL2VL file of ibdmchk -d: "0xguid in out 0xAB 0xCD ...", a VL per hex digit. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdio.h>

/* As osm_sl2vl_read(). */
int ibdm_sl2vl_read(struct tables *t, FILE *file, const char *path, const struct fabric *f,
		    struct read_report *report, struct err *err);
int ibdm_sl2vl_write(FILE *file, const struct fabric *f, const struct tables *t, struct err *err);
