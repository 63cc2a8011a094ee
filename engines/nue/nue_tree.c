/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue/nue_tree.h"

#include "engines/vl/cdg.h"
#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

/* How wide a search for a cycle may be where a turn is welcome, but not necessary.  Wider ones cost
 * half as much again on tori with parallel cables, for nothing. */
#define EASY 4

struct turn_pair {
	uint32_t c, d;
};

struct nue_tree {
	struct arena *mem; /* owns the arrays */
	const struct nue_net *net;
	const struct nue_escape *escape;
	struct cdg_work *work;
	struct cdg *cdg;
	uint32_t words; /* of 64 channels each */
	uint8_t *bit;	/* by channel: its reverse among those that leave the switch */
	const uint64_t
		*used;	   /* by channel d and word: bits of channels c whose turn to d there is */
	uint64_t *blocked; /* the same: whose turn would close a cycle */

	uint32_t dst;
	uint32_t *next;	 /* by switch: channel, FAB_NONE at the destination */
	uint32_t *hops;	 /* by switch: FAB_NONE while it has not joined */
	bool *idle;	 /* by switch: joined without its turn */
	uint32_t *level; /* by hops: first switch so far from the destination, FAB_NONE: none */
	uint32_t *last;	 /* by hops */
	uint32_t *after; /* by switch: the next one as far */
	uint32_t joined, far;
	uint32_t *wait; /* channels whose turns are new; switches in reach of a climb */
	uint64_t *key;	/* by switch: of a climb */
	bool *forced;
	uint32_t *escape_next; /* the escape tree's next channels */
	struct turn_pair *log;
	uint32_t nlog, log_room;
	uint64_t looked;
};

struct nue_tree *nue_tree_new(const struct nue_net *net)
{
	const struct fabric *f = net->f;
	struct arena *mem = arena_new();
	struct nue_tree *t = arena_alloc(mem, 1, sizeof(*t));

	t->mem = mem;
	t->net = net;
	t->work = cdg_work_new(f);
	t->cdg = cdg_new(t->work);
	t->words = cdg_words(t->work);
	t->used = cdg_turns(t->cdg);
	t->blocked = arena_alloc(mem, (size_t)f->nchan * t->words, sizeof(*t->blocked));
	t->bit = arena_alloc(mem, f->nchan, sizeof(*t->bit));
	for (uint32_t c = 0; c < f->nchan; c++)
		t->bit[c] = (uint8_t)(f->chan_rev[c] - f->chan_off[f->chan_dst[c]]);
	t->next = arena_alloc(mem, f->nsw, sizeof(*t->next));
	t->hops = arena_alloc(mem, f->nsw, sizeof(*t->hops));
	t->idle = arena_alloc(mem, f->nsw, sizeof(*t->idle));
	t->level = arena_alloc(mem, f->nsw + 1, sizeof(*t->level));
	t->last = arena_alloc(mem, f->nsw + 1, sizeof(*t->last));
	t->after = arena_alloc(mem, f->nsw, sizeof(*t->after));
	t->wait = arena_alloc(mem, (size_t)f->nchan + f->nsw, sizeof(*t->wait));
	t->key = arena_alloc(mem, f->nsw, sizeof(*t->key));
	t->forced = arena_alloc(mem, f->nsw, sizeof(*t->forced));
	t->escape_next = arena_alloc(mem, f->nsw, sizeof(*t->escape_next));
	return t;
}
void nue_tree_free(struct nue_tree *t)
{
	if (!t)
		return;
	cdg_free(t->cdg);
	cdg_work_free(t->work);
	free(t->log);
	arena_free(t->mem);
}

const uint32_t *nue_tree_next(const struct nue_tree *t)
{
	return t->next;
}

const uint32_t *nue_tree_hops(const struct nue_tree *t)
{
	return t->hops;
}

void nue_tree_places(const struct nue_tree *t, uint32_t *place)
{
	cdg_places(t->cdg, place);
}

uint64_t nue_tree_work(const struct nue_tree *t)
{
	return t->looked + 8 * cdg_work_done(t->work);
}

/* Of the bits of the turns to d: the word with that of c, and where it is there. */
static size_t nue_tree_turn_word(const struct nue_tree *t, uint32_t c, uint32_t d, uint64_t *bit)
{
	*bit = 1ull << (t->bit[c] & 63);
	return (size_t)d * t->words + t->bit[c] / 64;
}

void nue_tree_layer(struct nue_tree *t, const uint32_t *order)
{
	const struct fabric *f = t->net->f;

	cdg_restart(t->cdg, order);
	memset(t->blocked, 0, (size_t)f->nchan * t->words * sizeof(*t->blocked));
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint64_t bit;
		size_t word = nue_tree_turn_word(t, c, f->chan_rev[c], &bit);

		t->blocked[word] |= bit;
	}
}

void nue_tree_climbing(struct nue_tree *t, const uint32_t *place)
{
	const struct fabric *f = t->net->f;

	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t v = f->chan_dst[c];

		t->looked += f->chan_off[v + 1] - f->chan_off[v];
		for (uint32_t d = f->chan_off[v]; d < f->chan_off[v + 1]; d++) {
			if (place[d] < place[c] || f->chan_dst[d] == f->chan_src[c])
				continue;
			cdg_add(t->cdg, c, d);
		}
	}
}

struct escape_adding {
	struct nue_tree *t;
	bool closed; /* a cycle */
};

static void nue_tree_add_escape_turn(void *ctx, uint32_t c, uint32_t d)
{
	struct escape_adding *a = ctx;

	a->closed |= !cdg_add(a->t->cdg, c, d);
}

bool nue_tree_escape(struct nue_tree *t, const struct nue_escape *e)
{
	struct escape_adding a = { .t = t };

	t->escape = e;
	nue_escape_turns(e, t->net->f, nue_tree_add_escape_turn, &a);
	return !a.closed;
}

static void nue_tree_log_turn(struct nue_tree *t, uint32_t c, uint32_t d)
{
	if (t->nlog == t->log_room) {
		t->log_room = t->log_room ? 2 * t->log_room : 1024;
		t->log = xrealloc(t->log, t->log_room, sizeof(*t->log));
	}
	t->log[t->nlog++] = (struct turn_pair){ c, d };
}

static bool nue_tree_add_turn(struct nue_tree *t, uint32_t c, uint32_t d)
{
	uint64_t bit;
	size_t word = nue_tree_turn_word(t, c, d, &bit);
	bool closes;

	if ((t->used[word] | t->blocked[word]) & bit)
		return t->used[word] & bit;
	closes = !cdg_add(t->cdg, c, d);
	if (closes)
		t->blocked[word] |= bit;
	nue_tree_log_turn(t, c, d);
	return !closes;
}

bool nue_tree_easy_turn(struct nue_tree *t, uint32_t c, uint32_t d)
{
	uint64_t bit;
	size_t word = nue_tree_turn_word(t, c, d, &bit);
	bool has;

	if ((t->used[word] | t->blocked[word]) & bit)
		return t->used[word] & bit;
	cdg_work_limit(t->work, EASY);
	t->nlog = 0;
	has = nue_tree_add_turn(t, c, d);
	cdg_work_limit(t->work, UINT32_MAX);
	return has;
}

/* Takes back all turns, and what they blocked, since the log began. */
static void nue_tree_undo(struct nue_tree *t)
{
	while (t->nlog) {
		struct turn_pair *p = &t->log[--t->nlog];
		uint64_t bit;
		size_t word = nue_tree_turn_word(t, p->c, p->d, &bit);

		if (t->used[word] & bit)
			cdg_remove(t->cdg, p->c, p->d);
		t->blocked[word] &= ~bit;
	}
}

static void nue_tree_join(struct nue_tree *t, uint32_t u, uint32_t c, uint32_t hops, bool idle)
{
	t->next[u] = c;
	t->hops[u] = hops;
	t->idle[u] = idle;
	t->after[u] = FAB_NONE;
	for (; t->far < hops; t->far++)
		t->level[t->far + 1] = FAB_NONE;
	if (t->level[hops] == FAB_NONE)
		t->level[hops] = u;
	else
		t->after[t->last[hops]] = u;
	t->last[hops] = u;
	t->joined++;
}

static void nue_tree_begin(struct nue_tree *t, uint32_t dst)
{
	memset(t->hops, 0xff, t->net->f->nsw * sizeof(*t->hops));
	t->dst = dst;
	t->joined = t->far = 0;
	t->level[0] = FAB_NONE;
	nue_tree_join(t, dst, FAB_NONE, 0, false);
}

/* Lets those neighbours of v join whose bits are set, from channel first of v on. */
static void nue_tree_join_bits(struct nue_tree *t, uint64_t bits, uint32_t first, uint32_t hops)
{
	const struct fabric *f = t->net->f;

	for (; bits; bits &= bits - 1) {
		uint32_t o = first + (uint32_t)__builtin_ctzll(bits), w = f->chan_dst[o];

		if (t->hops[w] == FAB_NONE)
			nue_tree_join(t, w, f->chan_rev[o], hops, false);
	}
}

static uint32_t nue_tree_wait_bits(struct nue_tree *t, uint64_t bits, uint32_t first,
				   uint32_t nwait)
{
	const struct fabric *f = t->net->f;

	for (; bits; bits &= bits - 1) {
		uint32_t o = first + (uint32_t)__builtin_ctzll(bits);

		t->wait[nwait] = f->chan_rev[o];
		nwait += t->hops[f->chan_dst[o]] == FAB_NONE;
	}
	return nwait;
}

/* Lets the neighbours of v join whose turn the layer has; those with a new turn wait. */
static uint32_t nue_tree_reach_from(struct nue_tree *t, uint32_t v, uint32_t nwait)
{
	const uint32_t *off = t->net->f->chan_off;
	uint32_t d = t->next[v], hops = t->hops[v] + 1, deg = off[v + 1] - off[v];
	size_t word = (size_t)d * t->words;

	for (uint32_t k = 0; k < deg; k += 64, word++) {
		uint64_t all = deg - k < 64 ? (1ull << (deg - k)) - 1 : UINT64_MAX;
		uint64_t used = d == FAB_NONE ? all : t->used[word];
		uint64_t left = d == FAB_NONE ? 0 : all & ~used & ~t->blocked[word];

		if (t->idle[v])
			left |= used;
		else
			nue_tree_join_bits(t, used, off[v] + k, hops);
		nwait = nue_tree_wait_bits(t, left, off[v] + k, nwait);
	}
	t->looked += deg;
	return nwait;
}

/* Gives idle switches from v on their turns: all of them, or it does not count. */
static bool nue_tree_wake(struct nue_tree *t, uint32_t v)
{
	const struct fabric *f = t->net->f;

	for (uint32_t u = v; t->idle[u]; u = f->chan_dst[t->next[u]])
		if (!nue_tree_add_turn(t, t->next[u], t->next[f->chan_dst[t->next[u]]]))
			return false;
	for (uint32_t u = v; t->idle[u]; u = f->chan_dst[t->next[u]])
		t->idle[u] = false;
	return true;
}

static void nue_tree_join_waiting(struct nue_tree *t, uint32_t c, uint32_t hops)
{
	const struct fabric *f = t->net->f;
	uint32_t w = f->chan_src[c], v = f->chan_dst[c];

	if (t->hops[w] != FAB_NONE)
		return;
	if (t->net->bare[w])
		nue_tree_join(t, w, c, hops, true);
	else if (nue_tree_wake(t, v) && nue_tree_add_turn(t, c, t->next[v]))
		nue_tree_join(t, w, c, hops, false);
}

/* As far as it gets. */
static void nue_tree_spread(struct nue_tree *t)
{
	for (uint32_t h = 0; h <= t->far && t->joined < t->net->f->nsw; h++) {
		uint32_t nwait = 0;

		for (uint32_t v = t->level[h]; v != FAB_NONE; v = t->after[v])
			nwait = nue_tree_reach_from(t, v, nwait);
		for (uint32_t i = 0; i < nwait; i++)
			nue_tree_join_waiting(t, t->wait[i], h + 1);
	}
}

/* Switches with ends that have not joined. */
static uint32_t nue_tree_count_stuck(const struct nue_tree *t)
{
	uint32_t n = 0;

	for (uint32_t u = 0; u < t->net->f->nsw && t->joined < t->net->f->nsw; u++)
		n += t->hops[u] == FAB_NONE && !t->net->bare[u];
	return n;
}

/* Bare switches that are left join wherever they can: nobody comes through them. */
static void nue_tree_join_rest(struct nue_tree *t)
{
	const struct fabric *f = t->net->f;

	for (uint32_t h = 0; h <= t->far && t->joined < f->nsw; h++)
		for (uint32_t v = t->level[h]; v != FAB_NONE; v = t->after[v])
			for (uint32_t o = f->chan_off[v]; o < f->chan_off[v + 1]; o++)
				if (t->hops[f->chan_dst[o]] == FAB_NONE)
					nue_tree_join(t, f->chan_dst[o], f->chan_rev[o], h + 1,
						      true);
}

/* u joins along the escape tree, and so do all on its path. */
static void nue_tree_join_forced(struct nue_tree *t, uint32_t u)
{
	const struct fabric *f = t->net->f;
	uint32_t hops = 0, v;

	for (v = u; t->hops[v] == FAB_NONE; v = f->chan_dst[t->escape_next[v]])
		hops++;
	hops += t->hops[v];
	while (t->hops[u] == FAB_NONE) {
		nue_tree_join(t, u, t->escape_next[u], hops--, false);
		u = f->chan_dst[t->escape_next[u]];
	}
}

/* A stuck switch takes the escape tree, and so do those on its path; the others begin again
 * around them.  Returns how many are forced now, in all. */
static uint32_t nue_tree_force(struct nue_tree *t)
{
	const struct fabric *f = t->net->f;
	uint32_t n = 0;

	for (uint32_t u = 0; u < f->nsw; u++) {
		if (t->hops[u] != FAB_NONE || t->net->bare[u])
			continue;
		for (uint32_t v = u; v != t->dst; v = f->chan_dst[t->escape_next[v]])
			t->forced[v] = true;
	}
	nue_tree_undo(t);
	nue_tree_begin(t, t->dst);
	for (uint32_t u = 0; u < f->nsw; u++) {
		n += t->forced[u];
		if (t->forced[u] && t->hops[u] == FAB_NONE)
			nue_tree_join_forced(t, u);
	}
	return n;
}

uint32_t nue_tree_grow(struct nue_tree *t, uint32_t dst, uint32_t limit, bool *all)
{
	uint32_t nsw = t->net->f->nsw, forced = 0, stuck;

	t->nlog = 0;
	cdg_work_limit(t->work, limit);
	nue_tree_begin(t, dst);
	nue_tree_spread(t);
	stuck = nue_tree_count_stuck(t);
	if (stuck) {
		nue_escape_path(t->escape, t->net->f, dst, t->escape_next);
		while (nue_tree_count_stuck(t)) {
			forced = nue_tree_force(t);
			nue_tree_spread(t);
		}
		memset(t->forced, 0, nsw * sizeof(*t->forced));
	}
	cdg_work_limit(t->work, UINT32_MAX);
	nue_tree_join_rest(t);
	*all = forced && forced == nsw - 1;
	return stuck;
}

/* Hops in the upper half, below them the place, turned, so that less is better. */
static uint64_t nue_tree_climb_key(uint32_t hops, uint32_t place)
{
	return (uint64_t)hops << 32 | ~place;
}

/* Fills key by switch; returns how many are in reach, in the queue by hops.  No branch on what a
 * channel finds: nobody could foretell it. */
static uint32_t nue_tree_climb_from(struct nue_tree *t, const struct nue_channel_order *o,
				    uint32_t dst)
{
	const uint32_t *off = t->net->f->chan_off;
	uint32_t nsw = t->net->f->nsw, *queue = t->wait, n = 0, last = UINT32_MAX;
	uint64_t *key = t->key;

	memset(key, 0xff, nsw * sizeof(*key));
	key[dst] = nue_tree_climb_key(0, UINT32_MAX);
	queue[n++] = dst;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = queue[i], hops = (uint32_t)(key[v] >> 32), top = ~(uint32_t)key[v];
		const struct nue_ordered_channel *r = o->in + off[v], *end = o->in + off[v + 1];

		if (n == nsw && last == UINT32_MAX)
			last = (uint32_t)(key[queue[n - 1]] >> 32);
		if (hops == last)
			break;
		for (; r < end && r->place < top; r++) {
			uint64_t x = nue_tree_climb_key(hops + 1, r->place), was = key[r->sw];

			key[r->sw] = x < was ? x : was;
			queue[n] = r->sw;
			n += was == UINT64_MAX;
		}
	}
	return n;
}

bool nue_tree_climb(struct nue_tree *t, const struct nue_channel_order *o, uint32_t dst)
{
	uint32_t n = nue_tree_climb_from(t, o, dst);

	nue_tree_begin(t, dst);
	t->looked += t->net->f->nchan;
	if (n == t->net->f->nsw) {
		for (uint32_t u = 0; u < n; u++) {
			t->next[u] = u == dst ? FAB_NONE : o->chan[~(uint32_t)t->key[u]];
			t->hops[u] = (uint32_t)(t->key[u] >> 32);
		}
		return true;
	}
	for (uint32_t i = 1; i < n; i++) {
		uint32_t w = t->wait[i];

		nue_tree_join(t, w, o->chan[~(uint32_t)t->key[w]], (uint32_t)(t->key[w] >> 32),
			      false);
	}
	if (nue_tree_count_stuck(t))
		return false;
	nue_tree_join_rest(t);
	return true;
}
