/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demand_file: what each node (or MPI rank) sends to each other.
 *
 *   n0001: n0002=1048576,n0007=4096        bytes that n0001 sends
 *
 * A line per source; a source may have several, and a pair that comes again adds up.
 * # comments.  With a rank file the names are numbers of ranks, and what the ranks of two nodes
 * exchange adds up to what the nodes do.  Of a node with several ports the bytes are shared:
 * by the pairs of its first, second, ... port with the other's when both have as many ports,
 * else by all pairs of ports.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/format/site/rank_file.h"
#include "fabric/model/traffic/demand.h"

#include <stdio.h>

/* ranks: NULL when the file names nodes.  Nodes that the fabric does not have, and ranks on such
 * nodes, are left out with a warning.  -EINVAL with file:line for a line that is none of these, a
 * rank that the rank file does not have, and a file of which nothing is left. */
int demand_file_read(struct demand **out, FILE *file, const char *path,
		     const struct rank_file *ranks, const struct fabric *f,
		     struct read_report *report, struct err *err);
