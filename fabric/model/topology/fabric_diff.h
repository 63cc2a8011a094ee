/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fabric_diff: what differs between two fabrics, or one fabric at two times: nodes, cables, LIDs,
 * descriptions and speeds of links.
 *
 * Nodes are the same when their GUIDs are (of a CA or router: the port GUID).  Of a node that is
 * only in one of them its cables are not listed as well.
 */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stddef.h>

enum fabric_diff_change { FDIFF_GONE, FDIFF_NEW, FDIFF_CHANGED };

struct fabric_diff_row {
	enum fabric_diff_change change;
	const char *what;      /* "switch", "host", "cable", "lid", "name", "link" */
	char *subject;	       /* "leaf1", "leaf1/17 - spine4/3" */
	char *before, *after;  /* of CHANGED, else "" */
	uint64_t guid, guid_b; /* of the node; of a cable both ends, else guid_b is 0 */
	uint8_t port, port_b;  /* of a cable or link */
	bool slower;	       /* of a link: its data rate is less than before */
};

struct fabric_diff {
	struct fabric_diff_row
		*row; /* nodes, then cables, then what changed of those that are in both */
	size_t n, cap;
};

/* The caller frees it with fabric_diff_free().  What only one of the two knows (LIDs of a file
 * without them, speeds) is no difference.  O(ports + nodes log nodes). */
struct fabric_diff *fabric_diff_new(const struct fabric *before, const struct fabric *after);
void fabric_diff_free(struct fabric_diff *d); /* NULL is fine */

const char *fabric_diff_change_name(enum fabric_diff_change c); /* "gone", "new", "changed" */
