/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lid_choice: which of the LIDs of a port a message should be sent to, by its size (SC19 Table 1).
 *
 * Switches are in classes, the quadrants of a HyperX; a pair of classes has one choice, and
 * single pairs of switches may differ from it, where cables are missing.
 */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdint.h>

/* Offsets to the base LID as bits; any of those set will do. */
struct lid_set {
	uint32_t small, large;
};

struct lid_except {
	uint32_t src, dst; /* switches */
	struct lid_set lids;
};

struct lid_choice {
	char topology[112]; /* "hyperx 12x8" */
	uint8_t lmc;	    /* offsets are below 2^lmc, and below 32 */
	uint32_t nsw;
	uint32_t nclass;
	uint32_t *class;      /* by switch */
	uint32_t *quadrant;   /* by class: 0 up to the next power of two, less one */
	struct lid_set *lids; /* by class of the source * nclass + that of the destination */
	uint32_t nexcept;
	struct lid_except *except; /* ascending by source, then destination */
	struct arena *arena;
};

/* Zeroed but for the sizes; the caller owns it. */
struct lid_choice *lid_choice_new(uint32_t nsw, uint32_t nclass, uint32_t nexcept);
void lid_choice_free(struct lid_choice *c); /* NULL is fine */

/* For messages from terminals on one switch to those on another; all LIDs when it is the same
 * switch.  O(log exceptions). */
struct lid_set lid_choice_get(const struct lid_choice *c, uint32_t src, uint32_t dst);
