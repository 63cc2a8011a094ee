/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/topology/without.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

/* now: the new number of each channel of f, FAB_NONE for those whose cable is dropped. */
static uint32_t without_number(uint32_t *now, const struct fabric *f, const bool *drop)
{
	uint32_t n = 0;

	for (uint32_t c = 0; c < f->nchan; c++)
		now[c] = drop[c] || drop[f->chan_rev[c]] ? FAB_NONE : n++;
	return n;
}

static void without_copy_channels(struct fabric *to, const struct fabric *f, const uint32_t *now)
{
	struct arena *a = to->arena;

	to->chan_off = arena_array(a, uint32_t, f->nsw + 1);
	to->chan_src = arena_array(a, uint32_t, to->nchan);
	to->chan_dst = arena_array(a, uint32_t, to->nchan);
	to->chan_rev = arena_array(a, uint32_t, to->nchan);
	to->chan_port = arena_array(a, uint8_t, to->nchan);
	to->chan_rport = arena_array(a, uint8_t, to->nchan);
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t k = now[c];

		if (k == FAB_NONE)
			continue;
		to->chan_off[f->chan_src[c] + 1]++;
		to->chan_src[k] = f->chan_src[c];
		to->chan_dst[k] = f->chan_dst[c];
		to->chan_rev[k] = now[f->chan_rev[c]];
		to->chan_port[k] = f->chan_port[c];
		to->chan_rport[k] = f->chan_rport[c];
	}
	for (uint32_t u = 0; u < f->nsw; u++)
		to->chan_off[u + 1] += to->chan_off[u];
}

static void without_copy_ports(struct fabric *to, const struct fabric *f, const uint32_t *now)
{
	to->port = arena_array(to->arena, struct port, f->nport);
	memcpy(to->port, f->port, f->nport * sizeof(*f->port));
	for (uint32_t p = 0; p < f->nport; p++) {
		if (f->port[p].chan == FAB_NONE)
			continue;
		to->port[p].chan = now[f->port[p].chan];
		if (to->port[p].chan == FAB_NONE)
			to->port[p].state = PORT_DOWN;
	}
}

struct fabric *fabric_without(const struct fabric *f, const bool *drop)
{
	uint32_t *now = xcalloc(f->nchan, sizeof(*now));
	struct arena *a = arena_new();
	struct fabric *to = arena_array(a, struct fabric, 1);

	*to = *f;
	to->arena = a;
	to->refs = 1;
	to->base = fabric_get(f);
	to->nchan = without_number(now, f, drop);
	without_copy_channels(to, f, now);
	without_copy_ports(to, f, now);
	free(now);
	return to;
}
