/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/vl/cdg_index.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define HUBS 64 /* bits of a word */

struct cdg_index *cdg_index_new(const struct fabric *f)
{
	struct cdg_index *h = xcalloc(1, sizeof(*h));

	h->f = f;
	h->to = xcalloc(f->nchan, sizeof(*h->to));
	h->from = xcalloc(f->nchan, sizeof(*h->from));
	h->waits = xcalloc(f->nchan, sizeof(*h->waits));
	h->score = xcalloc(f->nchan, sizeof(*h->score));
	return h;
}

void cdg_index_free(struct cdg_index *h)
{
	if (!h)
		return;
	free(h->to);
	free(h->from);
	free(h->waits);
	free(h->score);
	free(h);
}

/* Marks the channels with the highest scores, the first ones if equal. */
static void cdg_index_elect(struct cdg_index *h)
{
	uint32_t best[HUBS], n = 0;

	for (uint32_t c = 0; c < h->f->nchan; c++) {
		uint32_t i = n;

		if (!h->score[c] || (n == HUBS && h->score[c] <= h->score[best[HUBS - 1]]))
			continue;
		n += n < HUBS;
		i = i < n ? i : n - 1;
		for (; i && h->score[best[i - 1]] < h->score[c]; i--)
			best[i] = best[i - 1];
		best[i] = c;
	}
	for (uint32_t i = 0; i < n; i++)
		h->to[best[i]] = h->from[best[i]] = 1ull << i;
}

void cdg_index_learn(struct cdg_index *h, const uint32_t *order, const uint64_t *turns,
		     uint32_t words)
{
	const struct fabric *f = h->f;
	size_t size = f->nchan * sizeof(uint64_t);

	memset(h->to, 0, size);
	memset(h->from, 0, size);
	cdg_index_elect(h);
	for (uint32_t i = 0; i < f->nchan; i++) {
		uint32_t e = order[i];
		const uint32_t *rev = f->chan_rev + f->chan_off[f->chan_src[e]];

		for (uint32_t k = 0; k < words; k++)
			for (uint64_t m = turns[(size_t)e * words + k]; m; m &= m - 1)
				h->from[e] |= h->from[rev[64 * k + __builtin_ctzll(m)]];
	}
	for (uint32_t i = f->nchan; i-- > 0;) {
		uint32_t e = order[i];
		const uint32_t *rev = f->chan_rev + f->chan_off[f->chan_src[e]];

		for (uint32_t k = 0; k < words && h->to[e]; k++)
			for (uint64_t m = turns[(size_t)e * words + k]; m; m &= m - 1)
				h->to[rev[64 * k + __builtin_ctzll(m)]] |= h->to[e];
	}
	memset(h->score, 0, f->nchan * sizeof(*h->score));
	h->spent = 0;
}
