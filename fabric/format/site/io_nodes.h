/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io_nodes: which hosts are for storage and I/O, as administrators have it in files.
 *
 * A list: lines of a port or node GUID (as OpenSM's io_guid_file; what follows it is a comment) or
 * of a host list.  opensm.conf: the file that it names as io_guid_file.  Nodes of SLURM: lines of a
 * name and its features, as sinfo -N -o "%N %b" writes them.
 */
#pragma once

#include "fabric/base/message/err.h"

#include <stdint.h>
#include <stdio.h>

/* Each is called with what a line names: a GUID (hosts NULL), or a host list. */
typedef void io_nodes_fn(void *ctx, uint64_t guid, const char *hosts);

/* -EINVAL with file and line. */
int io_nodes_read(FILE *file, const char *path, io_nodes_fn *fn, void *ctx, struct err *err);
/* The value of io_guid_file, which the caller frees; -ENODATA: it has none. */
int io_nodes_read_conf(char **out, FILE *file, const char *path, struct err *err);
/* The nodes that have this feature. */
int io_nodes_read_features(FILE *file, const char *path, const char *feature, io_nodes_fn *fn,
			   void *ctx, struct err *err);
