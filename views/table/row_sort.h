/* SPDX-License-Identifier: GPL-2.0-or-later */
/* row_sort: many rows in the order of a number each, in time that grows with the rows alone. */
#pragma once

#include <stdint.h>

/* Puts row in the order of rank, ascending; equals stay as they are.  Both have n, and tmp (3 n) is
 * overwritten.  O(n) unless many ranks differ in their lower half alone. */
struct row_rank {
	uint32_t high; /* of the rank */
	uint32_t at;
};

void row_sort(uint32_t *row, const uint64_t *rank, uint32_t n, struct row_rank *tmp);

/* Numbers in the order of doubles; v is not NAN. */
uint64_t row_rank_of(double v);
