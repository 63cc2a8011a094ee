/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/partitions/pkeys.h"

#include "fabric/base/memory/vec.h"

void pkeys_free(struct pkeys *p)
{
	vec_free(p);
}

static bool pkeys_fit(uint16_t a, uint16_t b)
{
	return (a & PKEY_VALUE) && (a & PKEY_VALUE) == (b & PKEY_VALUE) && ((a | b) & PKEY_FULL);
}

bool pkeys_shared(uint16_t *value, const struct pkeys *a, const struct pkeys *b)
{
	for (size_t i = 0; i < a->n; i++)
		for (size_t j = 0; j < b->n; j++)
			if (pkeys_fit(a->v[i], b->v[j])) {
				*value = a->v[i] & PKEY_VALUE;
				return true;
			}
	return false;
}
