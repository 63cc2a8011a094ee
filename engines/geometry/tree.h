/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree: the levels of a tree, as found from the cables alone, of which some may be missing.
 *
 * Leaves are the switches with terminals or, where some of the switches above them have terminals
 * as well, those with at least half as many as the fullest.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

#define TREE_LEVELS 8
#define TREE_IDLE   255 /* level of a switch that no two leaves need to reach each other */

struct tree {
	uint32_t nrow; /* rows 0 (leaves) to nrow - 1 */
	uint8_t *row;  /* by switch: hops to the nearest leaf */
	bool rows;     /* every cable joins neighbouring rows, of which there are at least two */
	uint32_t nlevel;
	uint8_t *level;	  /* by switch: its row, or TREE_IDLE; levels 0 to nlevel - 1 */
	uint32_t missing; /* links from a switch down to a subtree that have no cable at all */
	/* 0: a fat tree, connected, with cables for two thirds of the links from switches down to
	 * subtrees; -EINVAL, -ENETUNREACH: why it is none */
	int rc;
	struct err why;
};

/* Of any fabric: rows and rc tell what was found.  O(channels * levels). */
struct tree *tree_new(const struct fabric *f);
void tree_free(struct tree *t); /* NULL is fine */

/* Components of the switches in rows or levels lo..hi, by switch, FAB_NONE: in no such row; returns
 * how many.  They are numbered by their first switch, in that order where it is not NULL. */
uint32_t tree_components(uint32_t *comp, const struct fabric *f, const uint8_t *row, uint32_t lo,
			 uint32_t hi, const uint32_t *order);
