/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lid_policy: a guid2lid file for OpenSM that encodes the quadrant of a port in its LID, as the
 * MPI library of SC19 finds it: quadrant q = LID / 1000, and 10000 more for switches.
 *
 * With more than ten quadrants, or more LIDs in one than fit, the blocks are larger: still whole
 * thousands, and all of terminals before those of switches.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/tables/lid_choice.h"
#include "fabric/model/topology/fabric.h"

#include <stdint.h>
#include <stdio.h>

struct lid_policy {
	uint32_t block;	   /* LIDs of a quadrant's terminals: q = LID / block */
	uint32_t switches; /* LID of the first quadrant's first switch; blocks of sw_block */
	uint32_t sw_block;
};

/* A line "0xguid 0xlid_min 0xlid_max" per CA port, all ports with 2^lmc LIDs of the fabric, and per
 * switch, and an empty line behind each, without which OpenSM 3.3 takes the first alone; ports
 * in the order of switch and port.  It goes into OSM_CACHE_DIR (/var/cache/opensm) before OpenSM
 * starts, with honor_guid2lid_file TRUE.  out may be NULL.  -ENOSPC with the numbers
 * when the unicast LIDs are not enough. */
int lid_policy_write(FILE *file, const struct fabric *f, const struct lid_choice *c,
		     struct lid_policy *out, struct err *err);
