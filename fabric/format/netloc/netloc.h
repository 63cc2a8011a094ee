/* SPDX-License-Identifier: GPL-2.0-or-later */
/* netloc: fabrics and paths as Open MPI's netloc stores them (JSON, gzipped or not). */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/builder.h"
#include "fabric/model/topology/fabric.h"

/* Adds the nodes and edges of a ...-nodes.ndat file to b.  Here and below fd is open and at its
 * beginning, path is for messages. */
int netloc_nodes_read_fd(struct builder *b, int fd, const char *path, struct read_report *report,
			 struct err *err);
/* Tables of engine "file" from a ...-log-paths.ndat (or -phy-paths) file; nodes_path is the
 * nodes file of the same fabric, which defines the numbers of the edges.  Two paths that
 * contradict each other at a switch are a warning; the first one holds. */
int netloc_paths_read_fd(struct tables **out, int fd, const char *path, int nodes_fd,
			 const char *nodes_path, const struct fabric *f, struct read_report *report,
			 struct err *err);
