/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/traffic/demand.h"

#include "fabric/base/memory/vec.h"

#include <stdlib.h>

struct flow {
	uint32_t src, dst;
	uint64_t bytes;
};

struct demand_builder {
	uint32_t nterm;
	VEC(struct flow) flows;
	VEC(uint32_t) dest;
	bool *named; /* by terminal */
};

struct demand_builder *demand_builder_new(const struct fabric *f)
{
	struct demand_builder *b = xcalloc(1, sizeof(*b));

	b->nterm = f->nterm;
	b->named = xcalloc(f->nterm, sizeof(*b->named));
	return b;
}

void demand_builder_free(struct demand_builder *b)
{
	if (!b)
		return;
	vec_free(&b->flows);
	vec_free(&b->dest);
	free(b->named);
	free(b);
}

void demand_builder_add(struct demand_builder *b, uint32_t src, uint32_t dst, uint64_t bytes)
{
	if (!b->named[dst]) {
		b->named[dst] = true;
		vec_push(&b->dest, dst);
	}
	if (bytes && src != dst)
		vec_push(&b->flows, (struct flow){ src, dst, bytes });
}

static int demand_by_pair(const void *x, const void *y)
{
	const struct flow *a = x, *b = y;

	if (a->dst != b->dst)
		return a->dst < b->dst ? -1 : 1;
	return (a->src > b->src) - (a->src < b->src);
}

/* Sums up equal pairs; returns the largest sum. */
static uint64_t demand_sum_pairs(struct demand_builder *b)
{
	struct flow *flow = b->flows.v;
	uint64_t most = 0;
	size_t n = 0;

	if (b->flows.n)
		qsort(flow, b->flows.n, sizeof(*flow), demand_by_pair);
	for (size_t i = 0; i < b->flows.n; i++) {
		if (n && !demand_by_pair(&flow[n - 1], &flow[i])) {
			if (__builtin_add_overflow(flow[n - 1].bytes, flow[i].bytes,
						   &flow[n - 1].bytes))
				flow[n - 1].bytes = UINT64_MAX;
		} else {
			flow[n++] = flow[i];
		}
		most = flow[n - 1].bytes > most ? flow[n - 1].bytes : most;
	}
	b->flows.n = n;
	return most;
}

static uint8_t demand_normal(uint64_t bytes, uint64_t most)
{
	unsigned __int128 scaled = (unsigned __int128)bytes * DEMAND_MAX;

	return (uint8_t)((scaled + most - 1) / most);
}

struct demand *demand_build(struct demand_builder *b)
{
	struct arena *arena = arena_new();
	struct demand *d = arena_alloc(arena, 1, sizeof(*d));

	d->arena = arena;
	d->refs = 1;
	d->nterm = b->nterm;
	d->max_bytes = demand_sum_pairs(b);
	d->npair = (uint32_t)b->flows.n;
	d->off = arena_array(arena, uint32_t, d->nterm + 1);
	d->src = arena_array(arena, uint32_t, d->npair);
	d->w = arena_array(arena, uint8_t, d->npair);
	for (uint32_t i = 0; i < d->npair; i++) {
		const struct flow *flow = &b->flows.v[i];

		d->off[flow->dst + 1]++;
		d->src[i] = flow->src;
		d->w[i] = demand_normal(flow->bytes, d->max_bytes);
	}
	for (uint32_t t = 0; t < d->nterm; t++)
		d->off[t + 1] += d->off[t];
	d->ndest = (uint32_t)b->dest.n;
	d->dest = arena_array(arena, uint32_t, d->ndest);
	for (uint32_t i = 0; i < d->ndest; i++)
		d->dest[i] = b->dest.v[i];
	demand_builder_free(b);
	return d;
}

struct demand *demand_build_weights(struct demand_builder *b, uint64_t max_bytes)
{
	struct demand *d = demand_build(b);

	if (d->max_bytes)
		d->max_bytes = max_bytes;
	return d;
}

struct demand *demand_on(const struct demand *d, const struct fabric *was, const struct fabric *f)
{
	struct demand_builder *b = demand_builder_new(f);
	uint32_t *at = xcalloc(was->nterm, sizeof(*at));

	for (uint32_t t = 0; t < was->nterm; t++)
		at[t] = fabric_term_by_guid(f, was->term_guid[t]);
	for (uint32_t i = 0; i < d->ndest; i++)
		if (at[d->dest[i]] < f->nterm)
			demand_builder_add(b, at[d->dest[i]], at[d->dest[i]], 0);
	for (uint32_t t = 0; t < d->nterm; t++)
		for (uint32_t k = d->off[t]; k < d->off[t + 1]; k++)
			if (at[t] < f->nterm && at[d->src[k]] < f->nterm)
				demand_builder_add(b, at[d->src[k]], at[t], d->w[k]);
	free(at);
	return demand_build_weights(b, d->max_bytes);
}

const struct demand *demand_get(const struct demand *d)
{
	if (d)
		__atomic_add_fetch(&((struct demand *)d)->refs, 1, __ATOMIC_RELAXED);
	return d;
}

void demand_put(const struct demand *d)
{
	if (d && !__atomic_sub_fetch(&((struct demand *)d)->refs, 1, __ATOMIC_ACQ_REL))
		arena_free(d->arena);
}

uint8_t demand_weight(const struct demand *d, uint32_t src, uint32_t dst)
{
	uint32_t lo = d->off[dst], hi = d->off[dst + 1];

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (d->src[mid] == src)
			return d->w[mid];
		if (d->src[mid] < src)
			lo = mid + 1;
		else
			hi = mid;
	}
	return 0;
}
