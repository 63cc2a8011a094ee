/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_name_map: node-name-map files of infiniband-diags, lines of <guid> "<name>", # comments. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/topology/name_map.h"

#include <stdio.h>

/* Adds the names of a file to m; path is for messages.  The first bad line is -EINVAL with
 * file:line, names of the lines above it stay added. */
int node_name_map_read(struct name_map *m, FILE *in, const char *path, struct err *err);
