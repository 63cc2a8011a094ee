/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/tables/entry_changes.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

void entry_changes_add(struct entry_changes *c, struct entry_change one)
{
	if (c->n == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 256;
		c->list = xrealloc(c->list, c->cap, sizeof(*c->list));
	}
	c->list[c->n++] = one;
}

void entry_changes_done(struct entry_changes *c)
{
	free(c->list);
	memset(c, 0, sizeof(*c));
}

uint32_t entry_changes_run(const struct entry_changes *c, uint32_t first)
{
	uint32_t n = 1;

	while (first + n < c->n && c->list[first + n].lid == c->list[first].lid)
		n++;
	return n;
}

uint32_t entry_changes_entries(const struct entry_changes *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++)
		n += c->list[i].port != c->list[i].port_was;
	return n;
}

void entry_changes_apply(const struct entry_changes *c, struct tables *t)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct entry_change *e = &c->list[i];

		tables_row(t, e->sw)[e->lid] = e->port;
		if (e->sl != e->sl_was)
			t->sl[(size_t)e->sw * t->stride + e->lid] = e->sl;
	}
}
