/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dagset: the DAGs towards many destination switches, packed, for who comes back to them often.
 *
 * An engine that goes round the destination switches LID by LID would build each DAG as often as
 * the switch has LIDs.  An edge takes 3 bytes here, a switch 3.
 */
#pragma once

#include "engines/graph/spdag.h"
#include "fabric/base/memory/pool.h"
#include "fabric/model/topology/fabric.h"

#include <stddef.h>

struct dagset;

/* Fills g for that root; worker tells which thread of the pool asks. */
typedef void (*dagset_build_fn)(void *ctx, unsigned worker, struct spdag *g, const struct fabric *f,
				uint32_t root);

/* The DAGs towards all switches with terminals.  NULL when they would take more than max bytes, or
 * once stop(ctx) says so between two DAGs of the caller's thread. */
struct dagset *dagset_new(const struct fabric *f, struct pool *pool, size_t max,
			  dagset_build_fn build, bool (*stop)(void *ctx), void *ctx);
void dagset_free(struct dagset *s); /* NULL is fine */

/* One of them as it is kept, by position; edges of a position as in struct spdag, whose positions
 * are others. */
struct packed_dag {
	uint32_t n, nedge;
	uint32_t ninner;  /* the first ones: the root, and those at which edges arrive */
	uint32_t nsingle; /* the last ones: no edge arrives there, and only one leaves */
	const uint16_t *sw;
	const uint8_t *degree; /* edges of a position ... */
	const uint16_t *to;    /* ... by edge: where it arrives ... */
	const uint8_t *place;  /* ... and its channel among those of the switch */
};

/* False when the set has no DAG towards root. */
bool dagset_find(const struct dagset *s, struct packed_dag *out, uint32_t root);

/* Unpacks everything but dist, by the positions here; false when the set has no DAG towards root.
 */
bool dagset_load(const struct dagset *s, struct spdag *g, uint32_t root);
