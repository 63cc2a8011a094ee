/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/paper/sar_dags.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define DAG_BYTES (96u << 20) /* for all that are kept */

void sar_dags_init(struct sar_dags *s, const struct fabric *f, struct arena *mem)
{
	size_t bytes = 7ull * f->nsw + f->nchan / 2;
	uint32_t n = (uint32_t)(DAG_BYTES / bytes);

	*s = (struct sar_dags){ .mem = mem, .f = f, .n = n > f->nsw ? f->nsw : n ? n : 1 };
	s->dag = arena_alloc(mem, s->n, sizeof(*s->dag));
	for (uint32_t i = 0; i < s->n; i++)
		s->dag[i].root = FAB_NONE;
	s->queue = arena_alloc(mem, f->nsw + 1ull, sizeof(*s->queue));
	s->found = arena_alloc(mem, f->nchan, sizeof(*s->found));
	s->fill = arena_alloc(mem, f->nsw, sizeof(*s->fill));
}

void sar_dags_done(struct sar_dags *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		free(s->dag[i].own);
}

/* Hops to the root, and into found[] the channels that lead nearer; returns how many.  Looks
 * only at the channels of switches that are not farthest away. */
static uint32_t sar_dags_find_nearer(struct sar_dags *s, uint16_t *dist, uint32_t root)
{
	const struct fabric *f = s->f;
	uint32_t head = 0, tail = 0, n = 0;

	memset(dist, 0xff, f->nsw * sizeof(*dist));
	dist[root] = 0;
	s->queue[tail++] = root;
	while (head < tail) {
		uint32_t u = s->queue[head++];

		if (tail == f->nsw && dist[u] == dist[s->queue[tail - 1]])
			break;
		s->work += f->chan_off[u + 1] - f->chan_off[u];
		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			uint32_t v = f->chan_dst[c];

			if (dist[v] == UINT16_MAX) {
				dist[v] = (uint16_t)(dist[u] + 1);
				s->queue[tail++] = v;
			}
			s->found[n] = f->chan_rev[c];
			n += dist[v] == dist[u] + 1;
		}
	}
	return n;
}

static void sar_dags_build(struct sar_dags *s, struct sar_dag *d)
{
	const struct fabric *f = s->f;
	uint32_t n = sar_dags_find_nearer(s, d->dist, d->root), sum = 0;

	d->nedge = n;
	d->edge = d->own = xrealloc(d->own, n ? n : 1, sizeof(*d->own));
	memset(d->degree, 0, f->nsw);
	for (uint32_t k = 0; k < n; k++)
		d->degree[f->chan_src[s->found[k]]]++;
	for (uint32_t u = 0; u < f->nsw; u++) {
		s->fill[u] = d->off[u] = sum;
		sum += d->degree[u];
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t u = f->chan_src[s->found[k]];

		d->own[s->fill[u]++] = (uint8_t)(s->found[k] - f->chan_off[u]);
	}
	s->work += 2ull * (f->nsw + n);
}

/* Positions in the set grow away from the root. */
static void sar_dags_unpack(struct sar_dags *s, struct sar_dag *d, const struct packed_dag *p)
{
	uint32_t k = 0;

	d->nedge = p->nedge;
	d->edge = p->place;
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t u = p->sw[i];

		d->off[u] = k;
		d->degree[u] = p->degree[i];
		d->dist[u] = i ? (uint16_t)(d->dist[p->sw[p->to[k]]] + 1) : 0;
		k += p->degree[i];
	}
	s->work += p->n;
}

const struct sar_dag *sar_dags_find(struct sar_dags *s, uint32_t root)
{
	const struct fabric *f = s->f;
	struct sar_dag *d = &s->dag[root % s->n];
	struct packed_dag p;

	if (d->root == root)
		return d;
	if (!d->off) {
		d->dist = arena_alloc(s->mem, f->nsw, sizeof(*d->dist));
		d->off = arena_alloc(s->mem, f->nsw, sizeof(*d->off));
		d->degree = arena_alloc(s->mem, f->nsw, sizeof(*d->degree));
	}
	d->root = root;
	if (s->set && dagset_find(s->set, &p, root))
		sar_dags_unpack(s, d, &p);
	else
		sar_dags_build(s, d);
	return d;
}
