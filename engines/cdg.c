/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/cdg.h"

#include "fabric/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define LABEL_END (1ull << 62)
#define LABEL_GAP 64 /* least room between two labels to put a third there */

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
	uint32_t limit; /* of channels that a search may expand */
};

struct cdg {
	struct cdg_work *w;
	uint64_t *succ; /* by channel: bit of each channel that its target has */
	uint64_t *pred; /* by channel: bit of each channel into its source, by that one's reverse */
	uint64_t *label;       /* by channel: ascending in the topological order */
	uint32_t *next, *prev; /* that order as a ring through the end, which is nchan */
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
		w->key[i] = xcalloc(f->nchan, sizeof(uint64_t));
		w->chan[i] = xcalloc(f->nchan, sizeof(uint32_t));
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
static void relabel(struct cdg *g)
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
	relabel(g);
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
	relabel(g);
}

void cdg_places(const struct cdg *g, uint32_t *place)
{
	uint32_t end = g->w->f->nchan, i = 0;

	for (uint32_t c = g->next[end]; c != end; c = g->next[c])
		place[c] = i++;
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

/* Channels of one search that are met and not expanded yet, as a binary heap by label: the
 * lowest first ahead, the highest (all bits of the label turned) first behind. */
struct front {
	uint32_t stamp, other;
	uint64_t turn; /* 0, or all ones */
	uint64_t *key; /* heap */
	uint32_t *chan;
	uint32_t n;
	uint32_t *done, ndone; /* expanded, in that order */
};

static void front_push(struct front *s, uint64_t key, uint32_t c)
{
	uint32_t i = s->n++;

	while (i && s->key[(i - 1) / 2] > key) {
		s->key[i] = s->key[(i - 1) / 2];
		s->chan[i] = s->chan[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	s->key[i] = key;
	s->chan[i] = c;
}

static uint32_t front_pop(struct front *s)
{
	uint32_t c = s->chan[0], i = 0, child;
	uint64_t key = s->key[--s->n];

	while ((child = 2 * i + 1) < s->n) {
		child += child + 1 < s->n && s->key[child + 1] < s->key[child];
		if (s->key[child] >= key)
			break;
		s->key[i] = s->key[child];
		s->chan[i] = s->chan[child];
		i = child;
	}
	s->key[i] = key;
	s->chan[i] = s->chan[s->n];
	s->done[s->ndone++] = c;
	return c;
}

static uint64_t front_label(const struct front *s)
{
	return s->key[0] ^ s->turn;
}

/* Notes a channel; true when the other search has met it too, which closes a cycle. */
static bool meet(struct cdg *g, struct front *s, uint32_t e)
{
	uint32_t *mark = &g->w->mark[e];

	if (*mark == s->other)
		return true;
	if (*mark == s->stamp)
		return false;
	*mark = s->stamp;
	front_push(s, g->label[e] ^ s->turn, e);
	return false;
}

static bool expand_ahead(struct cdg *g, struct front *s, uint64_t high)
{
	uint32_t c = front_pop(s), first = g->w->f->chan_off[g->w->f->chan_dst[c]];
	const uint64_t *succ = &g->succ[(size_t)c * g->w->words];

	for (uint32_t k = 0; k < g->w->words; k++) {
		for (uint64_t m = succ[k]; m; m &= m - 1) {
			uint32_t e = first + k * 64 + (uint32_t)__builtin_ctzll(m);

			if (g->label[e] <= high && meet(g, s, e))
				return true;
		}
	}
	return false;
}

static bool expand_behind(struct cdg *g, struct front *s, uint64_t low)
{
	const uint32_t *rev = g->w->f->chan_rev;
	uint32_t c = front_pop(s), first = g->w->f->chan_off[g->w->f->chan_src[c]];
	const uint64_t *pred = &g->pred[(size_t)c * g->w->words];

	for (uint32_t k = 0; k < g->w->words; k++) {
		for (uint64_t m = pred[k]; m; m &= m - 1) {
			uint32_t e = rev[first + k * 64 + (uint32_t)__builtin_ctzll(m)];

			if (g->label[e] >= low && meet(g, s, e))
				return true;
		}
	}
	return false;
}

/* Lowest label first from e, highest first from c, until the searches pass each other; true
 * when they meet, or have looked at as much as they may. */
static bool search(struct cdg *g, struct front *ahead, struct front *behind, uint64_t low,
		   uint64_t high)
{
	while (ahead->n && behind->n && front_label(ahead) < front_label(behind)) {
		if (ahead->ndone + behind->ndone >= g->w->limit)
			return true;
		bool met = ahead->ndone <= behind->ndone ? expand_ahead(g, ahead, high)
							 : expand_behind(g, behind, low);

		if (met)
			return true;
	}
	return false;
}

static void take_out(struct cdg *g, uint32_t c)
{
	g->next[g->prev[c]] = g->next[c];
	g->prev[g->next[c]] = g->prev[c];
}

static uint64_t gap_before(const struct cdg *g, uint32_t q)
{
	uint32_t end = g->w->f->nchan, p = g->prev[q];

	return (q == end ? LABEL_END : g->label[q]) - (p == end ? 0 : g->label[p]);
}

/* Puts c into the list before q (nchan: at the end).  Most of the room stays between c and q,
 * where the next ones of the same move, and often of the next moves, come. */
static void put_before(struct cdg *g, uint32_t q, uint32_t c)
{
	uint32_t p = g->prev[q];
	uint64_t gap;

	if (gap_before(g, q) < LABEL_GAP)
		relabel(g);
	gap = gap_before(g, q);
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
static void reorder(struct cdg *g, const struct front *ahead, const struct front *behind,
		    uint32_t c, uint64_t high)
{
	bool left = ahead->n && front_label(ahead) < high;
	uint32_t nbehind = 0, before = left ? ahead->chan[0] : g->next[c];

	while (left && nbehind < behind->ndone &&
	       g->label[behind->done[nbehind]] > g->label[before])
		take_out(g, behind->done[nbehind++]);
	for (uint32_t i = 0; i < ahead->ndone; i++)
		take_out(g, ahead->done[i]);
	for (uint32_t i = nbehind; i-- > 0;)
		put_before(g, before, behind->done[i]);
	for (uint32_t i = 0; i < ahead->ndone; i++)
		put_before(g, before, ahead->done[i]);
}

bool cdg_add(struct cdg *g, uint32_t c, uint32_t e)
{
	struct cdg_work *w = g->w;
	uint64_t low = g->label[e], high = g->label[c];
	struct front ahead = { .key = w->key[0], .chan = w->chan[0], .done = w->done[0] };
	struct front behind = { .key = w->key[1], .chan = w->chan[1], .done = w->done[1] };
	bool cycle;

	if (high < low) {
		link_turn(g, c, e);
		return true;
	}
	w->stamp += 2;
	ahead.stamp = behind.other = w->stamp;
	behind.stamp = ahead.other = w->stamp + 1;
	behind.turn = UINT64_MAX;
	cycle = meet(g, &ahead, e) || meet(g, &behind, c) || search(g, &ahead, &behind, low, high);
	w->looked += ahead.ndone + behind.ndone;
	if (cycle)
		return false;
	reorder(g, &ahead, &behind, c, high);
	link_turn(g, c, e);
	return true;
}
