/* SPDX-License-Identifier: GPL-2.0-or-later */
/* route_folder: the files that "route" leaves in its folder. */
#pragma once

#include "console/plan/route_report.h"

#include <jansson.h>

#define PATH_SL_TERMINALS 4000 /* above, path-sl.dump only when --formats names it */

/*
 * Writes tables.ibr, the files of the formats (enum output_format) and, last, summary.json,
 * which it completes with keys "files" and "left_out".  Each file is whole or absent; the folder
 * is made where needed.
 */
int route_folder_write(const char *dir, const struct route_report *e, unsigned formats,
		       json_t *summary, struct err *err);
/* The files of the formats alone; path-sl.dump only when the service levels are known, those
 * of SL2VL only when these are. */
int route_folder_tables(const char *dir, const struct fabric *f, const struct tables *t,
			unsigned formats, bool sls_known, struct err *err);
