/* SPDX-License-Identifier: GPL-2.0-or-later */
/* later_state: a fabric in which something has gone since, cable by cable. */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct later {
	const bool *chan_gone; /* by channel, either direction of a cable; NULL: none */
	uint32_t sw_gone;      /* with its hosts; FAB_NONE */
	uint32_t end_gone;     /* FAB_NONE */
	uint32_t end_moved;    /* to the switch of the last end; FAB_NONE */
	uint32_t shift;	       /* of all LIDs */
};

#define LATER_NOTHING                                                                              \
	((struct later){ .sw_gone = FAB_NONE, .end_gone = FAB_NONE, .end_moved = FAB_NONE })

/* With names, GUIDs, ports and LIDs as they were; fails the test.  The caller owns it. */
struct fabric *later_state(const struct fabric *f, const struct later *how);
/* Without those n channels and their reverses. */
struct fabric *later_without(const struct fabric *f, const uint32_t *chan, uint32_t n);
/* A cable, as a channel, without which the fabric is still in one piece. */
uint32_t later_cable(const struct fabric *f, uint64_t seed);
