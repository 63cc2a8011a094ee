/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/table/order.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/text/natural.h"
#include "views/table/row_sort.h"

#include <stdlib.h>
#include <string.h>

#define MANY	 1000		/* rows */
#define KEY_LEN	 32		/* bytes kept for a row while it is sorted, whichever way */
#define TEXT_LEN TEXT_ORDER_LEN /* texts that begin alike for longer keep their natural order */

/* Made once per row, so that comparing needs no getter. */
struct key {
	union {
		double num;
		uint64_t guid;
		const char *text;
	};
	uint64_t place; /* among equals */
	uint32_t row;
	bool known;
};

struct order {
	const struct field *sort;
	bool reverse;
	const uint32_t *text; /* ranks by row, where sort is a text and rows are many */
};

static int order_value_cmp(const struct key *a, const struct key *b, enum value_kind kind)
{
	if (kind == VALUE_TEXT)
		return natural_cmp(a->text, b->text);
	if (kind == VALUE_GUID)
		return a->guid < b->guid ? -1 : a->guid > b->guid;
	return a->num > b->num ? -1 : a->num < b->num;
}

static int order_key_cmp(const void *pa, const void *pb, void *ctx)
{
	const struct key *a = pa, *b = pb;
	const struct order *o = ctx;
	int d = 0;

	if (a->known != b->known)
		return a->known ? -1 : 1;
	if (o->sort && a->known)
		d = order_value_cmp(a, b, o->sort->kind);
	else if (!o->sort)
		d = a->place < b->place ? -1 : a->place > b->place;
	if (d)
		return o->reverse ? -d : d;
	return a->place < b->place ? -1 : a->place > b->place;
}

struct named {
	uint32_t sw;
	const char *name;
};

static int order_named_cmp(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;
	int d = natural_cmp(a->name, b->name);

	return d ? d : a->sw < b->sw ? -1 : 1;
}

/* The order of switches by name, once per fabric. */
static void order_place_switches(struct row_order *o, const struct fabric *f)
{
	struct named *all;

	if (o->fabric == f)
		return;
	fabric_put(o->fabric);
	o->fabric = fabric_get(f);
	o->natural_of = NULL;
	text_order_done(&o->by_text);
	o->place = xrealloc(o->place, f->nsw + 1u, sizeof(*o->place));
	all = xcalloc(f->nsw, sizeof(*all));
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		all[sw] = (struct named){ sw, f->sw_name[sw] };
	qsort(all, f->nsw, sizeof(*all), order_named_cmp);
	for (uint32_t i = 0; i < f->nsw; i++)
		o->place[all[i].sw] = i;
	free(all);
}

static uint64_t order_place_of(const struct row_order *o, const struct rows *r, uint32_t row)
{
	const struct fabric *f = r->s->fabric;
	uint32_t sw;

	switch (r->kind) {
	case ROWS_LINKS:
		return (uint64_t)o->place[f->chan_src[row]] << 8 | f->chan_port[row];
	case ROWS_PORTS:
		sw = rows_switch(r, row);
		return (uint64_t)o->place[sw] << 8 | (row - f->port_off[sw]);
	case ROWS_SWITCHES:
		return o->place[row];
	default:
		return row;
	}
}

static bool order_known(const struct value *c, const struct field *sort)
{
	return isfinite(c->rank) || value_known(c, sort);
}

static double order_number(const struct value *c)
{
	return isfinite(c->rank) ? c->rank : c->num;
}

static void order_make_key(struct key *k, char *text, const struct rows *r, uint32_t row,
			   const struct field *sort)
{
	struct value c;

	k->row = row;
	k->known = true;
	if (!sort)
		return;
	field_get(&c, sort, r, row);
	k->known = order_known(&c, sort);
	if (sort->kind == VALUE_GUID)
		k->guid = c.guid;
	else if (sort->kind != VALUE_TEXT)
		k->num = order_number(&c);
	else if (k->known) {
		snprintf(text, TEXT_LEN, "%s", c.text);
		k->text = text;
	}
}

static void *order_grow(void *p, size_t *cap, size_t n, size_t size)
{
	if (n <= *cap)
		return p;
	*cap = n;
	return xrealloc(p, n, size);
}

/* As a number whose order is that of order_key_cmp(): what is unknown last, figures highest first.
 */
static uint64_t order_rank_of(const struct rows *r, uint32_t row, const struct order *o)
{
	struct value c;

	if (o->text) {
		if (o->text[row] == TEXT_ORDER_NONE)
			return UINT64_MAX;
		return (uint64_t)(o->reverse ? UINT32_MAX - 1 - o->text[row] : o->text[row]) << 32;
	}
	field_get(&c, o->sort, r, row);
	if (!order_known(&c, o->sort))
		return UINT64_MAX;
	if (o->sort->kind == VALUE_GUID)
		return o->reverse ? ~c.guid : c.guid;
	return o->reverse ? row_rank_of(order_number(&c)) : ~row_rank_of(order_number(&c));
}

/* All rows of that kind in their natural order, once per fabric. */
static void order_natural_order(struct row_order *o, const struct rows *r)
{
	uint32_t n = rows_count(r);
	struct row_rank *tmp;
	uint64_t *rank;

	if (o->natural_of == r->s->fabric && o->natural_kind == r->kind && o->natural_n == n)
		return;
	rank = xcalloc(n + 1ull, sizeof(*rank));
	tmp = xcalloc(n * 3ull + 1, sizeof(*tmp));
	o->natural = xrealloc(o->natural, n + 1ull, sizeof(*o->natural));
	o->natural_of = r->s->fabric; /* o->fabric holds it */
	o->natural_kind = r->kind;
	o->natural_n = n;
	for (uint32_t i = 0; i < n; i++) {
		o->natural[i] = i;
		rank[i] = order_place_of(o, r, i);
	}
	row_sort(o->natural, rank, n, tmp);
	free(rank);
	free(tmp);
}

/* A table of all cables of a large fabric is sorted again with every sample. */
static void order_select_many(struct row_order *out, const struct rows *r,
			      const struct row_filter *filter, struct order *o)
{
	uint32_t n = rows_count(r);
	uint64_t *rank, *of_row = NULL;

	order_natural_order(out, r);
	if (o->sort && o->sort->kind == VALUE_TEXT)
		o->text = text_order(&out->by_text, r, n, o->sort, out->natural);
	/* ranks, and behind them what sorting needs */
	_Static_assert(sizeof(*rank) + 3 * sizeof(struct row_rank) <= KEY_LEN, "room for a rank");
	out->keys = rank = order_grow(out->keys, &out->keys_cap, n, KEY_LEN);
	/* all of them in the order of memory, before sorting needs that room */
	if (o->sort && !filter) {
		of_row = rank + n;
		for (uint32_t row = 0; row < n; row++)
			of_row[row] = order_rank_of(r, row, o);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = out->natural[o->sort || !o->reverse ? i : n - 1 - i];

		if (!rows_wanted(r, row) || !row_filter_match(filter, r, row))
			continue;
		if (o->sort)
			rank[out->n] = of_row ? of_row[row] : order_rank_of(r, row, o);
		out->row[out->n++] = row;
	}
	if (o->sort)
		row_sort(out->row, rank, out->n, (struct row_rank *)(rank + n));
}

void rows_select(struct row_order *out, const struct rows *r, const struct row_filter *filter,
		 const struct field *sort, bool reverse)
{
	uint32_t n = rows_count(r);
	struct order order = { sort, reverse, NULL };
	struct key *keys;

	out->n = 0;
	if (r->s->fabric)
		order_place_switches(out, r->s->fabric);
	out->row = order_grow(out->row, &out->cap, n, sizeof(*out->row));
	if (n >= MANY && r->s->fabric) {
		order_select_many(out, r, filter, &order);
		return;
	}
	_Static_assert(sizeof(*keys) <= KEY_LEN, "room for a key");
	out->keys = keys = order_grow(out->keys, &out->keys_cap, n, KEY_LEN);
	if (sort && sort->kind == VALUE_TEXT)
		out->texts = order_grow(out->texts, &out->texts_cap, n, TEXT_LEN);
	for (uint32_t i = 0; i < n; i++) {
		struct key *k = &keys[out->n];

		if (!rows_wanted(r, i) || !row_filter_match(filter, r, i))
			continue;
		order_make_key(k, out->texts ? out->texts + (size_t)TEXT_LEN * out->n : NULL, r, i,
			       sort);
		k->place = order_place_of(out, r, i);
		out->n++;
	}
	if (out->n)
		qsort_r(keys, out->n, sizeof(*keys), order_key_cmp, &order);
	for (uint32_t i = 0; i < out->n; i++)
		out->row[i] = keys[i].row;
}

void row_order_done(struct row_order *o)
{
	fabric_put(o->fabric);
	text_order_done(&o->by_text);
	free(o->place);
	free(o->natural);
	free(o->row);
	free(o->keys);
	free(o->texts);
	memset(o, 0, sizeof(*o));
}
