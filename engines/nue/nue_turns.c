/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue/nue_turns.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

/* Channels that a search has found. */
struct found {
	uint32_t *chan; /* then places */
	uint32_t n;
};

struct nue_turns {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	uint32_t *off;	 /* by channel: the first turn from it */
	uint16_t *count; /* by turn: paths, one a LID at most */
	uint32_t *place; /* by channel */
	uint32_t *at;	 /* by place */
	struct found ahead, behind;
	uint32_t *seen; /* by channel: by the search of that number */
	uint32_t search;
	uint32_t *moved, *places; /* scratch */
	uint64_t work;
};

struct nue_turns *nue_turns_new(const struct fabric *f, const uint32_t *place)
{
	struct arena *mem = arena_new();
	struct nue_turns *x = arena_alloc(mem, 1, sizeof(*x));
	uint32_t n = 0;

	*x = (struct nue_turns){ .mem = mem, .f = f };
	x->off = arena_array(mem, uint32_t, f->nchan);
	for (uint32_t c = 0; c < f->nchan; c++) {
		x->off[c] = n;
		n += f->chan_off[f->chan_dst[c] + 1] - f->chan_off[f->chan_dst[c]];
	}
	x->count = arena_array(mem, uint16_t, n);
	x->place = arena_array(mem, uint32_t, f->nchan);
	x->at = arena_array(mem, uint32_t, f->nchan);
	x->ahead.chan = arena_array(mem, uint32_t, f->nchan);
	x->behind.chan = arena_array(mem, uint32_t, f->nchan);
	x->seen = arena_array(mem, uint32_t, f->nchan);
	x->moved = arena_array(mem, uint32_t, f->nchan);
	x->places = arena_array(mem, uint32_t, f->nchan);
	for (uint32_t c = 0; c < f->nchan; c++) {
		x->place[c] = place[c];
		x->at[place[c]] = c;
	}
	return x;
}

void nue_turns_free(struct nue_turns *x)
{
	if (x)
		arena_free(x->mem);
}

static uint16_t *nue_turns_count(const struct nue_turns *x, uint32_t a, uint32_t b)
{
	return &x->count[x->off[a] + b - x->f->chan_off[x->f->chan_dst[a]]];
}

static void nue_turns_find(struct nue_turns *x, struct found *s, uint32_t c)
{
	if (x->seen[c] == x->search)
		return;
	x->seen[c] = x->search;
	s->chan[s->n++] = c;
}

/* What b leads to, up to the place of a; false: a is among it, or that is too much. */
static bool nue_turns_look_ahead(struct nue_turns *x, uint32_t a, uint32_t b, uint64_t most)
{
	const struct fabric *f = x->f;
	struct found *s = &x->ahead;
	uint64_t begin = x->work;

	x->search++;
	s->n = 0;
	nue_turns_find(x, s, b);
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t v = f->chan_dst[s->chan[i]];
		const uint16_t *count = x->count + x->off[s->chan[i]];

		x->work += f->chan_off[v + 1] - f->chan_off[v];
		if (x->work - begin > most)
			return false;
		for (uint32_t c = f->chan_off[v]; c < f->chan_off[v + 1]; c++) {
			if (!count[c - f->chan_off[v]] || x->place[c] > x->place[a])
				continue;
			if (c == a)
				return false;
			nue_turns_find(x, s, c);
		}
	}
	return true;
}

/* What leads to a, from the place of b on. */
static void nue_turns_look_back(struct nue_turns *x, uint32_t a, uint32_t b)
{
	const struct fabric *f = x->f;
	struct found *s = &x->behind;

	x->search++;
	s->n = 0;
	nue_turns_find(x, s, a);
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t u = f->chan_src[s->chan[i]];

		x->work += f->chan_off[u + 1] - f->chan_off[u];
		for (uint32_t k = f->chan_off[u]; k < f->chan_off[u + 1]; k++) {
			uint32_t c = f->chan_rev[k];

			if (x->place[c] >= x->place[b] && *nue_turns_count(x, c, s->chan[i]))
				nue_turns_find(x, s, c);
		}
	}
}

static int nue_turns_compare(const void *a, const void *b)
{
	uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;

	return (p > q) - (p < q);
}

/* Channels in their order, and their places. */
static void nue_turns_collect(struct nue_turns *x, struct found *s, uint32_t from)
{
	for (uint32_t i = 0; i < s->n; i++)
		s->chan[i] = x->place[s->chan[i]];
	qsort(s->chan, s->n, sizeof(*s->chan), nue_turns_compare);
	for (uint32_t i = 0; i < s->n; i++) {
		x->places[from + i] = s->chan[i];
		x->moved[from + i] = x->at[s->chan[i]];
	}
}

/* All that leads to a before all that b leads to, in the places that both have. */
static void nue_turns_reorder(struct nue_turns *x)
{
	uint32_t n = x->behind.n + x->ahead.n;

	nue_turns_collect(x, &x->behind, 0);
	nue_turns_collect(x, &x->ahead, x->behind.n);
	qsort(x->places, n, sizeof(*x->places), nue_turns_compare);
	for (uint32_t i = 0; i < n; i++) {
		x->at[x->places[i]] = x->moved[i];
		x->place[x->moved[i]] = x->places[i];
	}
}

bool nue_turns_add(struct nue_turns *x, uint32_t a, uint32_t b, uint64_t most)
{
	if (x->place[a] > x->place[b]) {
		if (!nue_turns_look_ahead(x, a, b, most))
			return false;
		nue_turns_look_back(x, a, b);
		nue_turns_reorder(x);
	}
	++*nue_turns_count(x, a, b);
	return true;
}

void nue_turns_drop(struct nue_turns *x, uint32_t a, uint32_t b)
{
	--*nue_turns_count(x, a, b);
}

const uint32_t *nue_turns_places(const struct nue_turns *x)
{
	return x->place;
}

uint64_t nue_turns_work(const struct nue_turns *x)
{
	return x->work;
}
