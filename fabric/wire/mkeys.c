/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/wire/mkeys.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

static bool mkeys_power_of_two(uint32_t n)
{
	return !(n & (n - 1));
}

/* Makes space for one more.  Not by realloc(), which leaves keys in freed memory. */
static void *mkeys_grow(void *v, uint32_t n, size_t size)
{
	void *more;

	if (!mkeys_power_of_two(n))
		return v;
	more = xcalloc(n ? 2ull * n : 1, size);
	if (n) {
		memcpy(more, v, n * size);
		explicit_bzero(v, n * size);
	}
	free(v);
	return more;
}

void mkeys_add(struct mkeys *k, uint64_t guid, uint64_t key)
{
	k->port = mkeys_grow(k->port, k->nport, sizeof(*k->port));
	k->port[k->nport] = (struct mkey_port){ guid, key, k->nport };
	k->nport++;
}

void mkeys_add_cable(struct mkeys *k, uint64_t guid, uint32_t port, uint64_t peer)
{
	k->cable = mkeys_grow(k->cable, k->ncable, sizeof(*k->cable));
	k->cable[k->ncable] = (struct mkey_cable){ guid, peer, port, k->ncable };
	k->ncable++;
}

static int mkeys_order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int mkeys_find_port(const void *a, const void *b)
{
	return mkeys_order(((const struct mkey_port *)a)->guid,
			   ((const struct mkey_port *)b)->guid);
}

static int mkeys_by_guid(const void *a, const void *b)
{
	const struct mkey_port *x = a, *y = b;

	return x->guid != y->guid ? mkeys_order(x->guid, y->guid) : mkeys_order(x->at, y->at);
}

static int mkeys_by_key(const void *a, const void *b)
{
	return mkeys_order(((const struct mkey_port *)a)->key, ((const struct mkey_port *)b)->key);
}

static int mkeys_find_end(const void *a, const void *b)
{
	const struct mkey_cable *x = a, *y = b;

	return x->guid != y->guid ? mkeys_order(x->guid, y->guid) : mkeys_order(x->port, y->port);
}

static int mkeys_by_end(const void *a, const void *b)
{
	int rc = mkeys_find_end(a, b);

	return rc ? rc
		  : mkeys_order(((const struct mkey_cable *)a)->at,
				((const struct mkey_cable *)b)->at);
}

static void mkeys_sort_ports(struct mkeys *k)
{
	uint32_t n = 0;

	if (!k->nport)
		return;
	qsort(k->port, k->nport, sizeof(*k->port), mkeys_by_guid);
	for (uint32_t i = 0; i < k->nport; i++) {
		n -= n && k->port[n - 1].guid == k->port[i].guid;
		k->port[n++] = k->port[i];
	}
	explicit_bzero(k->port + n, (k->nport - n) * sizeof(*k->port));
	k->nport = n;
}

static void mkeys_sort_cables(struct mkeys *k)
{
	uint32_t n = 0;

	if (!k->ncable)
		return;
	qsort(k->cable, k->ncable, sizeof(*k->cable), mkeys_by_end);
	for (uint32_t i = 0; i < k->ncable; i++) {
		n -= n && !mkeys_find_end(&k->cable[n - 1], &k->cable[i]);
		k->cable[n++] = k->cable[i];
	}
	k->ncable = n;
}

/* Into the few most frequent keys, where equal numbers stand in the order of the keys. */
static void mkeys_rank(struct mkeys *k, uint32_t *count, uint64_t key, uint32_t n)
{
	uint32_t at = k->ncommon;

	while (at && count[at - 1] < n)
		at--;
	if (at == MKEYS_TRIES)
		return;
	k->ncommon += k->ncommon < MKEYS_TRIES;
	for (uint32_t i = k->ncommon - 1; i > at; i--) {
		k->common[i] = k->common[i - 1];
		count[i] = count[i - 1];
	}
	k->common[at] = key;
	count[at] = n;
}

static void mkeys_find_common(struct mkeys *k)
{
	size_t bytes = k->nport * sizeof(*k->port);
	struct mkey_port *all = xcalloc(k->nport + 1u, sizeof(*all));
	uint32_t count[MKEYS_TRIES] = { 0 };

	k->ncommon = 0;
	if (k->nport) {
		memcpy(all, k->port, bytes);
		qsort(all, k->nport, sizeof(*all), mkeys_by_key);
	}
	for (uint32_t i = 0, n; i < k->nport; i += n) {
		for (n = 1; i + n < k->nport && all[i + n].key == all[i].key; n++)
			;
		if (all[i].key) /* a port without one takes any */
			mkeys_rank(k, count, all[i].key, n);
	}
	explicit_bzero(all, bytes);
	free(all);
}

void mkeys_sort(struct mkeys *k)
{
	mkeys_sort_ports(k);
	mkeys_sort_cables(k);
	mkeys_find_common(k);
}

void mkeys_clear(struct mkeys *k)
{
	if (k->port)
		explicit_bzero(k->port, k->nport * sizeof(*k->port));
	free(k->port);
	free(k->cable);
	explicit_bzero(k, sizeof(*k));
}

bool mkeys_find(uint64_t *key, const struct mkeys *k, uint64_t guid)
{
	const struct mkey_port want = { .guid = guid }, *p = NULL;

	if (k && k->nport)
		p = bsearch(&want, k->port, k->nport, sizeof(want), mkeys_find_port);
	if (p)
		*key = p->key;
	return p != NULL;
}

uint64_t mkeys_of(const struct mkeys *k, uint64_t guid, uint64_t fallback)
{
	uint64_t key;

	if (mkeys_find(&key, k, guid))
		return key;
	return !fallback && k && k->ncommon ? k->common[0] : fallback;
}

bool mkeys_peer(uint64_t *peer, const struct mkeys *k, uint64_t guid, uint32_t port)
{
	const struct mkey_cable want = { .guid = guid, .port = port }, *c = NULL;

	if (k && k->ncable)
		c = bsearch(&want, k->cable, k->ncable, sizeof(want), mkeys_find_end);
	if (c)
		*peer = c->peer;
	return c != NULL;
}

bool mkeys_has(const struct mkeys *k, uint64_t key)
{
	for (uint32_t i = 0; k && i < k->nport; i++)
		if (k->port[i].key == key)
			return true;
	return false;
}

static void mkeys_add_try(uint64_t *key, uint32_t *n, uint64_t one)
{
	for (uint32_t i = 0; i < *n; i++)
		if (key[i] == one)
			return;
	if (*n < MKEYS_TRIES)
		key[(*n)++] = one;
}

uint32_t mkeys_tries(uint64_t key[MKEYS_TRIES], bool *sure, const struct mkeys *k, uint64_t guid,
		     uint64_t fallback, uint64_t near)
{
	uint32_t n = 0;
	uint64_t own;

	*sure = guid && mkeys_find(&own, k, guid);
	if (*sure)
		mkeys_add_try(key, &n, own);
	if (fallback)
		mkeys_add_try(key, &n, fallback);
	if (near)
		mkeys_add_try(key, &n, near);
	for (uint32_t i = 0; k && i < k->ncommon; i++)
		mkeys_add_try(key, &n, k->common[i]);
	if (!n)
		key[n++] = 0;
	return n;
}
