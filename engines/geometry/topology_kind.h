/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_kind: what a fabric is, as far as its cables tell, of which some may be missing: a tree
 * of levels, a HyperX, a torus or mesh, groups of close neighbours (dragonfly), or none of these.
 *
 * The one place where engines and views learn it.  An engine asks for the kind that it routes, the
 * views for the one that explains most.
 */
#pragma once

#include "engines/geometry/grid/grid.h"
#include "engines/geometry/tree.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

#define TOPOLOGY_DIMS 4 /* of a grid to look at, at most */

enum topology_kind_id {
	TOPOLOGY_GENERAL,
	TOPOLOGY_TREE,
	TOPOLOGY_HYPERX,
	TOPOLOGY_TORUS,
	TOPOLOGY_GROUPS
};

struct topology_kind {
	enum topology_kind_id kind;
	struct tree *tree; /* tree */
	struct grid *grid; /* HyperX, torus */
	char note[160];	   /* torus: how its dimensions are known, where that is in doubt;
			    * general: why it has none; "" nothing to say */
	/* groups: switches of a group have many neighbours in common, and of others few */
	uint32_t ngroup;
	uint32_t *group; /* nsw; numbered in the order of their first switches by name */
	uint32_t *place; /* nsw: in its group, in the order of names */
};

/* To look at: trees have rows, grids at most TOPOLOGY_DIMS dimensions, of which a torus has those
 * that the names of its switches tell.  O(channels * ports of a switch). */
struct topology_kind *topology_kind_new(const struct fabric *f);
/*
 * To route as, by cables alone: TOPOLOGY_TREE has levels, TOPOLOGY_HYPERX only full dimensions,
 * and TOPOLOGY_TORUS any, of which the kind found may be HyperX.  -EINVAL with what is in the way,
 * -ENETUNREACH, -ECANCELED.  progress may be NULL.
 */
int topology_kind_find(struct topology_kind **out, const struct fabric *f, enum topology_kind_id as,
		       struct progress *progress, struct err *err);
void topology_kind_free(struct topology_kind *s); /* NULL is fine */

/* All switches in the order of their names; the caller frees it. */
uint32_t *topology_kind_order_by_name(const struct fabric *f);
/* "leaf", "spine", "agg", "core", "level 3". */
const char *topology_kind_level_name(char buf[16], const struct topology_kind *s, uint32_t row);
/* One line: "tree of 2 levels", "HyperX 12x8", "torus 6x6x6", "9 groups of close switches",
 * "general graph". */
void topology_kind_sentence(char *buf, size_t len, const struct topology_kind *s);
/* In a word or two: "torus 8x8". */
void topology_kind_name(char *buf, size_t len, const struct topology_kind *s);
