/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/topology/fabric.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/text/short_names.h"

#include <stdlib.h>
#include <string.h>

const struct fabric *fabric_get(const struct fabric *f)
{
	if (f)
		__atomic_add_fetch(&((struct fabric *)f)->refs, 1, __ATOMIC_RELAXED);
	return f;
}

void fabric_put(const struct fabric *f)
{
	const struct fabric *base;

	if (!f || __atomic_sub_fetch(&((struct fabric *)f)->refs, 1, __ATOMIC_ACQ_REL))
		return;
	base = f->base;
	arena_free(f->arena); /* f itself lives there */
	fabric_put(base);
}

static uint32_t fabric_find_u64(const uint64_t *v, uint32_t lo, uint32_t hi, uint64_t key)
{
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (v[mid] == key)
			return mid;
		if (v[mid] < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return FAB_NONE;
}

uint32_t fabric_switch_by_guid(const struct fabric *f, uint64_t node_guid)
{
	return fabric_find_u64(f->sw_guid, 0, f->nsw, node_guid);
}

uint32_t fabric_term_by_guid(const struct fabric *f, uint64_t port_guid)
{
	uint32_t t = fabric_find_u64(f->term_guid, 0, f->nterm, port_guid);

	return t != FAB_NONE ? t : fabric_find_u64(f->term_guid, f->nterm, f->nend, port_guid);
}

enum fabric_called { CALLED_FULL, CALLED_SHORT, CALLED_SHORTENED };

static bool fabric_is_called(const struct fabric *f, uint32_t sw, const char *name, size_t len,
			     enum fabric_called how)
{
	const char *own = how == CALLED_FULL ? f->sw_name[sw] : f->sw_short[sw];

	if (how == CALLED_SHORTENED)
		return short_name_is_of(name, len, own);
	return !strncmp(own, name, len) && !own[len];
}

uint32_t fabric_switches_named(uint32_t *out, uint32_t max, const struct fabric *f,
			       const char *name, size_t len)
{
	uint32_t n = 0;

	for (enum fabric_called how = CALLED_FULL; how <= CALLED_SHORTENED && !n; how++)
		for (uint32_t sw = 0; sw < f->nsw; sw++)
			if (fabric_is_called(f, sw, name, len, how) && n++ < max)
				out[n - 1] = sw;
	return n;
}

uint32_t fabric_terms_by_name(const struct fabric *f, const char *name, uint32_t *out, uint32_t max)
{
	uint32_t lo = 0, hi = f->nterm, n = 0;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (strcmp(f->term_name[f->term_by_name[mid]], name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < f->nterm && !strcmp(f->term_name[f->term_by_name[lo]], name); lo++, n++)
		if (n < max)
			out[n] = f->term_by_name[lo];
	return n;
}

uint32_t fabric_hops(uint32_t *hops, uint32_t *queue, const struct fabric *f, uint32_t n)
{
	memset(hops, 0xff, f->nsw * sizeof(*hops));
	for (uint32_t i = 0; i < n; i++)
		hops[queue[i]] = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t u = queue[i];

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			uint32_t v = f->chan_dst[c];

			if (hops[v] != FAB_NONE)
				continue;
			hops[v] = hops[u] + 1;
			queue[n++] = v;
		}
	}
	return n;
}

bool fabric_connected(const struct fabric *f)
{
	uint32_t *queue = xcalloc(f->nsw, sizeof(*queue)), *hops = xcalloc(f->nsw, sizeof(*hops));
	bool all = !f->nsw || fabric_hops(hops, queue, f, 1) == f->nsw;

	free(queue);
	free(hops);
	return all;
}

bool fabric_same_rates(const struct fabric *a, const struct fabric *b)
{
	for (uint32_t i = 0; i < a->nport; i++)
		if (a->port[i].rate_Mbps != b->port[i].rate_Mbps)
			return false;
	return true;
}

uint8_t fabric_min_op_vls(const struct fabric *f)
{
	uint8_t least = 0;

	for (uint32_t c = 0; c < f->nchan; c++) {
		uint8_t vls = fabric_port(f, f->chan_src[c], f->chan_port[c])->op_vls;

		if (vls && (!least || vls < least))
			least = vls;
	}
	return least;
}

uint32_t fabric_port_switch(const struct fabric *f, uint32_t port)
{
	uint32_t lo = 0, hi = f->nsw;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (f->port_off[mid] <= port)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}
