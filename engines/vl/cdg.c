/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/vl/cdg.h"

#include "engines/vl/cdg_index.h"
#include "fabric/base/memory/heap.h"
#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define LABEL_END  (1ull << 62)
#define LABEL_GAP  64 /* least room between two labels to put a third there */
#define LEARN_COST 2  /* of cdg_learn() by channel, in channels that a search meets */

struct cdg_work {
	const struct fabric *f;
	uint32_t words;	 /* of 64 neighbours each */
	uint8_t *rplace; /* by channel: place of its reverse among the channels of its target */
	uint32_t *mark;	 /* by channel: stamp, or stamp + 1 when met backwards */
	uint32_t stamp;
	/* of the search ahead and of the one behind */
	uint64_t *key[2];
	uint32_t *chan[2], *done[2];
	uint64_t looked;
	uint32_t limit; /* of channels that wait to be expanded in a search */
};

struct cdg {
	struct cdg_work *w;
	uint64_t *succ; /* by channel: bit of each channel that its target has */
	uint64_t *pred; /* by channel: bit of each channel into its source, by that one's reverse */
	uint64_t *label;	/* by channel: ascending in the topological order */
	uint32_t *next, *prev;	/* that order as a ring through the end, which is nchan */
	struct cdg_index *hubs; /* NULL before the first cdg_learn() */
};

struct cdg_work *cdg_work_new(const struct fabric *f)
{
	struct cdg_work *w = xcalloc(1, sizeof(*w));
	uint32_t deg = 1;

	for (uint32_t u = 0; u < f->nsw; u++)
		if (f->chan_off[u + 1] - f->chan_off[u] > deg)
			deg = f->chan_off[u + 1] - f->chan_off[u];
	w->f = f;
	w->limit = UINT32_MAX;
	w->words = (deg + 63) / 64;
	w->rplace = xcalloc(f->nchan, 1);
	for (uint32_t c = 0; c < f->nchan; c++)
		w->rplace[c] = (uint8_t)(f->chan_rev[c] - f->chan_off[f->chan_dst[c]]);
	w->mark = xcalloc(f->nchan, sizeof(uint32_t));
	for (int i = 0; i < 2; i++) {
		w->key[i] = xcalloc(f->nchan + 1, sizeof(uint64_t)); /* the last is never kept */
		w->chan[i] = xcalloc(f->nchan + 1, sizeof(uint32_t));
		w->done[i] = xcalloc(f->nchan, sizeof(uint32_t));
	}
	return w;
}

void cdg_work_free(struct cdg_work *w)
{
	if (!w)
		return;
	free(w->rplace);
	free(w->mark);
	for (int i = 0; i < 2; i++) {
		free(w->key[i]);
		free(w->chan[i]);
		free(w->done[i]);
	}
	free(w);
}

uint64_t cdg_work_done(const struct cdg_work *w)
{
	return w->looked;
}

void cdg_work_limit(struct cdg_work *w, uint32_t channels)
{
	w->limit = channels;
}

/* Labels at equal distances again. */
static void cdg_relabel(struct cdg *g)
{
	uint32_t end = g->w->f->nchan;
	uint64_t step = LABEL_END / (end + 1ull), label = 0;

	for (uint32_t c = g->next[end]; c != end; c = g->next[c])
		g->label[c] = label += step;
}

struct cdg *cdg_new(struct cdg_work *w)
{
	struct cdg *g = xcalloc(1, sizeof(*g));
	uint32_t n = w->f->nchan;

	g->w = w;
	g->succ = xcalloc((size_t)n * w->words, sizeof(uint64_t));
	g->pred = xcalloc((size_t)n * w->words, sizeof(uint64_t));
	g->label = xcalloc(n, sizeof(uint64_t));
	g->next = xcalloc(n + 1, sizeof(uint32_t));
	g->prev = xcalloc(n + 1, sizeof(uint32_t));
	for (uint32_t c = 0; c <= n; c++) {
		g->prev[c] = c ? c - 1 : n;
		g->next[c] = c < n ? c + 1 : 0;
	}
	cdg_relabel(g);
	return g;
}

void cdg_free(struct cdg *g)
{
	if (!g)
		return;
	free(g->succ);
	free(g->pred);
	free(g->label);
	free(g->next);
	free(g->prev);
	cdg_index_free(g->hubs);
	free(g);
}

void cdg_restart(struct cdg *g, const uint32_t *order)
{
	uint32_t n = g->w->f->nchan, last = n;

	memset(g->succ, 0, (size_t)n * g->w->words * sizeof(*g->succ));
	memset(g->pred, 0, (size_t)n * g->w->words * sizeof(*g->pred));
	for (uint32_t i = 0; i < n; i++) {
		g->prev[order[i]] = last;
		g->next[last] = order[i];
		last = order[i];
	}
	g->next[last] = n;
	g->prev[n] = last;
	cdg_relabel(g);
}

void cdg_places(const struct cdg *g, uint32_t *place)
{
	uint32_t end = g->w->f->nchan, i = 0;

	for (uint32_t c = g->next[end]; c != end; c = g->next[c])
		place[c] = i++;
}

uint32_t cdg_words(const struct cdg_work *w)
{
	return w->words;
}

const uint64_t *cdg_turns(const struct cdg *g)
{
	return g->pred;
}

static uint64_t *cdg_succ_word(const struct cdg *g, uint32_t c, uint32_t e, uint64_t *bit)
{
	uint32_t place = e - g->w->f->chan_off[g->w->f->chan_dst[c]];

	*bit = 1ull << (place & 63);
	return &g->succ[(size_t)c * g->w->words + place / 64];
}

static uint64_t *cdg_pred_word(const struct cdg *g, uint32_t c, uint32_t e, uint64_t *bit)
{
	uint32_t place = g->w->rplace[c];

	*bit = 1ull << (place & 63);
	return &g->pred[(size_t)e * g->w->words + place / 64];
}

bool cdg_has(const struct cdg *g, uint32_t c, uint32_t e)
{
	uint64_t bit, *word = cdg_succ_word(g, c, e, &bit);

	return *word & bit;
}

static void cdg_link_turn(struct cdg *g, uint32_t c, uint32_t e)
{
	uint64_t bit, *word = cdg_succ_word(g, c, e, &bit);

	*word |= bit;
	word = cdg_pred_word(g, c, e, &bit);
	*word |= bit;
}

void cdg_remove(struct cdg *g, uint32_t c, uint32_t e)
{
	uint64_t bit, *word = cdg_succ_word(g, c, e, &bit);

	*word &= ~bit;
	word = cdg_pred_word(g, c, e, &bit);
	*word &= ~bit;
}

/* Channels of one search that are met and not expanded yet; the next is the one with the lowest
 * label ahead, the highest (all bits of the label turned) behind.  The first nheap are a binary
 * heap, the last ones, RECENT or a few more, come as they were met: most searches end before there
 * are more. */
struct front {
	uint32_t stamp, other;
	uint64_t turn; /* 0, or all ones */
	uint64_t *key;
	uint32_t *chan;
	uint32_t n, nheap;
	uint32_t best;	       /* index of the next one */
	uint32_t *done, ndone; /* expanded, in that order */
};

#define RECENT 32

static void cdg_front_move(struct front *s, uint32_t to, uint32_t from)
{
	s->key[to] = s->key[from];
	s->chan[to] = s->chan[from];
}

/* The first of the heap goes, and its place behind it to the last of the recent ones. */
static void cdg_front_drop_first(struct front *s)
{
	uint32_t last = --s->nheap;

	heap_down(s->key, s->chan, last, 0, s->key[last], s->chan[last]);
	cdg_front_move(s, last, --s->n);
}

static void cdg_front_find(struct front *s)
{
	const uint64_t *key = s->key;
	uint32_t best = 0;

	for (; s->n > s->nheap + RECENT; s->nheap++)
		heap_up(s->key, s->chan, s->nheap, s->key[s->nheap], s->chan[s->nheap]);
	for (uint32_t i = s->nheap + !s->nheap; i < s->n; i++)
		best = key[i] < key[best] ? i : best;
	s->best = best;
}

static uint32_t cdg_front_pop(struct front *s)
{
	uint32_t c = s->chan[s->best];

	if (s->best < s->nheap)
		cdg_front_drop_first(s);
	else
		cdg_front_move(s, s->best, --s->n);
	s->done[s->ndone++] = c;
	return c;
}

static uint64_t cdg_front_label(const struct front *s)
{
	return s->key[s->best] ^ s->turn;
}

/* Notes a channel unless it is out of range.  No branches: nobody could foretell them.  True when
 * the other search has met it, too, which closes a cycle. */
static inline bool cdg_meet(struct front *s, uint32_t *mark, uint64_t label, bool in_range,
			    uint32_t e)
{
	uint32_t was = mark[e];
	bool is_new = in_range & (was != s->stamp);

	mark[e] = is_new ? s->stamp : was;
	s->key[s->n] = label ^ s->turn;
	s->chan[s->n] = e;
	s->n += is_new;
	return was == s->other;
}

/* Returns a channel that both searches have met, or FAB_NONE. */
static uint32_t cdg_expand_ahead(struct cdg *g, struct front *front, uint64_t high)
{
	const struct cdg_work *w = g->w;
	uint32_t c = cdg_front_pop(front), first = w->f->chan_off[w->f->chan_dst[c]];
	const uint64_t *succ = &g->succ[(size_t)c * w->words], *label = g->label;
	struct front s = *front;
	uint32_t met = FAB_NONE;

	for (uint32_t k = 0; k < w->words; k++, first += 64) {
		for (uint64_t m = succ[k]; m; m &= m - 1) {
			uint32_t e = first + (uint32_t)__builtin_ctzll(m);

			met = cdg_meet(&s, w->mark, label[e], label[e] <= high, e) ? e : met;
		}
	}
	front->n = s.n;
	cdg_front_find(front);
	return met;
}

static uint32_t cdg_expand_behind(struct cdg *g, struct front *front, uint64_t low)
{
	const struct cdg_work *w = g->w;
	uint32_t c = cdg_front_pop(front);
	const uint64_t *pred = &g->pred[(size_t)c * w->words], *label = g->label;
	const uint32_t *rev = w->f->chan_rev + w->f->chan_off[w->f->chan_src[c]];
	struct front s = *front;
	uint32_t met = FAB_NONE;

	for (uint32_t k = 0; k < w->words; k++, rev += 64) {
		for (uint64_t m = pred[k]; m; m &= m - 1) {
			uint32_t e = rev[__builtin_ctzll(m)];

			met = cdg_meet(&s, w->mark, label[e], label[e] >= low, e) ? e : met;
		}
	}
	front->n = s.n;
	cdg_front_find(front);
	return met;
}

/* Has it looked at more than it may?  Searches that end without a cycle are seldom wide. */
static bool cdg_is_too_wide(const struct cdg *g, const struct front *ahead,
			    const struct front *behind)
{
	uint64_t limit = g->w->limit;

	return (behind->ndone && ahead->n + behind->n > limit) ||
	       ahead->ndone + behind->ndone >= 2 * limit;
}

/* Lowest label first from e, highest first from c, until the searches pass each other; true
 * when they meet, or have looked at as much as they may. */
static bool cdg_search(struct cdg *g, struct front *ahead, struct front *behind, uint64_t low,
		       uint64_t high)
{
	while (ahead->n && behind->n && cdg_front_label(ahead) < cdg_front_label(behind)) {
		if (cdg_is_too_wide(g, ahead, behind))
			return true;
		uint32_t met = ahead->ndone <= behind->ndone ? cdg_expand_ahead(g, ahead, high)
							     : cdg_expand_behind(g, behind, low);

		if (met == FAB_NONE)
			continue;
		if (g->hubs)
			cdg_index_note(g->hubs, met);
		return true;
	}
	return false;
}

static void cdg_take_out(struct cdg *g, uint32_t c)
{
	g->next[g->prev[c]] = g->next[c];
	g->prev[g->next[c]] = g->prev[c];
}

static uint64_t cdg_gap_before(const struct cdg *g, uint32_t q)
{
	uint32_t end = g->w->f->nchan, p = g->prev[q];

	return (q == end ? LABEL_END : g->label[q]) - (p == end ? 0 : g->label[p]);
}

/* Puts c into the list before q (nchan: at the end).  Most of the room stays between c and q,
 * where the next ones of the same move, and often of the next moves, come. */
static void cdg_put_before(struct cdg *g, uint32_t q, uint32_t c)
{
	uint32_t p = g->prev[q];
	uint64_t gap;

	if (cdg_gap_before(g, q) < LABEL_GAP)
		cdg_relabel(g);
	gap = cdg_gap_before(g, q);
	g->label[c] = (q == g->w->f->nchan ? LABEL_END : g->label[q]) - (gap - gap / 16);
	g->prev[c] = p;
	g->next[c] = q;
	g->next[p] = g->prev[q] = c;
}

/*
 * The first channel ahead that was left splits the order: what the search went through behind c
 * and beyond the split comes right before it, followed by what it went through ahead of e.  When
 * none was left, all that is ahead goes after c.  The others stay.
 */
static void cdg_reorder(struct cdg *g, const struct front *ahead, const struct front *behind,
			uint32_t c, uint64_t high)
{
	bool left = ahead->n && cdg_front_label(ahead) < high;
	uint32_t nbehind = 0, before = left ? ahead->chan[ahead->best] : g->next[c];

	while (left && nbehind < behind->ndone &&
	       g->label[behind->done[nbehind]] > g->label[before])
		cdg_take_out(g, behind->done[nbehind++]);
	for (uint32_t i = 0; i < ahead->ndone; i++)
		cdg_take_out(g, ahead->done[i]);
	for (uint32_t i = nbehind; i-- > 0;)
		cdg_put_before(g, before, behind->done[i]);
	for (uint32_t i = 0; i < ahead->ndone; i++)
		cdg_put_before(g, before, ahead->done[i]);
}

bool cdg_add(struct cdg *g, uint32_t c, uint32_t e)
{
	struct cdg_work *w = g->w;
	uint64_t low = g->label[e], high = g->label[c];
	struct front ahead = { .key = w->key[0], .chan = w->chan[0], .done = w->done[0] };
	struct front behind = { .key = w->key[1], .chan = w->chan[1], .done = w->done[1] };
	bool cycle;

	if (high < low) {
		cdg_link_turn(g, c, e);
		return true;
	}
	if (g->hubs && cdg_index_lead(g->hubs, e, c))
		return false;
	w->stamp += 2;
	ahead.stamp = behind.other = w->stamp;
	behind.stamp = ahead.other = w->stamp + 1;
	behind.turn = UINT64_MAX;
	cdg_meet(&ahead, w->mark, low, true, e);
	cdg_meet(&behind, w->mark, high, true, c);
	cycle = cdg_search(g, &ahead, &behind, low, high);
	w->looked += ahead.ndone + behind.ndone;
	if (cycle && g->hubs)
		g->hubs->spent += ahead.ndone + behind.ndone + ahead.n + behind.n;
	if (cycle)
		return false;
	cdg_reorder(g, &ahead, &behind, c, high);
	cdg_link_turn(g, c, e);
	return true;
}

/* Who is led to from some hubs, or to whom they lead: what is known at x goes on from there. */
static void cdg_pass_on(struct cdg *g, uint32_t x, bool ahead)
{
	struct cdg_work *w = g->w;
	uint64_t *know = ahead ? g->hubs->from : g->hubs->to;
	uint32_t *todo = w->chan[ahead], n = 0;
	bool *waits = g->hubs->waits;

	for (;;) {
		const uint64_t *turns = (ahead ? g->succ : g->pred) + (size_t)x * w->words;
		uint32_t first = ahead ? w->f->chan_off[w->f->chan_dst[x]]
				       : w->f->chan_off[w->f->chan_src[x]];

		for (uint32_t k = 0; k < w->words; k++, first += 64)
			for (uint64_t m = turns[k]; m; m &= m - 1) {
				uint32_t at = first + (uint32_t)__builtin_ctzll(m);
				uint32_t y = ahead ? at : w->f->chan_rev[at];

				if (!(know[x] & ~know[y]))
					continue;
				know[y] |= know[x];
				if (!waits[y])
					todo[n++] = y;
				waits[y] = true;
			}
		w->looked++;
		if (!n)
			return;
		x = todo[--n];
		waits[x] = false;
	}
}

void cdg_keep(struct cdg *g, uint32_t c, uint32_t e)
{
	struct cdg_index *h = g->hubs;

	if (!h)
		return;
	if (h->from[c] & ~h->from[e]) {
		h->from[e] |= h->from[c];
		cdg_pass_on(g, e, true);
	}
	if (h->to[e] & ~h->to[c]) {
		h->to[c] |= h->to[e];
		cdg_pass_on(g, c, false);
	}
}

bool cdg_learn(struct cdg *g)
{
	struct cdg_work *w = g->w;
	uint32_t n = w->f->nchan, i = 0;

	if (!g->hubs)
		g->hubs = cdg_index_new(w->f);
	if (g->hubs->spent < (uint64_t)LEARN_COST * n)
		return false;
	for (uint32_t c = g->next[n]; c != n; c = g->next[c])
		w->chan[0][i++] = c;
	cdg_index_learn(g->hubs, w->chan[0], g->pred, w->words);
	return true;
}
