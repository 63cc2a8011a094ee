/* SPDX-License-Identifier: GPL-2.0-or-later */
/* M_Keys of what a sweep has not met yet, and what it has learned about them. */
#include "fabric/base/mem.h"
#include "fabric/wire/wire_priv.h"

#include <stdlib.h>
#include <string.h>

#define REFUSED_NS 300000000000ull /* so long no other keys are tried on a port that took none */

uint64_t wire_local_key(struct wire *w)
{
	struct mad_local local;

	wire_local(w, &local);
	return mkeys_of(w->opts.m_keys, local.port_guid, w->m_key);
}

static int wire_by_spot(const void *a, const void *b)
{
	const struct wire_peer *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->port - y->port;
}

static const struct wire_peer *wire_find_peer(const struct wire *w, uint64_t guid, uint8_t port)
{
	struct wire_peer want = { .guid = guid, .port = port };

	return w->npeers ? bsearch(&want, w->peers, w->npeers, sizeof(want), wire_by_spot) : NULL;
}

void wire_tries_behind(struct wire_tries *out, struct wire *w, uint64_t guid, uint8_t port,
		       uint64_t near)
{
	const struct mkeys *k = w->opts.m_keys;
	const struct wire_peer *p = wire_find_peer(w, guid, port);
	uint64_t peer = 0;

	if (p && p->peer)
		peer = p->peer;
	else
		mkeys_peer(&peer, k, guid, port);
	/* without keys of ports there is nothing to choose from */
	out->n = mkeys_tries(out->key, &out->sure, k, peer, w->m_key, k ? near : 0);
	if (p && p->peer && !out->sure) { /* the one that it took */
		out->key[0] = p->m_key;
		out->n = 1;
		out->sure = true;
	}
	out->refused_ns = 0;
	if (p && !p->peer && wire_now_ns(w) - p->ns < REFUSED_NS) {
		out->refused_ns = p->ns;
		out->n = 1;
	}
}

void wire_tries_local(struct wire_tries *out, struct wire *w)
{
	struct mad_local local;

	wire_local(w, &local);
	out->refused_ns = 0;
	out->n = mkeys_tries(out->key, &out->sure, w->opts.m_keys, local.port_guid, w->m_key, 0);
}

uint8_t wire_tries_times(const struct wire_tries *t, uint32_t nth)
{
	if (!nth && !t->refused_ns && (t->sure || t->n == 1))
		return 0;
	return nth || t->refused_ns ? 1 : 2;
}

bool wire_key_given(const struct wire *w, uint64_t key)
{
	return key == w->m_key || mkeys_has(w->opts.m_keys, key);
}

static int wire_by_lid(const void *a, const void *b)
{
	return ((const struct wire_lid *)a)->lid - ((const struct wire_lid *)b)->lid;
}

void wire_keep_keys(struct wire *w, struct wire_lid *lids, uint32_t nlids, struct wire_peer *peers,
		    uint32_t npeers)
{
	if (nlids)
		qsort(lids, nlids, sizeof(*lids), wire_by_lid);
	if (npeers)
		qsort(peers, npeers, sizeof(*peers), wire_by_spot);
	wire_forget_keys(w);
	w->lids = lids;
	w->nlids = nlids;
	w->peers = peers;
	w->npeers = npeers;
}

static void wire_wipe(void *v, size_t bytes)
{
	if (v)
		explicit_bzero(v, bytes);
	free(v);
}

void wire_forget_keys(struct wire *w)
{
	wire_wipe(w->lids, w->nlids * sizeof(*w->lids));
	wire_wipe(w->peers, w->npeers * sizeof(*w->peers));
	w->lids = NULL;
	w->peers = NULL;
	w->nlids = w->npeers = 0;
}

void wire_forget_routes(struct wire *w)
{
	wire_wipe(w->routes, w->nroutes * sizeof(*w->routes));
	w->routes = NULL;
	w->nroutes = 0;
}

uint64_t wire_lid_key(const struct wire *w, uint16_t lid)
{
	uint32_t lo = 0, hi = w->nlids;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (w->lids[mid].lid <= lid)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && lid - w->lids[lo - 1].lid < w->lids[lo - 1].n)
		return w->lids[lo - 1].m_key;
	return mkeys_of(w->opts.m_keys, 0, w->m_key);
}
