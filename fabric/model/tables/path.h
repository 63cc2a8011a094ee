/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path: the path of one packet through the tables, switch by switch, as ibtracert shows it, with
 * the VL at every output port.
 *
 * An end is an index as in fabric.h: a terminal or other CA port, or nend + sw for a switch's
 * port 0.  The VL on a host's own cable is the host's affair and not in here.
 */
#pragma once

#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATH_HOPS 128 /* switches; more is given up as PATH_LONG */

enum path_fate {
	PATH_ARRIVES,
	PATH_NO_LID,   /* nobody owns the LID */
	PATH_NO_ENTRY, /* a switch has no entry for it */
	PATH_NOWHERE,  /* an entry leads to a port without a cable */
	PATH_STRANGER, /* it is delivered to somebody else */
	PATH_LOOP,     /* it comes back to a switch */
	PATH_DROPPED,  /* an SL2VL table says VL 15 */
	PATH_LONG,     /* no end after PATH_HOPS switches */
};

struct path_hop {
	uint32_t sw;
	uint8_t in;    /* 0: the switch's own port */
	uint8_t out;   /* FAB_NO_PORT: no entry; 0: delivered to the switch itself */
	uint8_t vl;    /* on the channel; VL_DROP: dropped; VL_UNREAD; 0 where there is none */
	uint32_t chan; /* that leaves by out; FAB_NONE at the end */
};

struct path {
	uint32_t src; /* end */
	uint32_t dst; /* owner of the LID, or FAB_NONE */
	uint16_t dlid;
	uint8_t sl;
	enum path_fate fate;
	uint32_t nhop;	/* switches on the path, at least 1 */
	uint32_t links; /* of them left by a channel to another switch */
	struct path_hop hop[PATH_HOPS];
};

/* Follows the tables from an end to a LID. src < nend + nsw; the tables must be of f.  Tables as
 * found do not hold SLs: these paths are taken to have SL 0.  O(hops^2). */
void path_walk(struct path *out, const struct fabric *f, const struct tables *t, uint32_t src,
	       uint16_t dlid);

/* "arrives", "no entry on leaf3", ...: a few words, returns buf. */
const char *path_fate_text(char *buf, size_t len, const struct path *p, const struct fabric *f);

/* Do they agree in their hop i: same switch, output port and VL?  False where one has ended. */
bool path_hop_same(const struct path *a, const struct path *b, uint32_t i);
/* The first hop in which they differ, or FAB_NONE. */
uint32_t path_differs(const struct path *a, const struct path *b);
