/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/geometry/fattree_turns.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

/* What takes turns at a level: numbers at the leaves, rounds over the planes above them. */
struct turn_items {
	uint32_t n;
	uint32_t *start; /* by item: its first number */
	uint32_t *of;	 /* by number: its item */
};

/* The work of finding them. */
struct turn_finder {
	const struct fabric *f;
	const struct fattree *t;
	struct fattree_turns *x;
	struct turn_items items;
};

static uint32_t turns_numbers(const struct fabric *f, const struct fattree *t)
{
	uint32_t n = 1;

	for (uint32_t e = 0; e < f->nterm; e++)
		if (!t->tree->level[f->term_sw[e]] && t->number[e] >= n)
			n = t->number[e] + 1;
	return n;
}

/* The most numbers below one switch of level l. */
static uint32_t turns_window(const struct turn_finder *w, uint32_t l)
{
	const struct fabric *f = w->f;
	uint32_t *comp = xcalloc(f->nsw, sizeof(*comp)), most = 1;
	uint32_t *low = xcalloc(f->nsw + 1u, sizeof(*low)),
		 *high = xcalloc(f->nsw + 1u, sizeof(*high));

	memset(low, 0xff, f->nsw * sizeof(*low));
	tree_components(comp, f, w->t->tree->level, 0, l, NULL);
	for (uint32_t e = 0; e < f->nterm; e++) {
		uint32_t k = comp[f->term_sw[e]], j = w->t->number[e];

		if (w->t->tree->level[f->term_sw[e]])
			continue;
		low[k] = j < low[k] ? j : low[k];
		high[k] = j > high[k] ? j : high[k];
		most = high[k] - low[k] + 1 > most ? high[k] - low[k] + 1 : most;
	}
	free(comp);
	free(low);
	free(high);
	return most;
}

/* Slots of most switches of level l. */
static uint32_t turns_usual(const struct turn_finder *w, uint32_t l)
{
	const struct fattree *t = w->t;
	uint32_t *votes = xcalloc(t->npattern, sizeof(*votes)), best = 0;
	uint32_t usual;

	for (uint32_t u = 0; u < w->f->nsw; u++)
		votes[t->pattern_of[u]] += t->tree->level[u] == l;
	for (uint32_t p = 1; p < t->npattern; p++)
		best = votes[p] > votes[best] ? p : best;
	usual = votes[best] ? t->pattern[best].nslot : 0;
	free(votes);
	return usual ? usual : 1;
}

/* The most items in a row whose numbers meet in a window of numbers. */
static uint32_t turns_items_in(const struct turn_finder *w, uint32_t window)
{
	const struct turn_items *it = &w->items;
	uint32_t most = 1, end = 0;

	for (uint32_t i = 0; i < it->n; i++) {
		while (end < it->n && it->start[end] - it->start[i] < window)
			end++;
		most = end - i > most ? end - i : most;
	}
	return most;
}

/* Blocks of turns at level l, all as long as each other but for one; 0: as long as there are slots,
 * which the last one need not be.  Shorter ones must not let more of a window meet. */
static uint32_t turns_even_blocks(const struct turn_finder *w, uint32_t l, uint32_t usual,
				  uint32_t planes)
{
	uint32_t window = turns_items_in(w, turns_window(w, l)), n = w->items.n;
	uint32_t blocks = (n + usual - 1) / usual, meet = (window + usual - 1) / usual;

	return usual % planes == 0 && n / blocks * meet >= window ? blocks : 0;
}

/* Where cables have slots by their rates, turns of leaves with more hosts than slots begin again at
 * each leaf, with the fast ones. */
static uint32_t turns_block_length(const struct turn_finder *w, uint32_t l, uint32_t usual)
{
	uint32_t window = w->t->shares && !l ? turns_window(w, l) : 0;

	return window > usual ? window : usual;
}

/* Turns of level l, and the items of the next one. */
static void turns_fill(struct turn_finder *w, uint32_t l)
{
	struct fattree_turn *level = &w->x->level[l];
	struct turn_items *it = &w->items, next = { 0 };
	uint32_t planes = (uint32_t)(w->t->div[l + 1] / w->t->div[l]), usual = turns_usual(w, l);
	uint32_t blocks = turns_even_blocks(w, l, usual, planes), block = 0, begin = 0, end = 0;
	uint32_t length = turns_block_length(w, l, usual);
	uint32_t *at = xcalloc(it->n, sizeof(*at)), *round = xcalloc(it->n, sizeof(*round));
	bool apart = usual % planes == 0; /* rounds begin with the blocks */

	next.start = xcalloc(it->n, sizeof(*next.start));
	for (uint32_t i = 0; i < it->n; i++) {
		if (i == end) {
			begin = end;
			block++;
			end = blocks ? (uint32_t)((uint64_t)block * it->n / blocks) : end + length;
		}
		at[i] = (i - begin) % usual;
		if ((apart ? at[i] : i) % planes == 0)
			next.start[next.n++] = it->start[i];
		round[i] = next.n - 1;
	}
	level->usual = usual;
	level->at = xcalloc(w->x->n, sizeof(*level->at));
	level->count = xcalloc(w->x->n, sizeof(*level->count));
	for (uint32_t j = 0; j < w->x->n; j++) {
		level->at[j] = at[it->of[j]];
		level->count[j] = it->of[j];
		it->of[j] = round[it->of[j]];
	}
	free(it->start);
	it->start = next.start;
	it->n = next.n;
	free(at);
	free(round);
}

struct fattree_turns *fattree_turns_new(const struct fabric *f, const struct fattree *t)
{
	struct fattree_turns *x = xcalloc(1, sizeof(*x));
	struct turn_finder w = { .f = f, .t = t, .x = x };

	x->n = turns_numbers(f, t);
	w.items.n = x->n;
	w.items.start = xcalloc(x->n, sizeof(*w.items.start));
	w.items.of = xcalloc(x->n, sizeof(*w.items.of));
	for (uint32_t j = 0; j < x->n; j++)
		w.items.start[j] = w.items.of[j] = j;
	for (uint32_t l = 0; l < t->tree->nlevel; l++)
		turns_fill(&w, l);
	free(w.items.start);
	free(w.items.of);
	return x;
}

void fattree_turns_free(struct fattree_turns *x)
{
	if (!x)
		return;
	for (uint32_t l = 0; l < TREE_LEVELS; l++) {
		free(x->level[l].at);
		free(x->level[l].count);
	}
	free(x);
}
