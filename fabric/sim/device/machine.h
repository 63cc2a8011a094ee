/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine: the hosts of a fabric as a scheduler sees them, in the order of their names. */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdint.h>

/* A host with its compute terminals. */
struct machine_node {
	const char *name;
	uint32_t first, nrail; /* terminals rail[first] .. rail[first + nrail - 1] */
	uint32_t owner;	       /* the caller's: who holds the node, or FAB_NONE */
	uint32_t rank;	       /* the caller's: which of the owner's nodes it is */
};

struct machine {
	uint32_t nnode, busy;
	struct machine_node *nodes; /* n2 before n10 */
	uint32_t *rail;
	uint32_t *node_of; /* of each terminal; FAB_NONE: not a compute terminal */
	uint64_t *free;	   /* a bit per node */
};

/* All nodes free.  f must outlive m, which uses its strings. */
void machine_init(struct machine *m, const struct fabric *f);
void machine_fini(struct machine *m);

/* First fit: the k lowest free nodes, ascending, owned by `owner` from now on with rank 0..k-1.
 * k must not exceed nnode - busy.  The caller frees the array. */
uint32_t *machine_take(struct machine *m, uint32_t k, uint32_t owner);
void machine_give(struct machine *m, const uint32_t *nodes, uint32_t k);

/* The node's terminal on that rail, or its last one. */
static inline uint32_t machine_term(const struct machine *m, uint32_t node, uint32_t rail)
{
	const struct machine_node *n = &m->nodes[node];

	return m->rail[n->first + (rail < n->nrail ? rail : n->nrail - 1)];
}
