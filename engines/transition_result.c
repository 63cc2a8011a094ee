/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/transition_priv.h"

#include "fabric/base/mem.h"

#include <stdlib.h>
#include <string.h>

struct marks {
	uint64_t *now;	 /* by switch * blocks + block, for the wave at hand */
	uint32_t *first; /* first wave that writes the block, FAB_NONE: none */
	uint32_t nblocks;
	VEC(uint32_t) touched;
};

static void mark(struct marks *m, uint32_t sw, uint32_t lid)
{
	uint32_t at = sw * m->nblocks + lid / LFT_BLOCK;

	if (!m->now[at])
		vec_push(&m->touched, at);
	m->now[at] |= 1ull << (lid % LFT_BLOCK);
}

static int by_place(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

typedef VEC(struct transition_write) writes_vec;

static void flush(writes_vec *w, struct marks *m, uint32_t wave)
{
	if (!m->touched.n)
		return;
	qsort(m->touched.v, m->touched.n, sizeof(*m->touched.v), by_place);
	for (size_t i = 0; i < m->touched.n; i++) {
		uint32_t at = m->touched.v[i];

		if (m->first[at] == FAB_NONE)
			m->first[at] = wave;
		vec_push(w, (struct transition_write){ .wave = wave,
						       .sw = at / m->nblocks,
						       .block = at % m->nblocks,
						       .now = m->now[at] });
		m->now[at] = 0;
	}
	m->touched.n = 0;
}

static void mark_moves(struct search *s, struct marks *m, const struct found *r, size_t *k,
		       uint32_t wave)
{
	for (; *k < r->moves.n && r->moves.v[*k].wave == wave; ++*k) {
		const struct move *mv = &r->moves.v[*k];
		uint32_t lid = s->item[mv->item].lid;

		flow_load(s->flow, lid);
		for (uint32_t sw = 0; sw < s->f->nsw; sw++)
			if (flow_lft_changes_at(s->flow, sw) &&
			    (!mv->lft_wide || mv->lft_wide[sw] == AGE_BOTH))
				mark(m, sw, lid);
	}
}

static int by_write(const void *a, const void *b)
{
	const struct transition_write *x = a, *y = b;

	if (x->wave != y->wave)
		return x->wave < y->wave ? -1 : 1;
	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return (x->block > y->block) - (x->block < y->block);
}

/* Entries without traffic, of drained LIDs and of LIDs that nobody owns, go along with the first
 * write of their block. */
static void write_rest(writes_vec *w, struct search *s, struct marks *m, const struct tables *old,
		       const struct tables *new, const uint8_t *drained, uint32_t wave)
{
	size_t cells = (size_t)s->f->nsw * m->nblocks;
	uint64_t *silent = xcalloc(cells, sizeof(*silent));
	uint8_t *flows = xcalloc((size_t)m->nblocks * LFT_BLOCK, 1);

	for (uint32_t i = 0; i < s->n; i++)
		flows[s->item[i].lid] = !drained[i];
	for (size_t at = 0; at < cells; at++) {
		uint32_t sw = (uint32_t)(at / m->nblocks), lid = (uint32_t)(at % m->nblocks);
		const uint8_t *a, *b;

		lid *= LFT_BLOCK;
		a = tables_row(old, sw) + lid;
		b = tables_row(new, sw) + lid;
		for (uint32_t k = 0; k < LFT_BLOCK; k++)
			silent[at] |= (uint64_t)(a[k] != b[k] && !flows[lid + k]) << k;
		if (silent[at] && m->first[at] == FAB_NONE)
			vec_push(w, (struct transition_write){
					    .wave = wave, .sw = sw, .block = lid / LFT_BLOCK });
		if (silent[at] && m->first[at] == FAB_NONE)
			m->first[at] = wave;
	}
	for (size_t i = 0; i < w->n; i++) {
		size_t at = (size_t)w->v[i].sw * m->nblocks + w->v[i].block;

		if (m->first[at] == w->v[i].wave)
			w->v[i].now |= silent[at];
	}
	free(flows);
	free(silent);
}

static void fill_drain(struct transition *t, const struct search *s, const struct found *r)
{
	t->drain = xcalloc(r->ndrain, sizeof(*t->drain));
	for (uint32_t i = 0; i < s->n; i++) {
		t->lids += s->item[i].lft || s->item[i].sl;
		if (r->drained[i])
			t->drain[t->ndrain++] =
				(struct transition_drain){ s->item[i].lid,
							   (uint8_t)(r->drained[i] - 1) };
	}
}

struct transition *transition_result(struct search *s, const struct found *r,
				     const struct tables *old, const struct tables *new)
{
	struct transition *t = xcalloc(1, sizeof(*t));
	struct marks m = { .nblocks = tables_blocks(new) };
	size_t cells = (size_t)s->f->nsw * m.nblocks, k = 0;
	writes_vec w = { 0 };

	m.now = xcalloc(cells, sizeof(*m.now));
	m.first = xcalloc(cells, sizeof(*m.first));
	memset(m.first, 0xff, cells * sizeof(*m.first));
	for (uint32_t wave = 0; wave < r->nwaves; wave++) {
		mark_moves(s, &m, r, &k, wave);
		flush(&w, &m, wave);
	}
	write_rest(&w, s, &m, old, new, r->drained, r->first_lft);
	if (w.n)
		qsort(w.v, w.n, sizeof(*w.v), by_write);
	for (size_t i = 0; i < cells; i++)
		t->blocks += m.first[i] != FAB_NONE;
	t->writes = w.v;
	t->nwrites = (uint32_t)w.n;
	t->nwaves = r->nwaves;
	if (w.n && w.v[w.n - 1].wave >= t->nwaves)
		t->nwaves = w.v[w.n - 1].wave + 1;
	t->sl2vl_wave = r->sl2vl_wave;
	t->old_cyclic = r->old_cyclic;
	fill_drain(t, s, r);
	free(m.now);
	free(m.first);
	vec_free(&m.touched);
	return t;
}
