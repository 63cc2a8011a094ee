/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * switch_groups: which switches with hosts are close to each other, as groups of groups up to all
 * that are connected; the one hierarchy that a scheduler can be told.
 *
 * In a tree a group is what hangs on switches of one level that reach each other from above; in a
 * dragonfly a group, in a HyperX a line of its first dimension; above these, and of any other
 * fabric, there is what is connected.
 */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdint.h>

struct switch_group {
	uint32_t parent; /* a group with a higher index; FAB_NONE: none */
	uint32_t level;	 /* 1: the lowest kind */
	uint32_t *top;	 /* of a tree: the switches that join its parts, in the order of names */
	uint32_t ntop;
};

struct switch_groups {
	uint32_t n;
	struct switch_group *group;
	uint32_t *of; /* by switch: the lowest group with it; FAB_NONE: in none, or no hosts */
	struct arena *arena;
};

/* hosts: by switch, how many count there.  Each group has at least two parts.  O(channels *
 * levels), and what topology_kind_new() takes. */
struct switch_groups *switch_groups_new(const struct fabric *f, const uint32_t *hosts);
void switch_groups_free(struct switch_groups *g); /* NULL is fine */
