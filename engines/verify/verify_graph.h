/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verify_graph: the channel dependency graph, its order, and its cycles. */
#pragma once

#include "fabric/base/message/progress.h"

#include <stdbool.h>
#include <stdint.h>

/* Vertex chan * nvl + vl. */
struct depgraph {
	uint32_t nvl, n;
	bool *used; /* per vertex */
	uint64_t nused;
	uint64_t *off; /* n+1 */
	uint32_t *to;  /* ascending per vertex */
};

void depgraph_free(struct depgraph *g); /* NULL is fine */

/* Kahn: position per used vertex so that every edge goes to a larger one, UINT32_MAX for the
 * others.  False when a cycle keeps some vertices without one, or when
 * cancelled.  Progress step: "verify".  O(n + edges). */
bool depgraph_order(const struct depgraph *g, uint32_t *order, struct progress *progress,
		    bool *cancelled);

/* A cycle, as vertices in its direction; 0, or -ECANCELED.  Length 0: there is none.
 * It lies in the smallest strongly connected component and is a shortest one there; in
 * components so large that the search would take more than 2^26 edge visits, the
 * shortest one found by then.  order is what depgraph_order left.  Caller frees *out.
 * Progress step: "verify". */
int depgraph_cycle(uint32_t **out, uint32_t *len, const struct depgraph *g, const uint32_t *order,
		   struct progress *progress);
