/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap: a binary heap of numbered items, the smallest key first; of equal keys the smaller number,
 * so that the order never depends on how they came in.
 *
 * Keys and items are two flat arrays.  heap_up() and heap_down() work on arrays of the caller, for
 * who keeps more in them than a heap; struct heap owns its arrays.
 */
#pragma once

#include "fabric/base/memory/mem.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline bool heap_before(uint64_t key_a, uint32_t a, uint64_t key_b, uint32_t b)
{
	return key_a < key_b || (key_a == key_b && a < b);
}

/* An item that may come before those above it goes up from place i.  O(log n). */
static inline void heap_up(uint64_t *key, uint32_t *item, uint32_t i, uint64_t k, uint32_t x)
{
	for (; i && heap_before(k, x, key[(i - 1) / 2], item[(i - 1) / 2]); i = (i - 1) / 2) {
		key[i] = key[(i - 1) / 2];
		item[i] = item[(i - 1) / 2];
	}
	key[i] = k;
	item[i] = x;
}

/* An item that may come after those below it goes down from place i, of n.  O(log n). */
static inline void heap_down(uint64_t *key, uint32_t *item, uint32_t n, uint32_t i, uint64_t k,
			     uint32_t x)
{
	uint32_t c;

	while ((c = 2 * i + 1) < n) {
		c += c + 1 < n && heap_before(key[c + 1], item[c + 1], key[c], item[c]);
		if (!heap_before(key[c], item[c], k, x))
			break;
		key[i] = key[c];
		item[i] = item[c];
		i = c;
	}
	key[i] = k;
	item[i] = x;
}

/* All zero is empty; n items, the first one at 0.  End with heap_done(). */
struct heap {
	uint64_t *key;
	uint32_t *item;
	uint32_t n, cap;
};

static inline void heap_reserve(struct heap *h, uint32_t cap)
{
	if (cap <= h->cap)
		return;
	h->cap = 2 * h->cap > cap ? 2 * h->cap : cap;
	h->key = xrealloc(h->key, h->cap, sizeof(*h->key));
	h->item = xrealloc(h->item, h->cap, sizeof(*h->item));
}

static inline void heap_done(struct heap *h)
{
	free(h->key);
	free(h->item);
	*h = (struct heap){ 0 };
}

/* O(log n). */
static inline void heap_push(struct heap *h, uint64_t key, uint32_t item)
{
	heap_reserve(h, h->n + 1);
	heap_up(h->key, h->item, h->n++, key, item);
}

/* Takes out the first, which there must be; returns it.  O(log n). */
static inline uint32_t heap_pop(struct heap *h)
{
	uint32_t first = h->item[0];

	if (--h->n)
		heap_down(h->key, h->item, h->n, 0, h->key[h->n], h->item[h->n]);
	return first;
}

/* The first gets a larger key.  O(log n). */
static inline void heap_delay_first(struct heap *h, uint64_t key)
{
	heap_down(h->key, h->item, h->n, 0, key, h->item[0]);
}

/* The first n of the arrays, in any order, become a heap.  O(n). */
static inline void heap_make(struct heap *h, uint32_t n)
{
	h->n = n;
	for (uint32_t i = n / 2; i-- > 0;)
		heap_down(h->key, h->item, n, i, h->key[i], h->item[i]);
}

/* Key of the first, UINT64_MAX when there is none. */
static inline uint64_t heap_key(const struct heap *h)
{
	return h->n ? h->key[0] : UINT64_MAX;
}

/* Keys in the order of numbers that are not NaN, and back; -0 comes back as 0. */
static inline uint64_t heap_key_of(double x)
{
	uint64_t bits;

	x += 0.0;
	memcpy(&bits, &x, sizeof(bits));
	return bits >> 63 ? ~bits : bits | 1ull << 63;
}

static inline double heap_double(uint64_t key)
{
	uint64_t bits = key >> 63 ? key & ~(1ull << 63) : ~key;
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}
