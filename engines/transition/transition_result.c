/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/transition/transition_priv.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define SLICE 16384 /* cells or writes */

struct tags {
	uint64_t *now;	 /* by switch * blocks + block, for the wave at hand */
	uint32_t *first; /* first wave that writes the block, FAB_NONE: none */
	uint32_t nblocks;
	size_t cells;
	VEC(uint32_t) touched;
};

static void tresult_mark(struct tags *m, uint32_t sw, uint32_t lid)
{
	uint32_t at = sw * m->nblocks + lid / LFT_BLOCK;

	if (!m->now[at])
		vec_push(&m->touched, at);
	m->now[at] |= 1ull << (lid % LFT_BLOCK);
}

/* Called with i from 0 on: that it lives. */
static void tresult_show_at(struct search *s, size_t i)
{
	if (i % SLICE == SLICE - 1)
		search_show(s, 4 * SLICE);
}

static int tresult_by_place(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

typedef VEC(struct transition_write) writes_vec;

/* Ascending; where there are many it is faster to look at all. */
static void tresult_sort_touched(struct tags *m, struct search *s)
{
	if (m->touched.n < m->cells / 16) {
		qsort(m->touched.v, m->touched.n, sizeof(*m->touched.v), tresult_by_place);
		return;
	}
	m->touched.n = 0;
	for (uint32_t at = 0; at < m->cells; at++) {
		if (m->now[at])
			vec_push(&m->touched, at);
		tresult_show_at(s, at);
	}
}

static void tresult_flush(writes_vec *w, struct search *s, struct tags *m, uint32_t wave)
{
	if (!m->touched.n)
		return;
	tresult_sort_touched(m, s);
	search_show(s, m->touched.n);
	for (size_t i = 0; i < m->touched.n; i++) {
		uint32_t at = m->touched.v[i];

		if (m->first[at] == FAB_NONE)
			m->first[at] = wave;
		vec_push(w, (struct transition_write){ .wave = wave,
						       .sw = at / m->nblocks,
						       .block = at % m->nblocks,
						       .now = m->now[at] });
		m->now[at] = 0;
		if (i % 4096 == 4095)
			search_show(s, 1u << 16);
	}
	m->touched.n = 0;
}

/* True when cancelled. */
static bool tresult_mark_moves(struct search *s, struct tags *m, const struct found *r, size_t *k,
			       uint32_t wave)
{
	for (; *k < r->moves.n && r->moves.v[*k].wave == wave; ++*k) {
		const struct move *mv = &r->moves.v[*k];
		uint32_t lid = s->item[mv->item].lid;

		mixture_load(s->flow, lid);
		for (uint32_t sw = 0; sw < s->f->nsw; sw++)
			if (mixture_lft_changes_at(s->flow, sw) &&
			    (!mv->lft_wide || mv->lft_wide[sw] == AGE_BOTH))
				tresult_mark(m, sw, lid);
		/* the rest of the step is as long as a third of this */
		if (search_at(s, (uint32_t)(((uint64_t)*k + 1) * s->n * 3 / 4 / r->moves.n)))
			return true;
	}
	return false;
}

/* Entries without traffic whose bits are set. */
static uint64_t tresult_silent_in(const uint8_t *a, const uint8_t *b, const uint8_t *flows)
{
	uint64_t silent = 0;

	for (uint32_t k = 0; k < LFT_BLOCK && memcmp(a, b, LFT_BLOCK) != 0; k++)
		silent |= (uint64_t)(a[k] != b[k] && !flows[k]) << k;
	return silent;
}

/* Entries without traffic, of drained LIDs and of LIDs that nobody owns, go along with the first
 * write of their block; of blocks that have none, they are the writes in *rest.  True when
 * cancelled. */
static bool tresult_find_rest(writes_vec *rest, uint64_t *silent, struct search *s, struct tags *m,
			      const struct tables *old, const struct tables *new,
			      const uint8_t *drained, uint32_t wave)
{
	uint8_t *flows = xcalloc((size_t)m->nblocks * LFT_BLOCK, 1);
	bool stop = false;

	for (uint32_t i = 0; i < s->n; i++)
		flows[s->item[i].lid] = !drained[i];
	for (uint32_t sw = 0; sw < s->f->nsw && !stop; sw++) {
		for (uint32_t block = 0; block < m->nblocks; block++) {
			uint32_t at = sw * m->nblocks + block, lid = block * LFT_BLOCK;

			silent[at] = tresult_silent_in(tables_row(old, sw) + lid,
						       tables_row(new, sw) + lid, flows + lid);
			if (!silent[at] || m->first[at] != FAB_NONE)
				continue;
			m->first[at] = wave;
			vec_push(rest, (struct transition_write){
					       .wave = wave, .sw = sw, .block = block });
		}
		s->at = s->n * 3 / 4 + (uint32_t)((uint64_t)s->n * (sw + 1) / 4 / s->f->nsw);
		stop = search_show(s, m->nblocks * LFT_BLOCK / 4);
	}
	free(flows);
	return stop;
}

static bool tresult_earlier(const struct transition_write *a, const struct transition_write *b)
{
	if (a->wave != b->wave)
		return a->wave < b->wave;
	return a->sw != b->sw ? a->sw < b->sw : a->block < b->block;
}

/* Both are in order, and so is what comes out. */
static void tresult_merge_rest(writes_vec *w, struct search *s, const writes_vec *rest,
			       const uint64_t *silent, const struct tags *m)
{
	size_t i = w->n, k = rest->n;

	for (size_t j = 0; j < k; j++) {
		vec_push(w, rest->v[j]);
		tresult_show_at(s, j);
	}
	for (size_t to = w->n; k > 0; to--) {
		w->v[to - 1] = i > 0 && tresult_earlier(&rest->v[k - 1], &w->v[i - 1])
				       ? w->v[--i]
				       : rest->v[--k];
		tresult_show_at(s, to);
	}
	for (size_t j = 0; j < w->n; j++) {
		size_t at = (size_t)w->v[j].sw * m->nblocks + w->v[j].block;

		if (m->first[at] == w->v[j].wave)
			w->v[j].now |= silent[at];
		tresult_show_at(s, j);
	}
}

/* All writes in order; true when cancelled. */
static bool tresult_find_writes(writes_vec *w, struct search *s, struct tags *m,
				const struct found *r, const struct tables *old,
				const struct tables *new)
{
	uint64_t *silent = xcalloc(m->cells, sizeof(*silent));
	writes_vec rest = { 0 };
	size_t k = 0;
	bool stop = false;

	for (uint32_t wave = 0; wave < r->nwaves && !stop; wave++) {
		stop = tresult_mark_moves(s, m, r, &k, wave);
		tresult_flush(w, s, m, wave);
	}
	stop = stop || tresult_find_rest(&rest, silent, s, m, old, new, r->drained, r->first_lft);
	if (!stop)
		tresult_merge_rest(w, s, &rest, silent, m);
	free(silent);
	vec_free(&rest);
	return stop;
}

static void tresult_fill_drain(struct transition *t, const struct search *s, const struct found *r)
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
	struct tags m = { .nblocks = tables_blocks(new) };
	struct transition *t = NULL;
	writes_vec w = { 0 };

	search_step(s, "writes");
	m.cells = (size_t)s->f->nsw * m.nblocks;
	m.now = xcalloc(m.cells, sizeof(*m.now));
	m.first = xcalloc(m.cells, sizeof(*m.first));
	for (size_t i = 0; i < m.cells; i++) {
		m.first[i] = FAB_NONE;
		tresult_show_at(s, i);
	}
	if (tresult_find_writes(&w, s, &m, r, old, new)) {
		vec_free(&w);
		goto out;
	}
	t = xcalloc(1, sizeof(*t));
	for (size_t i = 0; i < m.cells; i++) {
		t->blocks += m.first[i] != FAB_NONE;
		tresult_show_at(s, i);
	}
	t->writes = w.v;
	t->nwrites = (uint32_t)w.n;
	t->nwaves = r->nwaves;
	if (w.n && w.v[w.n - 1].wave >= t->nwaves)
		t->nwaves = w.v[w.n - 1].wave + 1;
	t->sl2vl_wave = r->sl2vl_wave;
	t->old_cyclic = r->old_cyclic;
	tresult_fill_drain(t, s, r);
out:
	free(m.now);
	free(m.first);
	vec_free(&m.touched);
	return t;
}
