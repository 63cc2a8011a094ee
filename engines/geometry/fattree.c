/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/geometry/fattree.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

/* The work of finding one. */
struct finder {
	const struct fabric *f;
	const struct tree *tree;
	struct fattree *t;
	uint32_t *comp;	 /* component of the levels at hand, by switch; FAB_NONE: not in them */
	uint32_t *other; /* the same one level before */
	uint32_t nslot, room; /* slots in use, and there */
	uint64_t *rank;	      /* by terminal: place of its node in the order of names, then rail */
	const struct chan_weights *weights; /* NULL: a slot for each cable */
	double slow; /* slots that the slowest of them has, times its weight */
};

#define SHARE_MAX 16 /* slots of a cable */

static uint32_t fattree_share(const struct finder *x, uint32_t c)
{
	double slots = x->weights ? x->slow / chan_weight(x->weights, c) : 1;

	return slots < SHARE_MAX ? (uint32_t)(slots + 0.5) : SHARE_MAX;
}

/* How many slots the slowest cable needs so that those of all fit their rates. */
static void fattree_find_shares(struct finder *x)
{
	double off[4] = { 0 };
	uint32_t most = 0, best = 0;

	for (uint32_t c = 0; c < x->f->nchan; c++)
		most = chan_weight(x->weights, c) > most ? chan_weight(x->weights, c) : most;
	for (uint32_t k = 0; k < 4; k++)
		for (uint32_t c = 0; c < x->f->nchan; c++) {
			double want = (k + 1.0) * most / chan_weight(x->weights, c), e;

			x->slow = (k + 1.0) * most;
			e = fattree_share(x, c) / want;
			e = e < 1 ? 1 / e : e;
			off[k] = e > off[k] ? e : off[k];
		}
	for (uint32_t k = 1; k < 4; k++)
		best = off[k] < 0.97 * off[best] ? k : best;
	x->slow = (best + 1.0) * most;
}

/* Planes of level l in those of the level below (in other): their numbers there; planes: how many
 * there are above a switch of the level below; returns the most. */
static uint32_t fattree_number_planes(struct finder *x, uint32_t l, uint32_t *planes)
{
	uint32_t nsw = x->f->nsw, most = 1;
	uint32_t *count = xcalloc(nsw + 1, sizeof(*count));
	uint32_t *number = xcalloc(nsw + 1, sizeof(*number));

	memset(number, 0xff, nsw * sizeof(*number));
	for (uint32_t u = 0; u < nsw; u++) {
		if (x->comp[u] == FAB_NONE)
			continue;
		if (number[x->comp[u]] == FAB_NONE)
			number[x->comp[u]] = count[x->other[u]]++;
		if (x->tree->level[u] == l)
			x->t->plane[u] = number[x->comp[u]];
	}
	for (uint32_t u = 0; u < nsw; u++)
		if (x->tree->level[u] + 1u == l) {
			planes[u] = count[x->other[u]];
			most = planes[u] > most ? planes[u] : most;
		}
	free(count);
	free(number);
	return most;
}

#define CABLES_MAX 255 /* to one plane, or slots of them */

/* Slots from u to every plane above. */
static void fattree_count_up(uint32_t *count, const struct finder *x, uint32_t u, uint32_t n)
{
	const struct fabric *f = x->f;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
		uint32_t v = f->chan_dst[c];

		if (x->tree->level[v] == x->tree->level[u] + 1)
			count[x->t->plane[v]] += fattree_share(x, c);
	}
	for (uint32_t d = 0; d < n; d++)
		count[d] = count[d] < CABLES_MAX ? count[d] : CABLES_MAX;
}

/* The cables that most switches of a plane have to each of n planes above. */
static void fattree_common_cables(uint32_t *usual, const struct finder *x, const uint32_t *member,
				  uint32_t nmember, uint32_t n)
{
	uint32_t *votes = xcalloc((size_t)n * 256, sizeof(*votes));
	uint32_t *count = xcalloc(n, sizeof(*count));

	for (uint32_t i = 0; i < nmember; i++) {
		memset(count, 0, n * sizeof(*count));
		fattree_count_up(count, x, member[i], n);
		for (uint32_t d = 0; d < n; d++)
			votes[d * 256 + count[d]]++;
	}
	for (uint32_t d = 0; d < n; d++) {
		usual[d] = 0;
		for (uint32_t k = 1; k < 256; k++)
			if (votes[d * 256 + k] &&
			    (!usual[d] || votes[d * 256 + k] >= votes[d * 256 + usual[d]]))
				usual[d] = k;
	}
	free(votes);
	free(count);
}

/* The cable of the r-th slot from u to that plane, or FAB_NONE. */
static uint32_t fattree_up_cable(const struct finder *x, uint32_t u, uint32_t plane, uint32_t r)
{
	const struct fabric *f = x->f;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
		uint32_t v = f->chan_dst[c];

		if (x->tree->level[v] != x->tree->level[u] + 1 || x->t->plane[v] != plane)
			continue;
		if (r < fattree_share(x, c))
			return c;
		r -= fattree_share(x, c);
	}
	return FAB_NONE;
}

/* Has a plane with that many slots one in round r of so many?  By rates they are as far apart as
 * can be; else they come one after another.  Sets r to which it is. */
static bool fattree_has_turn(const struct finder *x, uint32_t count, uint32_t rounds, uint32_t *r)
{
	uint32_t before = *r * count / rounds;

	if (!x->weights)
		return *r < count;
	if (before == (*r + 1) * count / rounds)
		return false;
	*r = before;
	return true;
}

/* Slots of u: its own cables where it has all the usual ones and more, else the usual ones. */
static uint32_t fattree_add_slots(struct finder *x, uint32_t u, const uint32_t *usual, uint32_t n)
{
	uint32_t *count = xcalloc(n, sizeof(*count)), most = 0, sum = 0, k;
	bool more = true;

	fattree_count_up(count, x, u, n);
	for (uint32_t d = 0; d < n; d++)
		more &= count[d] >= usual[d];
	if (!more)
		memcpy(count, usual, n * sizeof(*count));
	for (uint32_t d = 0; d < n; d++) {
		most = count[d] > most ? count[d] : most;
		sum += count[d];
	}
	if (x->nslot + sum > x->room) {
		x->room = 2 * x->room + sum;
		x->t->slot = xrealloc(x->t->slot, x->room, sizeof(*x->t->slot));
		x->t->slot_plane = xrealloc(x->t->slot_plane, x->room, sizeof(uint32_t));
	}
	k = x->t->slot_off[u] = x->nslot;
	for (uint32_t i = 0; i < most * n; i++) {
		uint32_t r = i / n, d = i % n;

		if (!fattree_has_turn(x, count[d], most, &r))
			continue;
		x->t->slot_plane[k] = d;
		x->t->slot[k] = fattree_up_cable(x, u, d, r);
		x->t->whole &= x->t->slot[k++] != FAB_NONE;
	}
	x->nslot = k;
	free(count);
	return sum;
}

static uint32_t fattree_find_pattern(struct fattree *t, uint32_t level, uint32_t nslot)
{
	uint32_t p = 0;

	while (p < t->npattern && (t->pattern[p].level != level || t->pattern[p].nslot != nslot))
		p++;
	if (p == t->npattern)
		t->pattern[t->npattern++] = (struct fattree_pattern){ level, nslot };
	return p;
}

/* Slots of the switches of one plane. */
static void fattree_slots_of_plane(struct finder *x, const uint32_t *member, uint32_t n,
				   uint32_t planes)
{
	struct fattree *t = x->t;
	uint32_t *usual = xcalloc(planes, sizeof(*usual));

	fattree_common_cables(usual, x, member, n, planes);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t u = member[i], k = fattree_add_slots(x, u, usual, planes);

		t->pattern_of[u] = fattree_find_pattern(t, x->tree->level[u], k);
	}
	free(usual);
}

/* Slots of all switches below level l, whose planes are in other, with those of l in comp. */
static void fattree_slots_of_level(struct finder *x, uint32_t l)
{
	uint32_t nsw = x->f->nsw;
	uint32_t *planes = xcalloc(nsw, sizeof(*planes));
	uint32_t *off = xcalloc(nsw + 2, sizeof(*off)), *member = xcalloc(nsw, sizeof(*member));

	x->t->div[l] = x->t->div[l - 1] * fattree_number_planes(x, l, planes);
	for (uint32_t u = 0; u < nsw; u++)
		if (x->tree->level[u] + 1u == l)
			off[x->other[u] + 2]++;
	for (uint32_t i = 0; i < nsw; i++)
		off[i + 2] += off[i + 1];
	for (uint32_t u = 0; u < nsw; u++)
		if (x->tree->level[u] + 1u == l)
			member[off[x->other[u] + 1]++] = u;
	for (uint32_t i = 0; i < nsw; i++) {
		uint32_t n = off[i + 1] - off[i];

		if (n)
			fattree_slots_of_plane(x, member + off[i], n, planes[member[off[i]]]);
	}
	free(planes);
	free(off);
	free(member);
}

static void fattree_make_slots(struct finder *x)
{
	const struct tree *tree = x->tree;
	struct fattree *t = x->t;

	t->whole = !tree->missing;
	t->div[0] = 1;
	fattree_find_pattern(t, TREE_IDLE, 0);
	tree_components(x->comp, x->f, tree->level, 0, tree->nlevel - 1, NULL);
	for (uint32_t l = 1; l < tree->nlevel; l++) {
		uint32_t *swap = x->comp;

		x->comp = x->other;
		x->other = swap;
		tree_components(x->comp, x->f, tree->level, l, tree->nlevel - 1, NULL);
		fattree_slots_of_level(x, l);
	}
	t->div[tree->nlevel] = t->div[tree->nlevel - 1];
}

#define RAILS_MAX 16 /* ports of one name; more have the name of their adapter's maker */

/* Nodes as shifts number them, and what of them hangs on the leaves. */
static void fattree_rank_terminals(struct finder *x)
{
	const struct fabric *f = x->f;

	for (uint32_t i = 0, n; i < f->nterm; i += n) {
		const char *name = f->term_name[f->term_by_name[i]];

		n = fabric_terms_by_name(f, name, NULL, 0);
		for (uint32_t k = 0; k < n; k++)
			x->rank[f->term_by_name[i + k]] =
				n > RAILS_MAX ? (uint64_t)(i + k) << 8 : (uint64_t)i << 8 | k;
	}
}

struct leaf {
	uint64_t key[TREE_LEVELS]; /* least rank of its subtrees, the largest subtree first */
	uint32_t sw;
};

static int fattree_by_key(const void *a, const void *b)
{
	const struct leaf *x = a, *y = b;

	for (int i = 0; i < TREE_LEVELS; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

static void fattree_key_leaves(struct finder *x, struct leaf *leaf, uint32_t n, uint32_t l)
{
	const struct fabric *f = x->f;
	uint64_t *least = xcalloc(f->nsw, sizeof(*least));

	memset(least, 0xff, f->nsw * sizeof(*least));
	tree_components(x->comp, f, x->tree->level, 0, l, NULL);
	for (uint32_t term = 0; term < f->nterm; term++) {
		uint32_t k = x->comp[f->term_sw[term]];
		uint64_t rank = x->rank[term];

		if (!l) /* leaves rail by rail */
			rank = (rank & 0xff) << 56 | rank >> 8;
		if (!x->tree->level[f->term_sw[term]] && rank < least[k])
			least[k] = rank;
	}
	for (uint32_t i = 0; i < n; i++)
		leaf[i].key[x->tree->nlevel - 1 - l] = least[x->comp[leaf[i].sw]];
	free(least);
}

struct ranked {
	uint64_t rank;
	uint32_t end;
};

static int fattree_by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* Terminals of a switch in the order of names; returns how many. */
static uint32_t fattree_sort_terminals(struct ranked *out, const struct finder *x, uint32_t sw)
{
	const struct fabric *f = x->f;
	uint32_t n = 0;

	for (uint32_t k = f->term_off[sw]; k < f->term_off[sw + 1]; k++)
		if (f->term_list[k] < f->nterm)
			out[n++] = (struct ranked){ x->rank[f->term_list[k]], f->term_list[k] };
	qsort(out, n, sizeof(*out), fattree_by_rank);
	return n;
}

/*
 * Ends of a leaf from number j on, returns the next.  In pairs: those for which the leaf has no
 * slot of their own share the number of one that has; the two then meet on all of their way
 * instead of each meeting a third end somewhere else.
 */
static uint32_t fattree_number_leaf(struct finder *x, uint32_t sw, uint32_t j, bool pairs)
{
	struct ranked term[FAB_MAX_PORT + 1];
	uint32_t ups = x->t->pattern[x->t->pattern_of[sw]].nslot;
	uint32_t n = fattree_sort_terminals(term, x, sw);

	pairs &= ups > 0;
	for (uint32_t h = 0; h < n; h++)
		x->t->number[term[h].end] = j + (pairs ? h % ups : h);
	return j + (pairs && n > ups ? ups : n);
}

/* Most ends of a subtree below level l + 1 that the same way leads down to. */
static uint32_t fattree_fullest_way(const struct finder *x, const struct leaf *leaf, uint32_t n,
				    uint32_t l)
{
	const struct fabric *f = x->f;
	const struct fattree *t = x->t;
	uint64_t ways = t->div[l + 1] < f->nend ? t->div[l + 1] : f->nend;
	uint32_t *count = xcalloc(ways, sizeof(*count)), most = 0;
	size_t same = (x->tree->nlevel - l) * sizeof(leaf->key[0]);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = leaf[i].sw;

		if (i && memcmp(leaf[i].key, leaf[i - 1].key, same))
			memset(count, 0, ways * sizeof(*count));
		for (uint32_t k = f->term_off[sw]; k < f->term_off[sw + 1]; k++) {
			uint32_t *c;

			if (f->term_list[k] >= f->nterm)
				continue;
			c = &count[t->number[f->term_list[k]] % ways];
			most = ++*c > most ? *c : most;
		}
	}
	free(count);
	return most;
}

/* Terminals on leaves, in pairs where that fills no way more than without. */
static uint32_t fattree_number_leaves(struct finder *x, const struct leaf *leaf, uint32_t n)
{
	uint32_t most[2][TREE_LEVELS] = { 0 }, j = 0;
	bool pairs = true;

	for (int k = 0; k < 2; k++) {
		j = 0;
		for (uint32_t i = 0; i < n; i++)
			j = fattree_number_leaf(x, leaf[i].sw, j, k);
		for (uint32_t l = 0; l + 1 < x->tree->nlevel; l++)
			most[k][l] = fattree_fullest_way(x, leaf, n, l);
	}
	for (uint32_t l = 0; l + 1 < x->tree->nlevel; l++)
		pairs &= most[1][l] <= most[0][l];
	if (pairs)
		return j;
	j = 0;
	for (uint32_t i = 0; i < n; i++)
		j = fattree_number_leaf(x, leaf[i].sw, j, false);
	return j;
}

static void fattree_number_ends(struct finder *x)
{
	const struct fabric *f = x->f;
	struct fattree *t = x->t;
	struct leaf *leaf = xcalloc(f->nsw, sizeof(*leaf));
	uint32_t n = 0, j;

	memset(t->number, 0xff, f->nend * sizeof(*t->number));
	fattree_rank_terminals(x);
	for (uint32_t u = 0; u < f->nsw; u++)
		if (!x->tree->level[u])
			leaf[n++].sw = u;
	for (uint32_t l = 0; l < x->tree->nlevel; l++)
		fattree_key_leaves(x, leaf, n, l);
	qsort(leaf, n, sizeof(*leaf), fattree_by_key);
	j = fattree_number_leaves(x, leaf, n);
	for (uint32_t k = 0; k < f->nend; k++)
		if (t->number[f->term_list[k]] == FAB_NONE)
			t->number[f->term_list[k]] = j++;
	free(leaf);
}

static void fattree_find_root(struct fattree *t, const struct fabric *f)
{
	uint32_t most = 0;

	t->root = FAB_NONE;
	for (uint32_t u = 0; u < f->nsw; u++) {
		uint32_t ups = f->chan_off[u + 1] - f->chan_off[u];

		if (t->tree->level[u] || (t->root != FAB_NONE && ups <= most))
			continue;
		most = ups;
		t->root = u;
	}
}

struct fattree *fattree_new(const struct fabric *f, const struct tree *tree,
			    const struct chan_weights *weights)
{
	struct fattree *t = xcalloc(1, sizeof(*t));
	struct finder x = { .f = f, .tree = tree, .t = t, .weights = weights };

	t->tree = tree;
	t->shares = weights;
	if (weights)
		fattree_find_shares(&x);
	t->plane = xcalloc(f->nsw, sizeof(*t->plane));
	t->slot_off = xcalloc(f->nsw, sizeof(*t->slot_off));
	t->pattern_of = xcalloc(f->nsw, sizeof(*t->pattern_of));
	t->pattern = xcalloc(f->nsw + 1, sizeof(*t->pattern));
	t->number = xcalloc(f->nend, sizeof(*t->number));
	x.comp = xcalloc(f->nsw, sizeof(*x.comp));
	x.other = xcalloc(f->nsw, sizeof(*x.other));
	x.rank = xcalloc(f->nterm, sizeof(*x.rank));
	fattree_make_slots(&x);
	fattree_number_ends(&x);
	fattree_find_root(t, f);
	free(x.comp);
	free(x.other);
	free(x.rank);
	return t;
}

void fattree_free(struct fattree *t)
{
	if (!t)
		return;
	free(t->plane);
	free(t->slot_off);
	free(t->slot_plane);
	free(t->slot);
	free(t->pattern_of);
	free(t->pattern);
	free(t->number);
	free(t);
}
