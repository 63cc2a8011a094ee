/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Digit by digit from the last one, each pass keeping the order of the one before. */
#include "views/row_sort.h"

#include <string.h>

#define DIGITS 256

static uint8_t digit(const struct row_rank *r, unsigned pass)
{
	return (uint8_t)(pass < 8 ? r->second >> (8 * pass) : r->first >> (8 * (pass - 8)));
}

/* Bit k: rows differ in digit k. */
static uint16_t differing(const struct row_rank *v, uint32_t n)
{
	uint64_t first = 0, second = 0;
	uint16_t bits = 0;

	for (uint32_t i = 1; i < n; i++) {
		first |= v[i].first ^ v[0].first;
		second |= v[i].second ^ v[0].second;
	}
	for (unsigned k = 0; k < 8; k++) {
		bits |= (uint16_t)((second >> 8 * k & 0xff) ? 1u << k : 0);
		bits |= (uint16_t)((first >> 8 * k & 0xff) ? 1u << (k + 8) : 0);
	}
	return bits;
}

static void sort_digit(const struct row_rank *from, struct row_rank *to, uint32_t n, unsigned pass)
{
	uint32_t at[DIGITS + 1] = { 0 };

	for (uint32_t i = 0; i < n; i++)
		at[digit(&from[i], pass) + 1]++;
	for (unsigned d = 0; d < DIGITS; d++)
		at[d + 1] += at[d];
	for (uint32_t i = 0; i < n; i++)
		to[at[digit(&from[i], pass)]++] = from[i];
}

void row_sort(struct row_rank *v, struct row_rank *tmp, uint32_t n)
{
	struct row_rank *from = v, *to = tmp;
	uint16_t bits = differing(v, n);

	for (unsigned pass = 0; pass < 16; pass++) {
		struct row_rank *other = from;

		if (!(bits & 1u << pass))
			continue;
		sort_digit(from, to, n, pass);
		from = to;
		to = other;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
}

uint64_t row_rank_of(double v)
{
	uint64_t bits;

	v += 0.0; /* one zero */
	memcpy(&bits, &v, sizeof(bits));
	return bits >> 63 ? ~bits : bits | 1ull << 63;
}
