/* SPDX-License-Identifier: GPL-2.0-or-later */
/* row_sort: many rows in the order of a number each, in time that grows with the rows alone. */
#ifndef VIEWS_ROW_SORT_H
#define VIEWS_ROW_SORT_H

#include <stdint.h>

struct row_rank {
	uint64_t first;	 /* ascending */
	uint64_t second; /* ascending, among equals */
	uint32_t row;
};

/* tmp: as many, overwritten.  Digits that all rows have in common cost nothing. */
void row_sort(struct row_rank *v, struct row_rank *tmp, uint32_t n);

/* Numbers in the order of doubles; v is not NAN. */
uint64_t row_rank_of(double v);

#endif
