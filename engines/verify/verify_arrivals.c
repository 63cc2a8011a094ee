/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/verify_arrivals.h"

#include <string.h>

void arrivals_init(struct arrivals *a, const struct fabric *f, struct arena *mem)
{
	a->f = f;
	a->last = arena_alloc(mem, f->nsw, sizeof(*a->last));
	a->count = arena_alloc(mem, (FAB_MAX_PORT + 1) * FAB_SLS, sizeof(*a->count));
}

/* One source more on these SLs, or with sign -1 one less. */
static void verify_arrivals_add(struct arrivals *a, const struct walk *w, uint32_t last,
				uint16_t sls, int sign)
{
	uint32_t place = a->f->chan_rev[last] - a->f->chan_off[w->dsw], x;

	for (x = sls; x; x &= x - 1)
		a->count[place * FAB_SLS + (uint32_t)__builtin_ctz(x)] += (uint32_t)sign;
}

/* Last channel of the path of u, when that of the next switch is known. */
static uint32_t verify_arrivals_last_channel(const struct arrivals *a, const struct walk *w,
					     uint32_t u)
{
	uint32_t c = w->chan[u], v = a->f->chan_dst[c];

	return v == w->dsw ? c : a->last[v];
}

void arrivals_count(struct arrivals *a, const struct walk *w, const uint16_t *sent)
{
	uint32_t i;

	memset(a->count, 0, (FAB_MAX_PORT + 1) * FAB_SLS * sizeof(*a->count));
	for (i = w->norder - 1; i-- > 0;) {
		uint32_t u = w->order[i];

		a->last[u] = verify_arrivals_last_channel(a, w, u);
		verify_arrivals_add(a, w, a->last[u], sent[u], 1);
	}
}

void arrivals_update(struct arrivals *a, const struct walk *w, uint32_t u, uint16_t sent,
		     uint16_t old)
{
	uint32_t c = w->chan[u];

	while (a->f->chan_dst[c] != w->dsw)
		c = w->chan[a->f->chan_dst[c]];
	verify_arrivals_add(a, w, a->last[u], old, -1);
	a->last[u] = c;
	verify_arrivals_add(a, w, c, sent, 1);
}

uint16_t arrivals_sls(const struct arrivals *a, const struct walk *w, uint32_t c)
{
	const uint32_t *count = a->count + (c - a->f->chan_off[w->dsw]) * FAB_SLS;
	uint16_t sls = 0;
	uint32_t sl;

	for (sl = 0; sl < FAB_SLS; sl++)
		sls |= (uint16_t)((count[sl] > 0) << sl);
	return sls;
}
