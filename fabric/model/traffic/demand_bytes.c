/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/traffic/demand_bytes.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>

struct demand_head {
	uint64_t max_bytes;
	uint32_t nterm, npair, ndest, zero;
};

void demand_put_bytes(bytes_out *out, const struct demand *d)
{
	struct demand_head h = { d->max_bytes, d->nterm, d->npair, d->ndest, 0 };

	bytes_put(out, &h, sizeof(h));
	bytes_put(out, d->off, ((size_t)d->nterm + 1) * sizeof(*d->off));
	bytes_put(out, d->src, (size_t)d->npair * sizeof(*d->src));
	bytes_put(out, d->w, d->npair);
	bytes_put(out, d->dest, (size_t)d->ndest * sizeof(*d->dest));
}

static bool demand_bytes_pairs_fit(const struct demand *d)
{
	if (d->off[0] || d->off[d->nterm] != d->npair)
		return false;
	for (uint32_t dst = 0; dst < d->nterm; dst++) {
		if (d->off[dst] > d->off[dst + 1])
			return false;
		for (uint32_t i = d->off[dst]; i < d->off[dst + 1]; i++)
			if (i >= d->npair || d->src[i] >= d->nterm || d->src[i] == dst ||
			    !d->w[i] || (i > d->off[dst] && d->src[i - 1] >= d->src[i]))
				return false;
	}
	return true;
}

static bool demand_bytes_named_once(const struct demand *d)
{
	bool *named = xcalloc(d->nterm, sizeof(*named)), fine = true;

	for (uint32_t i = 0; i < d->ndest && fine; i++) {
		fine = d->dest[i] < d->nterm && !named[d->dest[i]];
		if (fine)
			named[d->dest[i]] = true;
	}
	free(named);
	return fine;
}

int demand_take_bytes(struct demand **out, struct bytes_in *in, const struct fabric *f)
{
	struct demand_head h;
	struct arena *arena;
	struct demand *d;

	*out = NULL;
	bytes_take(in, &h, sizeof(h));
	if (in->bad || h.nterm != f->nterm || h.npair > in->left || h.ndest > h.nterm)
		return -EPROTO;
	arena = arena_new();
	d = arena_alloc(arena, 1, sizeof(*d));
	d->arena = arena;
	d->refs = 1;
	d->nterm = h.nterm;
	d->npair = h.npair;
	d->ndest = h.ndest;
	d->max_bytes = h.max_bytes;
	d->off = arena_array(arena, uint32_t, d->nterm + 1);
	d->src = arena_array(arena, uint32_t, d->npair);
	d->w = arena_array(arena, uint8_t, d->npair);
	d->dest = arena_array(arena, uint32_t, d->ndest);
	bytes_take(in, d->off, ((size_t)d->nterm + 1) * sizeof(*d->off));
	bytes_take(in, d->src, (size_t)d->npair * sizeof(*d->src));
	bytes_take(in, d->w, d->npair);
	bytes_take(in, d->dest, (size_t)d->ndest * sizeof(*d->dest));
	if (in->bad || !demand_bytes_pairs_fit(d) || !demand_bytes_named_once(d)) {
		arena_free(arena);
		return -EPROTO;
	}
	*out = d;
	return 0;
}
