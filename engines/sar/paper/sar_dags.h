/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sar_dags: all shortest paths to one switch after another, by switch; those asked for are kept. */
#pragma once

#include "engines/graph/balance/dagset.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/fabric.h"

#include <stdint.h>

struct sar_dag {
	uint32_t root; /* FAB_NONE: none yet */
	uint32_t nedge;
	uint16_t *dist;	     /* by switch: hops to the root ... */
	uint32_t *off;	     /* ... and where its edges begin ... */
	uint8_t *degree;     /* ... and how many it has */
	const uint8_t *edge; /* channels, counted from the first of the switch */
	uint8_t *own;	     /* the same when they are not the set's */
};

struct sar_dags {
	struct arena *mem;
	const struct fabric *f;
	const struct dagset *set; /* of all shortest paths, for the caller to set; NULL: none */
	struct sar_dag *dag;	  /* kept, at the root's number modulo n */
	uint32_t n;
	uint32_t *queue, *found, *fill;
	uint64_t work; /* edges looked at */
};

/* mem holds the arrays and outlives s. */
void sar_dags_init(struct sar_dags *s, const struct fabric *f, struct arena *mem);
void sar_dags_done(struct sar_dags *s);

/* Valid until the next call. */
const struct sar_dag *sar_dags_find(struct sar_dags *s, uint32_t root);
