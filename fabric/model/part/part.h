/* SPDX-License-Identifier: GPL-2.0-or-later */
/* part: a fabric of which parts have gone, as a sweep would find it: what the most hosts are on. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

/* What is gone; NULL: nothing of the kind. */
struct part_loss {
	const bool *chan; /* by channel: its cable, if it or the other direction is */
	const bool *sw;	  /* by switch, with all on it */
	const bool *term; /* by terminal and other end: its cable */
};

struct part_report {
	uint32_t hosts_cut, switches_cut; /* with those that are gone themselves */
};

/*
 * LIDs, ports, names and rates are those of f, the fingerprint is another (tables_carry()).  Of
 * pieces without a path between them it is the one with the most hosts, of these the one with the
 * switch of the lowest GUID.  -EINVAL: no host is left.  The caller owns one reference.
 */
int fabric_part(struct fabric **out, const struct fabric *f, const struct part_loss *loss,
		struct part_report *report, struct err *err);
