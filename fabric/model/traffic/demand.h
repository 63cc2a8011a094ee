/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demand: how much each terminal sends to each other, as weights 0..255 (SC19 Sec. 3.2.3).
 *
 * The largest sum of bytes of a pair has weight 255, all others in proportion and rounded up,
 * so that no pair with any traffic has weight 0.  Sparse, by destination, because engines
 * route one destination after another.
 */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdint.h>

#define DEMAND_MAX 255

struct demand {
	uint32_t nterm; /* of the fabric */
	uint32_t npair; /* with weight above 0 */
	uint32_t *off;	/* nterm+1: CSR by destination ... */
	uint32_t *src;	/* ... source terminals, ascending ... */
	uint8_t *w;	/* ... and their weights, 1..255 */
	uint32_t ndest; /* destinations that were named, also with 0 bytes ... */
	uint32_t *dest; /* ... in the order in which they were named first */
	uint64_t max_bytes;
	struct arena *arena;
	int refs;
};

struct demand_builder;

struct demand_builder *demand_builder_new(const struct fabric *f);
void demand_builder_free(struct demand_builder *b); /* NULL is fine */
/* Bytes of one pair of terminals (below nterm), added to what it has, at most UINT64_MAX.  What
 * a terminal sends to itself crosses no link and only names it as a destination. */
void demand_builder_add(struct demand_builder *b, uint32_t src, uint32_t dst, uint64_t bytes);
struct demand *demand_build(struct demand_builder *b); /* frees b */

/* What was built from weights, as they are again: the largest of them has DEMAND_MAX.  max_bytes:
 * of the pair that has it. */
struct demand *demand_build_weights(struct demand_builder *b, uint64_t max_bytes);
/* Of another state of the fabric, by the GUIDs of the ports; what is gone is left out. */
struct demand *demand_on(const struct demand *d, const struct fabric *was, const struct fabric *f);

const struct demand *demand_get(const struct demand *d); /* thread-safe; returns d */
void demand_put(const struct demand *d);		 /* NULL is fine */

/* 0 when the pair has no traffic.  O(log of the destination's sources). */
uint8_t demand_weight(const struct demand *d, uint32_t src, uint32_t dst);
