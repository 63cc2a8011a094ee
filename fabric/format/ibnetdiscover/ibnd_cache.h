/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ibnd_cache: what 'ibnetdiscover --cache FILE' writes and the diags' --load-cache reads.
 *
 * Numbers are little-endian: a head of magic, version, counts of nodes and ports, then the nodes
 * with their SwitchInfo, NodeInfo and NodeDescription, then the ports with their PortInfo, each
 * naming the port behind its cable by port GUID and number.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/model/topology/builder.h"

#include <stdbool.h>
#include <stdio.h>

/* Is this how such a file begins?  head has at least 4 bytes. */
bool ibnd_cache_begins(const char *head);

/* Adds the file's nodes and cables to b.  path is for messages only; report may be NULL: a cable
 * whose other end has no record, and ports behind the end of a file that was cut off, are gaps of
 * it.  -EINVAL: no cache, or of a version that we do not know; -ENODATA: cut off before there is
 * a cable. */
int ibnd_cache_read(struct builder *b, FILE *file, const char *path, struct read_report *report,
		    struct err *err);
