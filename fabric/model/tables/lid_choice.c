/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/tables/lid_choice.h"

#include "fabric/base/memory/mem.h"

#include <stddef.h>

struct lid_choice *lid_choice_new(uint32_t nsw, uint32_t nclass, uint32_t nexcept)
{
	struct arena *arena = arena_new();
	struct lid_choice *c = arena_alloc(arena, 1, sizeof(*c));

	c->arena = arena;
	c->nsw = nsw;
	c->nclass = nclass;
	c->nexcept = nexcept;
	c->class = arena_array(arena, uint32_t, nsw);
	c->quadrant = arena_array(arena, uint32_t, nclass);
	c->lids = arena_array(arena, struct lid_set, (size_t)nclass * nclass);
	c->except = arena_array(arena, struct lid_except, nexcept);
	return c;
}

void lid_choice_free(struct lid_choice *c)
{
	if (c)
		arena_free(c->arena);
}

struct lid_set lid_choice_get(const struct lid_choice *c, uint32_t src, uint32_t dst)
{
	uint32_t lo = 0, hi = c->nexcept;

	if (src == dst) {
		uint32_t all = c->lmc < 5 ? (1u << (1u << c->lmc)) - 1 : UINT32_MAX;

		return (struct lid_set){ all, all };
	}
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		const struct lid_except *e = &c->except[mid];

		if (e->src == src && e->dst == dst)
			return e->lids;
		if (e->src < src || (e->src == src && e->dst < dst))
			lo = mid + 1;
		else
			hi = mid;
	}
	return c->lids[(size_t)c->class[src] * c -> nclass + c -> class[dst]];
}
