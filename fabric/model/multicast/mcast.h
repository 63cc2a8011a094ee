/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mcast: the multicast forwarding tables of a fabric: through which ports a switch sends on what
 * comes in for a group. */
#pragma once

#include "fabric/base/file/bytes_io.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MCAST_LID_MIN 0xc000u
#define MCAST_LID_MAX 0xfffeu

/* Ordered by group, switch, port. */
struct mcast_entry {
	uint16_t mlid;
	uint16_t port; /* 0: the switch itself */
	uint32_t sw;
};

struct mcast {
	struct mcast_entry *v;
	size_t n, cap;
};

/* In any order, and again; mcast_sort() when all are there. */
void mcast_add(struct mcast *m, uint16_t mlid, uint32_t sw, uint8_t port);
void mcast_sort(struct mcast *m);
void mcast_end(struct mcast *m); /* frees what it has */

void mcast_put(bytes_out *out, const struct mcast *m);
/* Into an empty one.  -EPROTO: not of that fabric, or not in order. */
int mcast_take(struct mcast *m, struct bytes_in *in, const struct fabric *f);
