/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/repair/moved_entries.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

static uint64_t moved_entries_key(const struct entry_change *e)
{
	return (uint64_t)e->lid << 32 | e->sw;
}

struct moved_entry {
	uint64_t key;
	uint32_t at;
};

static int moved_entries_compare(const void *x, const void *y)
{
	const struct moved_entry *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

/* One after the other; what is as it was in the beginning is left out. */
static void moved_entries_put(struct moved_entries *m, const struct entry_change *e)
{
	struct entry_change *last = m->n ? &m->list[m->n - 1] : NULL;

	if (last && moved_entries_key(last) == moved_entries_key(e)) {
		last->port = e->port;
		last->sl = e->sl;
	} else {
		m->list[m->n++] = *e;
		last = &m->list[m->n - 1];
	}
	if (last->port == last->port_was && last->sl == last->sl_was)
		m->n--;
}

void moved_entries_add(struct moved_entries *m, const struct entry_changes *c, uint32_t first)
{
	uint32_t n = c->n - first, i = 0, k = 0;
	struct moved_entry *news = xcalloc(n, sizeof(*news));
	struct moved_entries out = { xcalloc(m->n + n, sizeof(*out.list)), 0 };

	for (uint32_t j = 0; j < n; j++)
		news[j] = (struct moved_entry){ moved_entries_key(&c->list[first + j]), first + j };
	qsort(news, n, sizeof(*news), moved_entries_compare);
	while (i < m->n || k < n) {
		if (k == n || (i < m->n && moved_entries_key(&m->list[i]) <= news[k].key))
			moved_entries_put(&out, &m->list[i++]);
		else
			moved_entries_put(&out, &c->list[news[k++].at]);
	}
	free(news);
	free(m->list);
	*m = out;
}

void moved_entries_done(struct moved_entries *m)
{
	free(m->list);
	memset(m, 0, sizeof(*m));
}
