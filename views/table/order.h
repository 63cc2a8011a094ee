/* SPDX-License-Identifier: GPL-2.0-or-later */
/* order: which rows a table shows, and in what order. */
#pragma once

#include "views/table/fields.h"
#include "views/table/row_filter.h"
#include "views/table/text_order.h"

/* Rows of a table: chosen, then in order.  Zeroed at the start. */
struct row_order {
	uint32_t *row;
	uint32_t n;
	/* kept from call to call */
	const struct fabric *fabric;
	uint32_t *place;   /* of its switches, by name */
	uint32_t *natural; /* all rows in natural order: of this fabric, kind and number */
	const struct fabric *natural_of;
	enum row_kind natural_kind;
	uint32_t natural_n;
	struct text_order by_text;
	void *keys;
	char *texts;
	size_t cap, keys_cap, texts_cap;
};

/*
 * Keeps the rows that fulfil filter (NULL: all).  Order: by sort, figures highest first and texts
 * ascending as people count (n9 before n10), what is unknown last whichever way, equals in their
 * natural order: links, ports and switches by name, all else as it comes.  reverse turns figures
 * and texts round.  sort NULL: in natural order.  O(n log n).
 */
void rows_select(struct row_order *out, const struct rows *r, const struct row_filter *filter,
		 const struct field *sort, bool reverse);
void row_order_done(struct row_order *o);
