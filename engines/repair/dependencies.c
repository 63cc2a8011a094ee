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
	d->place = xcalloc(n, sizeof(*d->place));
	d->at = xcalloc(n, sizeof(*d->at));
	d->reach = xcalloc(n, sizeof(*d->reach));
	d->back = xcalloc(n, sizeof(*d->back));
	d->pool = xcalloc(n, sizeof(*d->pool));
	d->seen = xcalloc(n, 1);
	return d;
}

void dependencies_free(struct dependencies *d)
{
	if (!d)
		return;
	turns_done(&d->turns);
	free(d->next);
	free(d->place);
	free(d->at);
	free(d->added);
	free(d->added_vl);
	free(d->reach);
	free(d->back);
	free(d->pool);
	free(d->seen);
	free(d);
}

static uint16_t *dependencies_bits(const struct dependencies *d, uint32_t c, unsigned vl,
				   uint32_t e)
{
	return &d->next[(size_t)turns_at(&d->turns, c, e) * d->nvl + vl];
}

/* --- the first order ------------------------------------------------------------------------ */

/* Nobody waits for x any more: those behind it that wait for nobody else go to the end of at. */
static uint32_t dependencies_release(struct dependencies *d, uint32_t x, uint32_t n)
{
	const struct fabric *f = d->f;
	uint32_t c = x / d->nvl, v = f->chan_dst[c];

	for (uint32_t e = f->chan_off[v]; e < f->chan_off[v + 1]; e++)
		for (unsigned m = *dependencies_bits(d, c, x % d->nvl, e); m; m &= m - 1) {
			uint32_t y = e * d->nvl + (uint32_t)__builtin_ctz(m);

			if (!--d->pool[y])
				d->at[n++] = y;
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
				d->pool[e * d->nvl + (uint32_t)__builtin_ctz(m)]++;
}

bool dependencies_order(struct dependencies *d)
{
	uint32_t all = d->f->nchan * d->nvl, n = 0;

	memset(d->pool, 0, all * sizeof(*d->pool));
	for (uint32_t c = 0; c < d->f->nchan; c++)
		dependencies_count(d, c);
	for (uint32_t x = 0; x < all; x++)
		if (!d->pool[x])
			d->at[n++] = x;
	for (uint32_t i = 0; i < n; i++) {
		d->place[d->at[i]] = i;
		n = dependencies_release(d, d->at[i], n);
	}
	return n == all;
}

/* --- one more ------------------------------------------------------------------------------- */

/* Puts into list what y leads to, up to the place last; false when that is last itself. */
static bool dependencies_forward(struct dependencies *d, uint32_t y, uint32_t last, uint32_t *n)
{
	const struct fabric *f = d->f;

	*n = 0;
	d->reach[(*n)++] = y;
	d->seen[y] = 1;
	for (uint32_t i = 0; i < *n; i++) {
		uint32_t c = d->reach[i] / d->nvl, v = f->chan_dst[c];

		for (uint32_t e = f->chan_off[v]; e < f->chan_off[v + 1]; e++)
			for (unsigned m = *dependencies_bits(d, c, d->reach[i] % d->nvl, e); m;
			     m &= m - 1) {
				uint32_t z = e * d->nvl + (uint32_t)__builtin_ctz(m);

				if (d->place[z] == last)
					return false;
				if (d->place[z] > last || d->seen[z])
					continue;
				d->seen[z] = 1;
				d->reach[(*n)++] = z;
			}
	}
	return true;
}

/* The same of what leads to x, down to the place first. */
static uint32_t dependencies_backward(struct dependencies *d, uint32_t x, uint32_t first)
{
	const struct fabric *f = d->f;
	uint32_t n = 0;

	d->back[n++] = x;
	d->seen[x] = 1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t e = d->back[i] / d->nvl, u = f->chan_src[e];
		unsigned bit = 1u << (d->back[i] % d->nvl);

		for (uint32_t k = f->chan_off[u]; k < f->chan_off[u + 1]; k++)
			for (unsigned vl = 0; vl < d->nvl; vl++) {
				uint32_t c = f->chan_rev[k], z = c * d->nvl + vl;

				if (d->place[z] < first || d->seen[z] ||
				    !(*dependencies_bits(d, c, vl, e) & bit))
					continue;
				d->seen[z] = 1;
				d->back[n++] = z;
			}
	}
	return n;
}

static int dependencies_ascending(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* Their places, sorted; the list becomes the order of what was at them. */
static void dependencies_sort(const struct dependencies *d, uint32_t *list, uint32_t n,
			      uint32_t *places)
{
	for (uint32_t i = 0; i < n; i++)
		places[i] = d->place[list[i]];
	qsort(places, n, sizeof(*places), dependencies_ascending);
	for (uint32_t i = 0; i < n; i++)
		list[i] = d->at[places[i]];
}

/* What leads to x goes before what y leads to, in the places that both have. */
static void dependencies_reorder(struct dependencies *d, uint32_t nback, uint32_t nreach)
{
	uint32_t n = nback + nreach;

	dependencies_sort(d, d->back, nback, d->pool);
	dependencies_sort(d, d->reach, nreach, d->pool + nback);
	qsort(d->pool, n, sizeof(*d->pool), dependencies_ascending);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t x = i < nback ? d->back[i] : d->reach[i - nback];

		d->place[x] = d->pool[i];
		d->at[d->pool[i]] = x;
	}
}

static void dependencies_forget(struct dependencies *d, const uint32_t *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		d->seen[list[i]] = 0;
}

/* Makes the place of x smaller than that of y; false when y leads to x. */
static bool dependencies_before(struct dependencies *d, uint32_t x, uint32_t y)
{
	uint32_t nreach, nback = 0;
	bool free_of_cycles;

	if (x == y)
		return false;
	if (d->place[x] < d->place[y])
		return true;
	free_of_cycles = dependencies_forward(d, y, d->place[x], &nreach);
	dependencies_forget(d, d->reach, nreach);
	if (!free_of_cycles)
		return false;
	nback = dependencies_backward(d, x, d->place[y]);
	dependencies_forget(d, d->back, nback);
	dependencies_reorder(d, nback, nreach);
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

bool dependencies_add(struct dependencies *d, uint32_t c, unsigned vl, uint32_t e, unsigned vl2)
{
	uint16_t *bits = dependencies_bits(d, c, vl, e);

	if (*bits >> vl2 & 1)
		return true;
	if (!dependencies_before(d, c * d->nvl + vl, e * d->nvl + vl2))
		return false;
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
