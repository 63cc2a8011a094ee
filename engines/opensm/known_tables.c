/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/known_tables.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>

#define KNOWN_MAX 256
#define BYTES_MAX (1ull << 29)

struct known_tables {
	struct known v[KNOWN_MAX];
	uint32_t n;
	uint64_t bytes;
};

struct known_tables *known_tables_new(void)
{
	return xcalloc(1, sizeof(struct known_tables));
}

void known_free(const struct known *x)
{
	tables_put(x->t);
	fabric_put(x->judged.f);
	free(x->exclude);
}

void known_tables_free(struct known_tables *k)
{
	for (uint32_t i = 0; k && i < k->n; i++)
		known_free(&k->v[i]);
	free(k);
}

bool known_tables_add(struct known_tables *k, const struct known *x)
{
	uint64_t bytes = (uint64_t)x->t->nsw * x->t->stride + tables_sl_bytes(x->t) +
			 (x->t->lender ? 0 : tables_sl2vl_bytes(x->t));

	if (k->n == KNOWN_MAX || k->bytes + bytes > BYTES_MAX)
		return false;
	k->v[k->n++] = *x;
	k->bytes += bytes;
	return true;
}

const struct known *known_tables_find(const struct known_tables *k, const struct digest *hash,
				      bool step)
{
	for (uint32_t i = 0; k && i < k->n; i++)
		if (k->v[i].step == step && digest_equal(&k->v[i].judged.hash, hash))
			return &k->v[i];
	return NULL;
}

const struct tables *known_tables_last(const struct known_tables *k)
{
	return k && k->n ? k->v[k->n - 1].t : NULL;
}

const struct known *known_tables_of(const struct known_tables *k, const struct tables *t)
{
	for (uint32_t i = 0; k && i < k->n; i++)
		if (k->v[i].t == t)
			return &k->v[i];
	return NULL;
}
