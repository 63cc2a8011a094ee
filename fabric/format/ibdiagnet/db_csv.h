/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * db_csv: nodes, ports and links of ibdiagnet2.db_csv.
 *
 * The file is made of sections, each from START_NAME to END_NAME: a line that names the columns,
 * then a row a line.  Releases differ in columns and sections; what is not needed is left alone.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/model/topology/builder.h"

#include <stdbool.h>
#include <stdio.h>

/* Is this how such a file begins?  head is a string. */
bool db_csv_begins(const char *head);

/* Adds the file's nodes and links to b.  -EINVAL: no such file, or a section without a column that
 * is needed.  A node without a row of its own, a link that contradicts an earlier one, and a
 * section without an end are gaps of the report. */
int db_csv_read(struct builder *b, FILE *file, const char *path, struct read_report *report,
		struct err *err);
