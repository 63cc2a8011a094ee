/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/ibnetdiscover/ibnd_ids.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

struct slot {
	const char *id; /* NULL: empty */
	uint32_t node;
};

struct ibnd_ids {
	struct slot *slot;
	uint32_t nslot, used; /* nslot: a power of two */
	struct arena *arena;
};

struct ibnd_ids *ibnd_ids_new(void)
{
	struct ibnd_ids *m = xcalloc(1, sizeof(*m));

	m->nslot = 1024;
	m->slot = xcalloc(m->nslot, sizeof(*m->slot));
	m->arena = arena_new();
	return m;
}

void ibnd_ids_free(struct ibnd_ids *m)
{
	if (!m)
		return;
	free(m->slot);
	arena_free(m->arena);
	free(m);
}

/* FNV-1a */
static uint32_t ibnd_ids_hash_text(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (uint8_t)*s) * 16777619u;
	return h ^ h >> 15;
}

static struct slot *ibnd_ids_find_slot(const struct ibnd_ids *m, const char *id)
{
	uint32_t i = ibnd_ids_hash_text(id) & (m->nslot - 1);

	while (m->slot[i].id && strcmp(m->slot[i].id, id))
		i = (i + 1) & (m->nslot - 1);
	return &m->slot[i];
}

static void ibnd_ids_grow(struct ibnd_ids *m)
{
	struct slot *old = m->slot;
	uint32_t n = m->nslot;

	m->nslot *= 2;
	m->slot = xcalloc(m->nslot, sizeof(*m->slot));
	for (uint32_t i = 0; i < n; i++)
		if (old[i].id)
			*ibnd_ids_find_slot(m, old[i].id) = old[i];
	free(old);
}

void ibnd_ids_set(struct ibnd_ids *m, const char *id, uint32_t node)
{
	struct slot *s;

	if (m->used * 2 >= m->nslot)
		ibnd_ids_grow(m);
	s = ibnd_ids_find_slot(m, id);
	if (!s->id) {
		s->id = arena_strdup(m->arena, id);
		m->used++;
	}
	s->node = node;
}

uint32_t ibnd_ids_find(const struct ibnd_ids *m, const char *id)
{
	const struct slot *s = ibnd_ids_find_slot(m, id);

	return s->id ? s->node : FAB_NONE;
}

bool ibnd_id_guid(enum node_kind *kind, uint64_t *guid, const char *id)
{
	const char *s = id + 2;

	if (!id[0] || id[1] != '-' || !strchr("SHR", id[0]))
		return false;
	*kind = id[0] == 'S' ? NODE_SWITCH : id[0] == 'H' ? NODE_CA : NODE_ROUTER;
	return scan_hex(guid, &s) && !*s;
}
