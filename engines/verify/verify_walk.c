/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/verify_walk.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/tile.h"

#include <stdlib.h>
#include <string.h>

#define UNSEEN	 UINT32_MAX
#define ON_STACK (UINT32_MAX - 3)
#define LEVELS	 8 /* hops found level by level; what is farther away is followed one by one */

struct walk *walk_new(const struct fabric *f, const struct tables *t)
{
	struct arena *mem = arena_new();
	struct walk *w = arena_alloc(mem, 1, sizeof(*w));
	uint32_t sw, p;

	w->mem = mem;
	w->f = f;
	w->t = t;
	w->dsw = FAB_NONE;
	w->block = FAB_NONE;
	w->chan = arena_alloc(mem, f->nsw, sizeof(*w->chan));
	w->hops = arena_alloc(mem, f->nsw + 1u, sizeof(*w->hops));
	w->order = arena_alloc(mem, f->nsw, sizeof(*w->order));
	w->next = arena_alloc(mem, f->nsw, sizeof(*w->next));
	w->stack = arena_alloc(mem, f->nsw, sizeof(*w->stack));
	w->left = arena_alloc(mem, f->nsw, sizeof(*w->left));
	w->level = arena_alloc(mem, f->nsw + 1u, sizeof(*w->level));
	w->bucket = arena_alloc(mem, f->nsw + 1, sizeof(*w->bucket));
	w->moved = arena_alloc(mem, f->nsw, sizeof(*w->moved));
	w->fresh = arena_alloc(mem, f->nsw, sizeof(*w->fresh));
	w->passed = arena_alloc(mem, f->nsw, sizeof(*w->passed));
	w->cols = arena_alloc(mem, (size_t)f->nsw * LFT_BLOCK, 1);
	for (sw = 0; sw < f->nsw; sw++)
		w->width = f->sw_nports[sw] + 2u > w->width ? f->sw_nports[sw] + 2u : w->width;
	w->hop = arena_alloc(mem, (size_t)f->nsw * w->width, sizeof(*w->hop));
	for (sw = 0; sw < f->nsw; sw++) {
		for (p = 0; p < w->width; p++)
			w->hop[sw * w->width + p] = fabric_chan(f, sw, (uint8_t)p);
	}
	return w;
}

void walk_free(struct walk *w)
{
	if (w)
		arena_free(w->mem);
}

/* Turns rows per switch into rows per LID. */
static void verify_walk_load_block(struct walk *w, uint32_t block)
{
	tile_turn(w->cols, w->f->nsw, w->t->lft + (size_t)block * LFT_BLOCK, w->t->stride,
		  w->f->nsw, LFT_BLOCK);
	w->block = block;
	w->lid = 0;
}

/* Channels of switches first..last-1; true when each leads to a switch that is nearer by one. */
static bool verify_walk_nearer(struct walk *w, const uint8_t *col, uint32_t first, uint32_t last)
{
	const uint32_t *dst = w->f->chan_dst;
	uint32_t u, bad = 0;

	for (u = first; u < last; u++) {
		uint32_t c = walk_chan(w, u, col[u]);

		if (c == FAB_NONE)
			return false;
		w->chan[u] = c;
		bad |= (w->hops[dst[c]] + 1) ^ w->hops[u];
	}
	return bad == 0;
}

/* The same for those of switches first..last-1 that forward elsewhere than for LID before. */
static bool verify_walk_moved_nearer(struct walk *w, const uint8_t *col, const uint8_t *old,
				     uint32_t first, uint32_t last)
{
	uint32_t u;

	for (u = first; u < last; u++) {
		if (col[u] == old[u] || u == w->dsw)
			continue;
		if (!verify_walk_nearer(w, col, u, u + 1))
			return false;
		w->moved[w->nmoved++] = u;
	}
	return true;
}

/* Eight switches at a time, since few differ. */
static bool verify_walk_all_moved_nearer(struct walk *w, const uint8_t *col, const uint8_t *old)
{
	uint32_t u, nsw = w->f->nsw;

	w->nmoved = 0;
	for (u = 0; u + 8 <= nsw; u += 8) {
		if (memcmp(col + u, old + u, 8) && !verify_walk_moved_nearer(w, col, old, u, u + 8))
			return false;
	}
	return verify_walk_moved_nearer(w, col, old, u, nsw);
}

/*
 * LIDs of one switch mostly lie at the same distances, whichever paths they take.  Then one pass
 * proves that all arrive: each forwards to a switch that is nearer by one, and only dsw is at 0.
 */
static bool verify_walk_same_distances(struct walk *w, const uint8_t *col)
{
	if (w->lid) {
		w->before = w->lid;
		return verify_walk_all_moved_nearer(
			w, col, w->cols + (size_t)(w->lid % LFT_BLOCK) * w->f->nsw);
	}
	return verify_walk_nearer(w, col, 0, w->dsw) &&
	       verify_walk_nearer(w, col, w->dsw + 1, w->f->nsw);
}

/* Where all switches forward, looked up before the paths are followed: nothing waits for it then.
 * nsw: nowhere. */
static void verify_walk_find_next(struct walk *w, const uint8_t *col)
{
	uint32_t u, nsw = w->f->nsw;

	for (u = 0; u < nsw; u++) {
		uint32_t c = walk_chan(w, u, col[u]);

		w->chan[u] = c;
		w->next[u] = c == FAB_NONE ? nsw : w->f->chan_dst[c];
		w->hops[u] = UNSEEN;
	}
	w->hops[nsw] = UNSEEN;
}

/* Of n switches in left those that forward to one at hops - 1: into level, and out of left.  No
 * branch could foresee which.  Returns how many. */
static uint32_t verify_walk_take_level(struct walk *w, uint32_t *level, uint32_t *n, uint32_t hops)
{
	uint32_t i, found = 0, stay = 0;

	for (i = 0; i < *n; i++) {
		uint32_t u = w->left[i], was = w->hops[u];
		bool here = w->hops[w->next[u]] == hops - 1;

		level[found] = u;
		found += here;
		w->left[stay] = u;
		stay += !here;
		w->hops[u] = here ? hops : was;
	}
	*n = stay;
	return found;
}

/* Hops and order by levels; false when some switches are left. */
static bool verify_walk_find_levels(struct walk *w)
{
	uint32_t begin[LEVELS + 2] = { 0, 1 }, n = 0, u, h, sum = 0;

	w->level[0] = w->dsw;
	for (u = 0; u < w->f->nsw; u++) {
		w->left[n] = u;
		n += u != w->dsw;
	}
	for (h = 1; h <= LEVELS && n; h++) {
		uint32_t found = verify_walk_take_level(w, w->level + begin[h], &n, h);

		begin[h + 1] = begin[h] + found;
		if (!found)
			break;
	}
	if (n)
		return false;
	while (h-- > 0) {
		uint32_t len = begin[h + 1] - begin[h];

		memcpy(w->order + sum, w->level + begin[h], len * sizeof(*w->order));
		sum += len;
	}
	w->norder = sum;
	w->sorted = true;
	return true;
}

/* Follows the path of u until something known, then colours what was passed. */
static void verify_walk_colour(struct walk *w, uint32_t u)
{
	uint32_t n = 0, known;

	for (;;) {
		w->hops[u] = ON_STACK;
		w->stack[n++] = u;
		u = w->next[u];
		if (u == w->f->nsw) {
			known = WALK_DEAD;
			break;
		}
		if (w->hops[u] != UNSEEN) {
			known = w->hops[u] == ON_STACK ? WALK_LOOP : w->hops[u];
			break;
		}
	}
	while (n > 0)
		w->hops[w->stack[--n]] = known < ON_STACK ? ++known : known;
}

/* Counting sort of those that arrive, farthest first. */
static void verify_walk_sort_by_hops(struct walk *w)
{
	uint32_t sw, h, nsw = w->f->nsw, sum = 0;

	memset(w->bucket, 0, (nsw + 1) * sizeof(*w->bucket));
	for (sw = 0; sw < nsw; sw++) {
		if (w->hops[sw] < nsw)
			w->bucket[w->hops[sw]]++;
	}
	for (h = nsw; h-- > 0;) {
		uint32_t n = w->bucket[h];

		w->bucket[h] = sum;
		sum += n;
	}
	for (sw = 0; sw < nsw; sw++) {
		if (w->hops[sw] < nsw)
			w->order[w->bucket[w->hops[sw]]++] = sw;
	}
	w->norder = sum;
	w->sorted = sum == nsw;
}

bool walk_lid(struct walk *w, uint32_t lid)
{
	const struct fabric *f = w->f;
	uint32_t dsw, u, block = lid / LFT_BLOCK;
	const uint8_t *col;
	bool delivers;

	dsw = fabric_lid_switch(f, lid, &w->dport);
	if (dsw == FAB_NONE)
		return false;
	if (w->block != block)
		verify_walk_load_block(w, block);
	col = w->cols + (size_t)(lid % LFT_BLOCK) * f->nsw;
	delivers = col[dsw] == w->dport;
	w->before = 0;
	if (w->sorted && w->dsw == dsw && delivers && verify_walk_same_distances(w, col)) {
		w->lid = lid;
		return true;
	}
	w->before = 0;
	w->lid = lid;
	w->dsw = dsw;
	verify_walk_find_next(w, col);
	if (delivers) {
		w->hops[dsw] = 0;
		w->chan[dsw] = f->chan_off[dsw + 1];
		if (verify_walk_find_levels(w))
			return true;
	}
	for (u = 0; u < f->nsw; u++) {
		if (w->hops[u] == UNSEEN)
			verify_walk_colour(w, u);
	}
	verify_walk_sort_by_hops(w);
	return true;
}

/* Marks the switches to which others forward, or did for a LID before it on the same switch. */
static void verify_walk_find_passed(struct walk *w)
{
	const uint32_t *dst = w->f->chan_dst;
	uint32_t u;

	if (w->passed_lid != w->before) {
		memset(w->passed, 0, w->f->nsw * sizeof(*w->passed));
		for (u = 0; u < w->f->nsw; u++)
			if (u != w->dsw)
				w->passed[dst[w->chan[u]]] = true;
	}
	for (u = 0; u < w->nmoved; u++)
		w->passed[dst[w->chan[w->moved[u]]]] = true;
	w->passed_lid = w->lid;
}

void walk_fresh(struct walk *w)
{
	const uint32_t *dst = w->f->chan_dst;
	uint32_t i;
	bool any = false;

	verify_walk_find_passed(w);
	memset(w->fresh, 0, w->f->nsw * sizeof(*w->fresh));
	for (i = 0; i < w->nmoved; i++) {
		w->fresh[w->moved[i]] = true;
		any |= w->passed[w->moved[i]];
	}
	if (!any)
		return;
	for (i = w->norder - 1; i-- > 0;) {
		uint32_t u = w->order[i];

		w->fresh[u] |= w->fresh[dst[w->chan[u]]];
	}
}

uint32_t walk_last(const struct fabric *f, const struct tables *t, uint32_t sw, uint32_t lid)
{
	bool *seen = xcalloc(f->nsw, sizeof(*seen));
	uint8_t dport = 0;
	uint32_t dsw = fabric_lid_switch(f, lid, &dport);

	while (!seen[sw]) {
		uint8_t port = tables_row(t, sw)[lid];
		uint32_t c = fabric_chan(f, sw, port);

		if ((sw == dsw && port == dport) || c == FAB_NONE)
			break;
		seen[sw] = true;
		sw = f->chan_dst[c];
	}
	free(seen);
	return sw;
}
