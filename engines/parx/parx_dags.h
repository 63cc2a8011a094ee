/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parx_dags: the paths that PARX permits towards one switch, a DAG for every rule.
 *
 * Paths have the fewest avoided cables, then the fewest hops; in a HyperX with all its cables none
 * is avoided.  Where cables are missing two promises are kept by exceptions.  Every switch has a
 * shortest path to at least one LID, be it over cables that this LID avoids.  And as far as
 * there is a path, every neighbour in one half with the root has a LID that goes around its cable.
 */
#pragma once

#include "engines/geometry/grid/grid.h"
#include "engines/graph/spdag.h"
#include "engines/parx/parx_rules.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct parx_dags {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	const struct grid *grid;
	struct parx_rules rules;
	uint8_t lmc; /* of traffic LIDs, at least parx_lmc() */

	/* for the destination switch at hand */
	uint32_t root;
	bool ordered;
	struct spdag *dag; /* by rule; the last one, for spare LIDs, has all shortest paths */

	uint32_t *extra; /* by switch: LIDs that lead around beyond the rule */

	/* over all roots so far */
	uint64_t nforced; /* (switch, rule) whose paths to a root have avoided cables */
	uint64_t nlift;	  /* (rule, root) with a shortest path over avoided cables */
	uint64_t ncut;	  /* (rule, neighbour of a root) without its cable to the root */

	/* private */
	uint8_t *dim;	    /* by channel */
	uint32_t *avoided;  /* scratch by position: avoided cables on the path */
	uint8_t *first_dim; /* scratch by position */
	uint32_t *lift;	    /* by channel: bit i, LID i may use it though it avoids it */
	uint32_t *cut;	    /* by channel: bit i, LID i may not use it */
	uint32_t *touched;  /* channels with a bit in lift or cut */
	uint32_t ntouched;
};

void parx_dags_init(struct parx_dags *x, const struct fabric *f, const struct grid *grid,
		    uint8_t lmc);
void parx_dags_done(struct parx_dags *x);

/* The DAGs towards a switch of a connected fabric; nothing to do when they are there.  ordered: of
 * all its next hops a switch keeps those in the first dimension.  Returns the edges looked at. */
uint64_t parx_dags_build(struct parx_dags *x, uint32_t root, bool ordered);
