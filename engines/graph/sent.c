/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/sent.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 64 /* switches; their places are a line of memory */

uint32_t sent_blocks(const struct fabric *f)
{
	return (f->nsw + BLOCK - 1) / BLOCK;
}

void sent_init(struct sent *s, const struct fabric *f)
{
	*s = (struct sent){ .more = xcalloc(f->nsw, sizeof(*s->more)),
			    .begin = xcalloc(sent_blocks(f) + 1, sizeof(*s->begin)) };
}

void sent_done(struct sent *s)
{
	free(s->more);
	free(s->begin);
	*s = (struct sent){ .root = 0 };
}

void sent_set(struct sent *s, const struct fabric *f, uint32_t root, const uint8_t *place,
	      const struct sent_more *more, uint32_t n)
{
	uint32_t nblock = sent_blocks(f), *begin = s->begin;

	s->root = root;
	memcpy(s->place, place, f->nsw);
	s->place[root] = 0;
	memset(begin, 0, (nblock + 1) * sizeof(*begin));
	for (uint32_t i = 0; i < n; i++)
		begin[more[i].sw / BLOCK]++;
	for (uint32_t b = 0; b < nblock; b++)
		begin[b + 1] += begin[b];
	for (uint32_t i = n; i-- > 0;)
		s->more[--begin[more[i].sw / BLOCK]] = more[i];
}

/* What one LID sends, at the switches of a block. */
static void sent_add_block(const struct sent *s, const struct fabric *f, const uint32_t *weight,
			   uint64_t *load, int64_t sign, uint32_t block)
{
	uint32_t u = block * BLOCK, end = u + BLOCK < f->nsw ? u + BLOCK : f->nsw;

	for (; u < end; u++)
		load[f->chan_off[u] + s->place[u]] += (uint64_t)sign * weight[u];
	for (uint32_t i = s->begin[block]; i < s->begin[block + 1]; i++) {
		const struct sent_more *m = &s->more[i];

		load[f->chan_off[m->sw] + s->place[m->sw]] += (uint64_t)sign * m->routes;
	}
	if (s->root / BLOCK == block)
		load[f->chan_off[s->root]] -= (uint64_t)sign * weight[s->root];
}

void sent_add(const struct sent *s, uint32_t n, const struct fabric *f, const uint32_t *weight,
	      uint64_t *load, int64_t sign, uint32_t from, uint32_t to)
{
	for (uint32_t block = from; block < to; block++) {
		for (uint32_t k = 0; k < n && block + 1 < to; k++)
			__builtin_prefetch(s[k].place + (size_t)(block + 1) * BLOCK);
		for (uint32_t k = 0; k < n; k++)
			sent_add_block(&s[k], f, weight, load, sign, block);
	}
}
