/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * osm_neighbors: the cables that OpenSM keeps in its cache, /var/cache/opensm/neighbors: lines of
 * "0xguid:port 0xguid:port", from either end, port GUIDs (of a switch: its own for all its ports).
 *
 * The file does not distinguish switches from hosts: a node with more than one port in it is a
 * switch.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/format/opensm/guid2lid.h"
#include "fabric/model/topology/builder.h"

#include <stdbool.h>
#include <stdio.h>

/* Is this how such a file begins?  head is a string. */
bool osm_neighbors_begin(const char *head);

struct osm_cable {
	uint64_t guid[2]; /* of the ports */
	uint32_t port[2];
	uint64_t line;
};

/* The file's cables, in its order; the caller frees *out.  A last line without an end is left out,
 * a gap of the report.  -EINVAL: none. */
int osm_neighbors_cables(struct osm_cable **out, uint32_t *n, FILE *file, const char *path,
			 struct read_report *report, struct err *err);

/* Adds the file's nodes and cables to b; lids, n of them, may be NULL.  -EINVAL: no such file, or
 * two cables on one port (the sentence has file and line). */
int osm_neighbors_read(struct builder *b, FILE *file, const char *path, const struct guid_lid *lids,
		       uint32_t n, struct read_report *report, struct err *err);
