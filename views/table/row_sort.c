/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Digit by digit of the upper halves from the last one, each pass keeping the order of the one
 * before; what is then still equal is put in order by the whole, run by run. */
#include "views/table/row_sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BITS   11
#define DIGITS (1u << BITS)
#define PASSES 3

static uint32_t row_sort_digit(uint32_t high, unsigned pass)
{
	return high >> (BITS * pass) & (DIGITS - 1);
}

static void row_sort_sort_digit(const struct row_rank *from, struct row_rank *to, uint32_t n,
				uint32_t *count, unsigned pass)
{
	uint32_t at = 0;

	for (uint32_t d = 0; d < DIGITS; d++) {
		uint32_t here = count[d];

		count[d] = at;
		at += here;
	}
	for (uint32_t i = 0; i < n; i++)
		to[count[row_sort_digit(from[i].high, pass)]++] = from[i];
}

static int row_sort_whole_cmp(const void *pa, const void *pb, void *ctx)
{
	const struct row_rank *a = pa, *b = pb;
	const uint64_t *rank = ctx;

	if (rank[a->at] != rank[b->at])
		return rank[a->at] < rank[b->at] ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* Rows with the same upper half. */
static void row_sort_run(struct row_rank *v, uint32_t n, const uint64_t *rank)
{
	bool sorted = true;

	for (uint32_t i = 1; i < n && sorted; i++)
		sorted = rank[v[i - 1].at] <= rank[v[i].at];
	if (!sorted)
		qsort_r(v, n, sizeof(*v), row_sort_whole_cmp, (void *)rank);
}

static void row_sort_runs(struct row_rank *v, uint32_t n, const uint64_t *rank)
{
	for (uint32_t first = 0, i = 1; i <= n; i++) {
		if (i < n && v[i].high == v[first].high)
			continue;
		if (i - first > 1)
			row_sort_run(v + first, i - first, rank);
		first = i;
	}
}

void row_sort(uint32_t *row, const uint64_t *rank, uint32_t n, struct row_rank *tmp)
{
	struct row_rank *from = tmp, *to = tmp + n;
	uint32_t count[PASSES][DIGITS] = { 0 }, *was = (uint32_t *)(tmp + 2ull * n);

	for (uint32_t i = 0; i < n; i++) {
		from[i] = (struct row_rank){ (uint32_t)(rank[i] >> 32), i };
		for (unsigned k = 0; k < PASSES; k++)
			count[k][row_sort_digit(from[i].high, k)]++;
	}
	for (unsigned k = 0; k < PASSES; k++) {
		struct row_rank *other = from;

		if (n && count[k][row_sort_digit(from[0].high, k)] == n)
			continue;
		row_sort_sort_digit(from, to, n, count[k], k);
		from = to;
		to = other;
	}
	row_sort_runs(from, n, rank);
	memcpy(was, row, n * sizeof(*was));
	for (uint32_t i = 0; i < n; i++)
		row[i] = was[from[i].at];
}

uint64_t row_rank_of(double v)
{
	uint64_t bits;

	v += 0.0; /* one zero */
	memcpy(&bits, &v, sizeof(bits));
	return bits >> 63 ? ~bits : bits | 1ull << 63;
}
