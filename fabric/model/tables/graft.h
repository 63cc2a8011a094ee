/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graft: tables of a fabric, kept for the same switches and cables with other hosts.
 *
 * A host that is away keeps its entries, one whose LID has changed takes them along.  One that has
 * come is routed like the host that was on its port before, or like a host of the same leaf
 * switch: the same channels, SLs and VLs up to the leaf switch, so no channel dependency is added
 * and no path between others moves.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/endports.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_report {
	uint32_t away, came, relabelled; /* end ports: gone, new, with another LID or port */
};

/* "2 hosts' ports away, 1 new"; false, and "", where nothing differs. */
bool graft_report_text(char *buf, size_t size, const struct graft_report *r);

/*
 * t, of the fabric that was is of, for f; the caller owns one reference.  -ESTALE, with the
 * reason: the switches or the cables between them are others, the LMC is, or a host has come to a
 * switch that had none to route it like.  The result is to be verified as any other tables.
 * O(switches * LIDs).
 */
int tables_graft(struct tables **out, const struct fabric *f, const struct tables *t,
		 const struct endports *was, struct graft_report *report, struct err *err);
