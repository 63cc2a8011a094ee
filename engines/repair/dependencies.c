/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/repair/dependencies.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define CHANNEL_SHIFT 32

struct dependencies *dependencies_new(const struct fabric *f, unsigned nvl)
{
	struct dependencies *d = xcalloc(1, sizeof(*d));
	size_t n = (size_t)f->nchan * nvl;

	d->f = f;
	d->nvl = nvl;
	turns_init(&d->turns, f);
	d->next = xcalloc_large((size_t)d->turns.n * nvl, sizeof(*d->next));
	d->place = xcalloc(n + 1, sizeof(*d->place));
	d->before = xcalloc(n + 1, sizeof(*d->before));
	d->after = xcalloc(n + 1, sizeof(*d->after));
	d->reach = xcalloc(n, sizeof(*d->reach));
	d->back = xcalloc(n, sizeof(*d->back));
	d->seen = xcalloc(n, 1);
	d->refused = xcalloc((size_t)d->turns.n * nvl, sizeof(*d->refused));
	return d;
}

void dependencies_free(struct dependencies *d)
{
	if (!d)
		return;
	turns_done(&d->turns);
	free(d->next);
	free(d->place);
	free(d->before);
	free(d->after);
	free(d->added);
	free(d->added_vl);
	free(d->reach);
	free(d->back);
	free(d->seen);
	free(d->refused);
	free(d->refused_list);
	free(d);
}

static uint16_t *dependencies_bits(const struct dependencies *d, uint32_t c, unsigned vl,
				   uint32_t e)
{
	return &d->next[(size_t)turns_at(&d->turns, c, e) * d->nvl + vl];
}

/* --- the first order ------------------------------------------------------------------------ */

/* Nobody waits for x any more: those behind it that wait for nobody else go to the end of reach. */
static uint32_t dependencies_release(struct dependencies *d, uint32_t x, uint32_t n)
{
	const struct fabric *f = d->f;
	uint32_t c = x / d->nvl, v = f->chan_dst[c];

	for (uint32_t e = f->chan_off[v]; e < f->chan_off[v + 1]; e++)
		for (unsigned m = *dependencies_bits(d, c, x % d->nvl, e); m; m &= m - 1) {
			uint32_t y = e * d->nvl + (uint32_t)__builtin_ctz(m);

			if (!--d->back[y])
				d->reach[n++] = y;
		}
	return n;
}

static void dependencies_count(struct dependencies *d, uint32_t c)
{
	const struct fabric *f = d->f;
	uint32_t v = f->chan_dst[c];

	for (uint32_t e = f->chan_off[v]; e < f->chan_off[v + 1]; e++)
		for (unsigned vl = 0; vl < d->nvl; vl++)
			for (unsigned m = *dependencies_bits(d, c, vl, e); m; m &= m - 1)
				d->back[e * d->nvl + (uint32_t)__builtin_ctz(m)]++;
}

static void dependencies_link(struct dependencies *d, uint32_t first, uint32_t second)
{
	d->after[first] = second;
	d->before[second] = first;
}

/* As far from each other as they can be. */
static void dependencies_spread(struct dependencies *d)
{
	uint32_t end = d->f->nchan * d->nvl;
	uint64_t step = UINT64_MAX / ((uint64_t)end + 2), place = step;

	for (uint32_t x = d->after[end]; x != end; x = d->after[x], place += step)
		d->place[x] = place;
	d->place[end] = UINT64_MAX; /* behind all, and before the first its place counts as 0 */
}

bool dependencies_order(struct dependencies *d)
{
	uint32_t all = d->f->nchan * d->nvl, n = 0, last = all;

	memset(d->back, 0, all * sizeof(*d->back));
	for (uint32_t c = 0; c < d->f->nchan; c++)
		dependencies_count(d, c);
	for (uint32_t x = 0; x < all; x++)
		if (!d->back[x])
			d->reach[n++] = x;
	for (uint32_t i = 0; i < n; i++) {
		dependencies_link(d, last, d->reach[i]);
		last = d->reach[i];
		n = dependencies_release(d, d->reach[i], n);
	}
	dependencies_link(d, last, all);
	if (n == all)
		dependencies_spread(d);
	return n == all;
}

/* --- one more ------------------------------------------------------------------------------- */

enum { DEPENDENCIES_AHEAD = 1, DEPENDENCIES_BEHIND };

/* What one vertex leads to, before the place of last; false: something that leads to last. */
static bool dependencies_look_ahead(struct dependencies *d, uint32_t at, uint32_t last, uint32_t *n)
{
	const struct fabric *f = d->f;
	uint32_t c = at / d->nvl, v = f->chan_dst[c];

	for (uint32_t e = f->chan_off[v]; e < f->chan_off[v + 1]; e++)
		for (unsigned m = *dependencies_bits(d, c, at % d->nvl, e); m; m &= m - 1) {
			uint32_t z = e * d->nvl + (uint32_t)__builtin_ctz(m);

			if (d->seen[z] == DEPENDENCIES_BEHIND)
				return false;
			if (d->place[z] > d->place[last] || d->seen[z])
				continue;
			d->seen[z] = DEPENDENCIES_AHEAD;
			d->reach[(*n)++] = z;
		}
	return true;
}

/* What leads to a vertex, behind the place of first; false: something to which first leads. */
static bool dependencies_look_behind(struct dependencies *d, uint32_t at, uint32_t first,
				     uint32_t *n)
{
	const struct fabric *f = d->f;
	uint32_t e = at / d->nvl, u = f->chan_src[e];
	unsigned bit = 1u << (at % d->nvl);

	for (uint32_t k = f->chan_off[u]; k < f->chan_off[u + 1]; k++) {
		uint32_t c = f->chan_rev[k];
		const uint16_t *bits = dependencies_bits(d, c, 0, e);

		for (unsigned vl = 0; vl < d->nvl; vl++) {
			uint32_t z = c * d->nvl + vl;

			if (!(bits[vl] & bit))
				continue;
			if (d->seen[z] == DEPENDENCIES_AHEAD)
				return false;
			if (d->place[z] < d->place[first] || d->seen[z])
				continue;
			d->seen[z] = DEPENDENCIES_BEHIND;
			d->back[(*n)++] = z;
		}
	}
	return true;
}

/* From both ends by turns until one has no more: that list is whole then, the other one is left
 * empty.  False: there is a way from y to x. */
static bool dependencies_search(struct dependencies *d, uint32_t x, uint32_t y, uint32_t *nreach,
				uint32_t *nback)
{
	uint32_t reach = 1, back = 1;
	bool fine = true;

	d->reach[0] = y;
	d->back[0] = x;
	d->seen[y] = DEPENDENCIES_AHEAD;
	d->seen[x] = DEPENDENCIES_BEHIND;
	*nreach = *nback = 0;
	for (uint32_t i = 0; fine; i++) {
		if (i == reach || i == back)
			break;
		fine = dependencies_look_ahead(d, d->reach[i], x, &reach) &&
		       dependencies_look_behind(d, d->back[i], y, &back);
		if (i + 1 == reach)
			*nreach = reach;
		else if (i + 1 == back)
			*nback = back;
	}
	for (uint32_t i = 0; i < reach; i++)
		d->seen[d->reach[i]] = 0;
	for (uint32_t i = 0; i < back; i++)
		d->seen[d->back[i]] = 0;
	return fine;
}

struct dependencies_place {
	uint64_t place;
	uint32_t at;
};

static int dependencies_ascending(const void *x, const void *y)
{
	const struct dependencies_place *a = x, *b = y;

	return (a->place > b->place) - (a->place < b->place);
}

/* Puts them between a vertex and the one after it, in the order that they have. */
static void dependencies_move(struct dependencies *d, const uint32_t *list, uint32_t n,
			      uint32_t behind)
{
	uint32_t end = d->f->nchan * d->nvl, next;
	struct dependencies_place *sorted = xcalloc(n, sizeof(*sorted));
	uint64_t from, step;

	for (uint32_t i = 0; i < n; i++)
		sorted[i] = (struct dependencies_place){ d->place[list[i]], list[i] };
	qsort(sorted, n, sizeof(*sorted), dependencies_ascending);
	for (uint32_t i = 0; i < n; i++)
		dependencies_link(d, d->before[list[i]], d->after[list[i]]);
	next = d->after[behind];
	from = behind == end ? 0 : d->place[behind];
	step = (d->place[next] - from) / ((uint64_t)n + 1);
	for (uint32_t i = 0; i < n; i++) {
		dependencies_link(d, behind, sorted[i].at);
		behind = sorted[i].at;
		d->place[behind] = from += step;
	}
	dependencies_link(d, behind, next);
	if (!step)
		dependencies_spread(d);
	free(sorted);
}

/* Makes the place of x smaller than that of y; false when y leads to x. */
static bool dependencies_before(struct dependencies *d, uint32_t x, uint32_t y)
{
	uint32_t nreach, nback;

	if (x == y)
		return false;
	if (d->place[x] < d->place[y])
		return true;
	if (!dependencies_search(d, x, y, &nreach, &nback))
		return false;
	if (nreach)
		dependencies_move(d, d->reach, nreach, x);
	else
		dependencies_move(d, d->back, nback, d->before[y]);
	return true;
}

static void dependencies_note(struct dependencies *d, uint32_t c, unsigned vl, uint32_t e,
			      unsigned vl2)
{
	if (d->nadded == d->cap) {
		d->cap = d->cap ? 2 * d->cap : 256;
		d->added = xrealloc(d->added, d->cap, sizeof(*d->added));
		d->added_vl = xrealloc(d->added_vl, d->cap, sizeof(*d->added_vl));
	}
	d->added[d->nadded] = (uint64_t)c << CHANNEL_SHIFT | e;
	d->added_vl[d->nadded++] = (uint8_t)(vl << 4 | vl2);
}

/* It will be refused again, unless only what may be taken back is in its way. */
static void dependencies_remember(struct dependencies *d, size_t at, unsigned vl2)
{
	if (d->nadded > d->settled)
		return;
	if (d->nrefused == d->refused_cap) {
		d->refused_cap = d->refused_cap ? 2 * d->refused_cap : 256;
		d->refused_list =
			xrealloc(d->refused_list, d->refused_cap, sizeof(*d->refused_list));
	}
	if (!d->refused[at])
		d->refused_list[d->nrefused++] = at;
	d->refused[at] |= (uint16_t)(1u << vl2);
}

bool dependencies_add(struct dependencies *d, uint32_t c, unsigned vl, uint32_t e, unsigned vl2)
{
	uint16_t *bits = dependencies_bits(d, c, vl, e);
	size_t at = (size_t)(bits - d->next);

	if (*bits >> vl2 & 1)
		return true;
	if (d->refused[at] >> vl2 & 1)
		return false;
	if (!dependencies_before(d, c * d->nvl + vl, e * d->nvl + vl2)) {
		dependencies_remember(d, at, vl2);
		return false;
	}
	*bits |= (uint16_t)(1u << vl2);
	dependencies_note(d, c, vl, e, vl2);
	return true;
}

void dependencies_undo(struct dependencies *d, uint32_t n)
{
	while (d->nadded > n) {
		uint64_t turn = d->added[--d->nadded];
		uint8_t vls = d->added_vl[d->nadded];

		*dependencies_bits(d, (uint32_t)(turn >> CHANNEL_SHIFT), vls >> 4,
				   (uint32_t)turn) &= (uint16_t) ~(1u << (vls & 15));
	}
}

void dependencies_undo_settled(struct dependencies *d, uint32_t n)
{
	dependencies_undo(d, n);
	d->settled = n;
	while (d->nrefused)
		d->refused[d->refused_list[--d->nrefused]] = 0;
}
