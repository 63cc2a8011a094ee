/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load_io_nodes: which hosts are for storage and I/O.
 *
 * Text: a host list (n[0901-0916],io1), a file of GUIDs and host lists, "opensm" or "opensm:FILE"
 * (the io_guid_file that opensm.conf names), or "feature:NAME" (nodes of the SLURM that runs, by a
 * feature of theirs; takes up to 20 s).  Files are read by a process of their own.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/topology/name_map.h"

/* Adds them to *names, which is made where it is NULL.  -errno with file and line. */
int load_io_nodes(struct name_map **names, const char *text, struct err *err);
/* -ENOENT where a fabric that was frozen with them has none of them. */
int load_io_nodes_found(const struct fabric *f, const char *text, struct err *err);
