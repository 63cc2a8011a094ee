/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/device/machine.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

struct by_name {
	const char *name;
	uint32_t term;
};

static int machine_cmp_name(const void *pa, const void *pb)
{
	const struct by_name *a = pa, *b = pb;
	int c = strverscmp(a->name, b->name);

	return c ? c : (a->term > b->term) - (a->term < b->term);
}

void machine_init(struct machine *m, const struct fabric *f)
{
	struct by_name *v = xcalloc(f->nterm, sizeof(*v));
	uint32_t n = 0;

	for (uint32_t t = 0; t < f->nterm; t++) {
		if (f->term_kind[t] == TERM_COMPUTE)
			v[n++] = (struct by_name){ f->term_name[t], t };
	}
	qsort(v, n, sizeof(*v), machine_cmp_name);
	*m = (struct machine){ .nodes = xcalloc(n, sizeof(*m->nodes)) };
	m->rail = xcalloc(n, sizeof(*m->rail));
	m->node_of = xcalloc(f->nterm, sizeof(*m->node_of));
	memset(m->node_of, 0xff, f->nterm * sizeof(*m->node_of));
	for (uint32_t i = 0; i < n; i++) {
		if (!i || strcmp(v[i].name, v[i - 1].name))
			m->nodes[m->nnode++] =
				(struct machine_node){ v[i].name, i, 0, FAB_NONE, 0 };
		m->nodes[m->nnode - 1].nrail++;
		m->rail[i] = v[i].term;
		m->node_of[v[i].term] = m->nnode - 1;
	}
	free(v);
	m->free = xcalloc((m->nnode + 63) / 64, sizeof(*m->free));
	for (uint32_t i = 0; i < m->nnode; i++)
		m->free[i / 64] |= 1ull << i % 64;
}

void machine_fini(struct machine *m)
{
	free(m->nodes);
	free(m->rail);
	free(m->node_of);
	free(m->free);
}

uint32_t *machine_take(struct machine *m, uint32_t k, uint32_t owner)
{
	uint32_t *out = xcalloc(k, sizeof(*out)), have = 0;

	for (uint32_t word = 0; have < k; word++) {
		while (m->free[word] && have < k) {
			uint32_t node = word * 64 + (uint32_t)__builtin_ctzll(m->free[word]);

			m->free[word] &= m->free[word] - 1;
			m->nodes[node].owner = owner;
			m->nodes[node].rank = have;
			out[have++] = node;
		}
	}
	m->busy += k;
	return out;
}

void machine_give(struct machine *m, const uint32_t *nodes, uint32_t k)
{
	for (uint32_t i = 0; i < k; i++) {
		m->free[nodes[i] / 64] |= 1ull << nodes[i] % 64;
		m->nodes[nodes[i]].owner = FAB_NONE;
	}
	m->busy -= k;
}
