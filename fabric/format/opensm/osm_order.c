/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/opensm/osm_order.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>

struct keyed {
	uint64_t key;
	uint32_t index;
};

static int osm_order_by_key(const void *x, const void *y)
{
	const struct keyed *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

uint32_t *osm_order_new(const uint64_t *guid, uint32_t n)
{
	struct keyed *list = xcalloc(n, sizeof(*list));
	uint32_t *order = xcalloc(n, sizeof(*order));

	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct keyed){ __builtin_bswap64(guid[i]), i };
	qsort(list, n, sizeof(*list), osm_order_by_key);
	for (uint32_t i = 0; i < n; i++)
		order[i] = list[i].index;
	free(list);
	return order;
}
