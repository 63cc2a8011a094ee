/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/cdg.h"

#include "fabric/base/mem.h"

#include <stdlib.h>
#include <string.h>

struct cdg_work {
	const struct fabric *f;
	uint32_t words;	 /* of 64 neighbours each */
	uint8_t *rplace; /* by channel: place of its reverse among the channels of its target */
	uint32_t *mark;	 /* by channel: stamp, or stamp + 1 when met backwards */
	uint32_t stamp;
	uint32_t *ahead, *behind; /* channels met forwards and backwards */
	uint32_t *slot;
	uint64_t *key;
	uint64_t done;
};

struct cdg {
	struct cdg_work *w;
	uint64_t *succ; /* by channel: bit of each channel that its target has */
	uint64_t *
		pred; /* by channel: bit of each channel into its source, by place of the reverse */
	uint32_t *ord;
};

struct cdg_work *cdg_work_new(const struct fabric *f)
{
	struct cdg_work *w = xcalloc(1, sizeof(*w));
	uint32_t deg = 1;

	for (uint32_t u = 0; u < f->nsw; u++)
		if (f->chan_off[u + 1] - f->chan_off[u] > deg)
			deg = f->chan_off[u + 1] - f->chan_off[u];
	w->f = f;
	w->words = (deg + 63) / 64;
	w->rplace = xcalloc(f->nchan, 1);
	for (uint32_t c = 0; c < f->nchan; c++)
		w->rplace[c] = (uint8_t)(f->chan_rev[c] - f->chan_off[f->chan_dst[c]]);
	w->mark = xcalloc(f->nchan, sizeof(uint32_t));
	w->ahead = xcalloc(f->nchan, sizeof(uint32_t));
	w->behind = xcalloc(f->nchan, sizeof(uint32_t));
	w->slot = xcalloc(f->nchan, sizeof(uint32_t));
	w->key = xcalloc(f->nchan, sizeof(uint64_t));
	return w;
}

void cdg_work_free(struct cdg_work *w)
{
	if (!w)
		return;
	free(w->rplace);
	free(w->mark);
	free(w->ahead);
	free(w->behind);
	free(w->slot);
	free(w->key);
	free(w);
}

uint64_t cdg_work_done(const struct cdg_work *w)
{
	return w->done;
}

struct cdg *cdg_new(struct cdg_work *w, const uint32_t *order)
{
	struct cdg *g = xcalloc(1, sizeof(*g));
	uint32_t n = w->f->nchan;

	g->w = w;
	g->succ = xcalloc((size_t)n * w->words, sizeof(uint64_t));
	g->pred = xcalloc((size_t)n * w->words, sizeof(uint64_t));
	g->ord = xcalloc(n, sizeof(uint32_t));
	for (uint32_t c = 0; c < n; c++)
		g->ord[c] = order ? order[c] : c;
	return g;
}

void cdg_free(struct cdg *g)
{
	if (!g)
		return;
	free(g->succ);
	free(g->pred);
	free(g->ord);
	free(g);
}

static uint64_t *succ_word(const struct cdg *g, uint32_t c, uint32_t e, uint64_t *bit)
{
	uint32_t place = e - g->w->f->chan_off[g->w->f->chan_dst[c]];

	*bit = 1ull << (place & 63);
	return &g->succ[(size_t)c * g->w->words + place / 64];
}

static uint64_t *pred_word(const struct cdg *g, uint32_t c, uint32_t e, uint64_t *bit)
{
	uint32_t place = g->w->rplace[c];

	*bit = 1ull << (place & 63);
	return &g->pred[(size_t)e * g->w->words + place / 64];
}

bool cdg_has(const struct cdg *g, uint32_t c, uint32_t e)
{
	uint64_t bit, *word = succ_word(g, c, e, &bit);

	return *word & bit;
}

static void link_turn(struct cdg *g, uint32_t c, uint32_t e)
{
	uint64_t bit, *word = succ_word(g, c, e, &bit);

	*word |= bit;
	word = pred_word(g, c, e, &bit);
	*word |= bit;
}

void cdg_remove(struct cdg *g, uint32_t c, uint32_t e)
{
	uint64_t bit, *word = succ_word(g, c, e, &bit);

	*word &= ~bit;
	word = pred_word(g, c, e, &bit);
	*word &= ~bit;
}

/* One search outwards: channels in list[head..tail) are to be expanded. */
struct front {
	uint32_t *list, head, tail;
	uint32_t stamp, other;
	uint32_t bound; /* positions beyond it are not affected */
};

/* Expands the next channel forwards; true when it meets the other search. */
static bool step_ahead(struct cdg *g, struct front *s)
{
	const struct fabric *f = g->w->f;
	uint32_t c = s->list[s->head++], first = f->chan_off[f->chan_dst[c]];
	uint32_t *mark = g->w->mark;

	for (uint32_t k = 0; k < g->w->words; k++) {
		for (uint64_t m = g->succ[(size_t)c * g->w->words + k]; m; m &= m - 1) {
			uint32_t e = first + k * 64 + (uint32_t)__builtin_ctzll(m);

			if (mark[e] == s->other)
				return true;
			if (g->ord[e] >= s->bound || mark[e] == s->stamp)
				continue;
			mark[e] = s->stamp;
			s->list[s->tail++] = e;
		}
	}
	return false;
}

static bool step_behind(struct cdg *g, struct front *s)
{
	const struct fabric *f = g->w->f;
	uint32_t c = s->list[s->head++], first = f->chan_off[f->chan_src[c]];
	uint32_t *mark = g->w->mark;

	for (uint32_t k = 0; k < g->w->words; k++) {
		for (uint64_t m = g->pred[(size_t)c * g->w->words + k]; m; m &= m - 1) {
			uint32_t e = f->chan_rev[first + k * 64 + (uint32_t)__builtin_ctzll(m)];

			if (mark[e] == s->other)
				return true;
			if (g->ord[e] <= s->bound || mark[e] == s->stamp)
				continue;
			mark[e] = s->stamp;
			s->list[s->tail++] = e;
		}
	}
	return false;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Appends the channels of a search to the keys, by position; returns the new count. */
static uint32_t sort_front(struct cdg *g, const struct front *s, uint32_t n)
{
	uint64_t *key = g->w->key + n;

	for (uint32_t i = 0; i < s->tail; i++)
		key[i] = (uint64_t)g->ord[s->list[i]] << 32 | s->list[i];
	qsort(key, s->tail, sizeof(*key), by_value);
	return n + s->tail;
}

/* What leads to the turn gets the low ones of the positions of both, what follows the rest. */
static void reorder(struct cdg *g, const struct front *ahead, const struct front *behind)
{
	uint32_t mid = sort_front(g, behind, 0), n = sort_front(g, ahead, mid);
	uint32_t i = 0, k = mid, slot = 0;
	const uint64_t *key = g->w->key;

	while (i < mid || k < n)
		if (k == n || (i < mid && key[i] < key[k]))
			g->w->slot[slot++] = (uint32_t)(key[i++] >> 32);
		else
			g->w->slot[slot++] = (uint32_t)(key[k++] >> 32);
	for (i = 0; i < n; i++)
		g->ord[(uint32_t)key[i]] = g->w->slot[i];
}

bool cdg_add(struct cdg *g, uint32_t c, uint32_t e)
{
	struct cdg_work *w = g->w;
	struct front ahead = { .list = w->ahead, .tail = 1, .bound = g->ord[c] };
	struct front behind = { .list = w->behind, .tail = 1, .bound = g->ord[e] };

	if (g->ord[c] < g->ord[e]) {
		link_turn(g, c, e);
		return true;
	}
	if (c == e)
		return false;
	w->stamp += 2;
	ahead.stamp = behind.other = w->stamp;
	behind.stamp = ahead.other = w->stamp + 1;
	ahead.list[0] = e;
	w->mark[e] = ahead.stamp;
	behind.list[0] = c;
	w->mark[c] = behind.stamp;
	while (ahead.head < ahead.tail || behind.head < behind.tail) {
		bool met;

		if (behind.head == behind.tail ||
		    (ahead.head < ahead.tail && ahead.head <= behind.head))
			met = step_ahead(g, &ahead);
		else
			met = step_behind(g, &behind);
		if (met) {
			w->done += ahead.head + behind.head;
			return false;
		}
	}
	w->done += ahead.head + behind.head;
	reorder(g, &ahead, &behind);
	link_turn(g, c, e);
	return true;
}
