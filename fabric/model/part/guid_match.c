/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/part/guid_match.h"

#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/fabric.h"

#include <stdlib.h>

struct keyed {
	uint64_t guid;
	uint32_t i;
};

static int guid_match_compare(const void *x, const void *y)
{
	const struct keyed *a = x, *b = y;

	return (a->guid > b->guid) - (a->guid < b->guid);
}

static struct keyed *guid_match_sorted(const uint64_t *guid, uint32_t n)
{
	struct keyed *list = xcalloc(n, sizeof(*list));

	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct keyed){ guid[i], i };
	qsort(list, n, sizeof(*list), guid_match_compare);
	return list;
}

uint32_t guid_match(uint32_t *out, const uint64_t *guid, uint32_t n, const uint64_t *was,
		    uint32_t nwas)
{
	struct keyed *list = guid_match_sorted(was, nwas);
	uint32_t found = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct keyed key = { .guid = guid[i] };
		const struct keyed *at =
			bsearch(&key, list, nwas, sizeof(*list), guid_match_compare);

		out[i] = at ? at->i : FAB_NONE;
		found += at != NULL;
	}
	free(list);
	return found;
}
