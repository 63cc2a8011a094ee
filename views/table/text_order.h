/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text_order: the order of many rows by a text, as numbers.
 *
 * Names of a fabric do not change from sample to sample: the texts are read and put in order once,
 * and a table that is sorted by them again only compares numbers.
 */
#pragma once

#include "views/table/fields.h"

#include <stdint.h>

/* Texts that begin alike for as long as this are equal. */
#define TEXT_ORDER_LEN 64

#define TEXT_ORDER_NONE UINT32_MAX /* rank of a row without a text */

/* The ranks of one field. */
struct text_order {
	const struct field *field; /* NULL: nothing is kept */
	uint64_t version;
	uint32_t n;
	uint32_t *rank; /* by row */
};

/*
 * Ranks of all n rows by a field of r: ascending as people count (n9 before n10), equal texts have
 * equal ranks.  natural: the rows in the order in which texts are likely to ascend.  Kept in o
 * while fabric, field and what else the texts come from are the same; o is of one fabric:
 * text_order_done() before another.  O(rows) the first time where natural is the order of texts,
 * else O(rows log rows); O(1) later.
 */
const uint32_t *text_order(struct text_order *o, const struct rows *r, uint32_t n,
			   const struct field *field, const uint32_t *natural);
void text_order_done(struct text_order *o);
