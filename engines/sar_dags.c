/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar_dags.h"

#include "fabric/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define DAG_BYTES (96u << 20) /* for all that are kept */

void sar_dags_init(struct sar_dags *s, const struct fabric *f)
{
	size_t bytes = (2ull * f->nsw + 1) * sizeof(uint32_t) + f->nchan / 2;
	uint32_t n = (uint32_t)(DAG_BYTES / bytes);

	*s = (struct sar_dags){ .f = f, .n = n > f->nsw ? f->nsw : n ? n : 1 };
	s->dag = xcalloc(s->n, sizeof(*s->dag));
	for (uint32_t i = 0; i < s->n; i++)
		s->dag[i].root = FAB_NONE;
	s->queue = xcalloc(f->nsw + 1ull, sizeof(*s->queue));
	s->found = xcalloc(f->nchan, sizeof(*s->found));
	s->fill = xcalloc(f->nsw, sizeof(*s->fill));
}

void sar_dags_done(struct sar_dags *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		free(s->dag[i].dist);
		free(s->dag[i].off);
		free(s->dag[i].edge);
	}
	free(s->dag);
	free(s->queue);
	free(s->found);
	free(s->fill);
}

/* Hops to the root, and into found[] the channels that lead nearer; returns how many.  Looks
 * only at the channels of switches that are not farthest away. */
static uint32_t find_nearer(struct sar_dags *s, uint32_t *dist, uint32_t root)
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

			if (dist[v] == FAB_NONE) {
				dist[v] = dist[u] + 1;
				s->queue[tail++] = v;
			}
			s->found[n] = f->chan_rev[c];
			n += dist[v] == dist[u] + 1;
		}
	}
	return n;
}

const struct sar_dag *sar_dags_find(struct sar_dags *s, uint32_t root)
{
	const struct fabric *f = s->f;
	struct sar_dag *d = &s->dag[root % s->n];
	uint32_t n, sum = 0;

	if (d->root == root)
		return d;
	if (!d->off) {
		d->dist = xcalloc(f->nsw, sizeof(*d->dist));
		d->off = xcalloc(f->nsw + 1ull, sizeof(*d->off));
	}
	d->root = root;
	n = find_nearer(s, d->dist, root);
	d->edge = xrealloc(d->edge, n ? n : 1, sizeof(*d->edge));
	memset(s->fill, 0, f->nsw * sizeof(*s->fill));
	for (uint32_t k = 0; k < n; k++)
		s->fill[f->chan_src[s->found[k]]]++;
	for (uint32_t u = 0; u < f->nsw; u++) {
		d->off[u] = sum;
		sum += s->fill[u];
		s->fill[u] = d->off[u];
	}
	d->off[f->nsw] = sum;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t u = f->chan_src[s->found[k]];

		d->edge[s->fill[u]++] = (uint8_t)(s->found[k] - f->chan_off[u]);
	}
	s->work += 2ull * (f->nsw + n);
	return d;
}
