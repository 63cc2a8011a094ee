/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/namemap.h"

#include "fabric/base/plain.h"
#include "fabric/base/vec.h"

struct entry {
	uint64_t guid;
	char *name;
};

struct name_map {
	VEC(struct entry) list;
};

struct name_map *name_map_new(void)
{
	return xcalloc(1, sizeof(struct name_map));
}

void name_map_free(struct name_map *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->list.n; i++)
		free(m->list.v[i].name);
	vec_free(&m->list);
	free(m);
}

/* Position of the first entry with a GUID not below the given one. */
static size_t namemap_lower_bound(const struct name_map *m, uint64_t guid)
{
	size_t lo = 0, hi = m->list.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (m->list.v[mid].guid < guid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void name_map_add(struct name_map *m, uint64_t node_guid, const char *name)
{
	struct entry e = { node_guid, plain_text(xstrdup(name), "") };
	size_t at = namemap_lower_bound(m, node_guid);

	if (at < m->list.n && m->list.v[at].guid == node_guid) {
		free(m->list.v[at].name);
		m->list.v[at] = e;
		return;
	}
	vec_push(&m->list, e);
	for (size_t i = m->list.n - 1; i > at; i--)
		m->list.v[i] = m->list.v[i - 1];
	m->list.v[at] = e;
}

const char *name_map_find(const struct name_map *m, uint64_t node_guid)
{
	size_t at;

	if (!m)
		return NULL;
	at = namemap_lower_bound(m, node_guid);
	return at < m->list.n && m->list.v[at].guid == node_guid ? m->list.v[at].name : NULL;
}
