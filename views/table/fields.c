/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/table/fields.h"

#include "fabric/base/mem.h"
#include "fabric/base/natural.h"
#include "views/canvas/text.h"
#include "views/sessions/sessions.h"
#include "views/table/fields_priv.h"
#include "views/table/row_filter.h"
#include "views/table/row_sort.h"
#include "views/table/text_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[ROW_KINDS] = { "links", "ports",	 "switches", "jobs",
					      "tiers", "events", "sessions", "actions" };

const char *row_kind_name(enum row_kind kind)
{
	return names[kind];
}

enum row_kind row_kind_find(const char *name)
{
	enum row_kind k = 0;

	while (k < ROW_KINDS && strcmp(names[k], name) != 0)
		k++;
	return k;
}

const struct field *fields_of(enum row_kind kind, size_t *n)
{
	static const struct field *const list[ROW_KINDS] = { fields_links,    fields_ports,
							     fields_switches, fields_jobs,
							     fields_tiers,    fields_events,
							     fields_sessions, fields_actions };
	static const size_t *const count[ROW_KINDS] = { &nfields_links,	   &nfields_ports,
							&nfields_switches, &nfields_jobs,
							&nfields_tiers,	   &nfields_events,
							&nfields_sessions, &nfields_actions };

	*n = *count[kind];
	return list[kind];
}

static bool fields_is_name(const char *a, const char *name, size_t len)
{
	return a && strlen(a) == len && !strncasecmp(a, name, len);
}

const struct field *field_find(enum row_kind kind, const char *name, size_t len)
{
	size_t n;
	const struct field *f = fields_of(kind, &n);

	for (size_t i = 0; i < n; i++)
		if (fields_is_name(f[i].name, name, len))
			return &f[i];
	for (size_t i = 0; i < n; i++)
		if (fields_is_name(f[i].alias, name, len))
			return &f[i];
	return NULL;
}

#define GUESS_LEN 24

/* Levenshtein distance in any case; names longer than GUESS_LEN are far from all. */
static unsigned fields_distance(const char *a, const char *b, size_t nb)
{
	size_t na = strlen(a);
	unsigned row[GUESS_LEN + 1];

	if (na > GUESS_LEN || nb > GUESS_LEN)
		return GUESS_LEN;
	for (size_t j = 0; j <= nb; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned diag = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned put = diag + (strncasecmp(&a[i - 1], &b[j - 1], 1) != 0);

			diag = row[j];
			put = put < row[j] + 1 ? put : row[j] + 1;
			row[j] = put < row[j - 1] + 1 ? put : row[j - 1] + 1;
		}
	}
	return row[nb];
}

const char *field_guess(enum row_kind kind, const char *name, size_t len)
{
	size_t n;
	const struct field *f = fields_of(kind, &n);
	const char *best = NULL;
	unsigned least = len > 4 ? 3 : 2;

	for (size_t i = 0; len > 1 && i < n; i++)
		for (int k = 0; k < 2; k++) {
			const char *a = k ? f[i].alias : f[i].name;

			if (a && fields_distance(a, name, len) < least) {
				least = fields_distance(a, name, len);
				best = f[i].name;
			}
		}
	for (size_t i = 0; !best && len > 1 && i < n; i++)
		if (!strncasecmp(f[i].name, name, len))
			best = f[i].name;
	return best;
}

bool field_begins(enum row_kind kind, const char *text)
{
	size_t n, len = strlen(text);
	const struct field *f = fields_of(kind, &n);

	for (size_t i = 0; len && i < n; i++)
		if (!strncasecmp(f[i].name, text, len) ||
		    (f[i].alias && !strncasecmp(f[i].alias, text, len)))
			return true;
	return false;
}

uint32_t rows_count(const struct rows *r)
{
	const struct state *s = r->s;

	switch (r->kind) {
	case ROWS_LINKS:
		return s->fabric ? s->fabric->nchan : 0;
	case ROWS_PORTS:
		return s->fabric ? s->fabric->nport : 0;
	case ROWS_SWITCHES:
		return s->fabric ? s->fabric->nsw : 0;
	case ROWS_JOBS:
		return r->v->jobs ? r->v->jobs->njob : 0;
	case ROWS_TIERS:
		return s->fabric ? r->v->ntier : 0;
	case ROWS_EVENTS:
		return s->events ? events_count(s->events) : 0;
	case ROWS_SESSIONS:
		return s->sessions ? s->sessions->nrow : 0;
	case ROWS_ACTIONS:
		return s->sessions ? s->sessions->naction : 0;
	case ROW_KINDS:
		break;
	}
	return 0;
}

bool rows_wanted(const struct rows *r, uint32_t row)
{
	const struct port *p;

	if (r->kind != ROWS_PORTS)
		return true;
	p = &r->s->fabric->port[row];
	return p->chan != FAB_NONE || p->term != FAB_NONE;
}

const char *rows_label(char *buf, const struct rows *r, uint32_t row)
{
	struct value c;

	switch (r->kind) {
	case ROWS_LINKS:
		return chan_label(buf, VALUE_LEN, r->s->fabric, row);
	case ROWS_PORTS:
		fields_ports[0].get(&c, r, row);
		memcpy(buf, c.buf, VALUE_LEN);
		break;
	case ROWS_SWITCHES:
		snprintf(buf, VALUE_LEN, "%s 0x%016lx %.100s",
			 switch_label(c.buf, NAME_LEN, r->s->fabric, row),
			 (unsigned long)r->s->fabric->sw_guid[row], r->s->fabric->sw_desc[row]);
		break;
	case ROWS_JOBS:
		job_label(buf, r, row);
		break;
	case ROWS_TIERS:
		snprintf(buf, VALUE_LEN, "%s", r->v->tier[row].name);
		break;
	case ROWS_EVENTS:
		snprintf(buf, VALUE_LEN, "%s %s", events_get(r->s->events, row)->area,
			 events_get(r->s->events, row)->text);
		break;
	case ROWS_SESSIONS:
		session_label(buf, r, row);
		break;
	case ROWS_ACTIONS:
		action_label(buf, r, row);
		break;
	case ROW_KINDS:
		break;
	}
	return buf;
}

bool value_known(const struct value *c, const struct field *f)
{
	if (f->kind == VALUE_TEXT)
		return c->text != NULL;
	return f->kind == VALUE_GUID ? c->guid != 0 : isfinite(c->num);
}

const char *value_text(char *buf, const struct value *c, const struct field *f)
{
	buf[0] = '\0';
	if (!value_known(c, f))
		return buf;
	switch (f->kind) {
	case VALUE_TEXT:
		return c->text;
	case VALUE_GUID:
		snprintf(buf, VALUE_LEN, "0x%016lx", (unsigned long)c->guid);
		break;
	case VALUE_FLAG:
		return c->num > 0.5 ? "yes" : "no";
	case VALUE_COUNT:
		snprintf(buf, VALUE_LEN, "%.0f", c->num);
		break;
	case VALUE_NUMBER:
		snprintf(buf, VALUE_LEN, "%.*f", f->decimals, c->num);
		break;
	}
	return buf;
}

/* --- order ------------------------------------------------------------------------------- */

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

static int fields_value_cmp(const struct key *a, const struct key *b, enum value_kind kind)
{
	if (kind == VALUE_TEXT)
		return natural_cmp(a->text, b->text);
	if (kind == VALUE_GUID)
		return a->guid < b->guid ? -1 : a->guid > b->guid;
	return a->num > b->num ? -1 : a->num < b->num;
}

static int fields_key_cmp(const void *pa, const void *pb, void *ctx)
{
	const struct key *a = pa, *b = pb;
	const struct order *o = ctx;
	int d = 0;

	if (a->known != b->known)
		return a->known ? -1 : 1;
	if (o->sort && a->known)
		d = fields_value_cmp(a, b, o->sort->kind);
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

static int fields_named_cmp(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;
	int d = natural_cmp(a->name, b->name);

	return d ? d : a->sw < b->sw ? -1 : 1;
}

/* The order of switches by name, once per fabric. */
static void fields_place_switches(struct row_order *o, const struct fabric *f)
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
	qsort(all, f->nsw, sizeof(*all), fields_named_cmp);
	for (uint32_t i = 0; i < f->nsw; i++)
		o->place[all[i].sw] = i;
	free(all);
}

static uint64_t fields_place_of(const struct row_order *o, const struct rows *r, uint32_t row)
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

static void fields_make_key(struct key *k, char *text, const struct rows *r, uint32_t row,
			    const struct field *sort)
{
	struct value c;

	k->row = row;
	k->known = true;
	if (!sort)
		return;
	field_get(&c, sort, r, row);
	k->known = value_known(&c, sort);
	if (sort->kind == VALUE_GUID)
		k->guid = c.guid;
	else if (sort->kind != VALUE_TEXT)
		k->num = c.num;
	else if (k->known) {
		snprintf(text, TEXT_LEN, "%s", c.text);
		k->text = text;
	}
}

static void *fields_grow(void *p, size_t *cap, size_t n, size_t size)
{
	if (n <= *cap)
		return p;
	*cap = n;
	return xrealloc(p, n, size);
}

/* As a number whose order is that of fields_key_cmp(): what is unknown last, figures highest first.
 */
static uint64_t fields_rank_of(const struct rows *r, uint32_t row, const struct order *o)
{
	struct value c;

	if (o->text) {
		if (o->text[row] == TEXT_ORDER_NONE)
			return UINT64_MAX;
		return (uint64_t)(o->reverse ? UINT32_MAX - 1 - o->text[row] : o->text[row]) << 32;
	}
	field_get(&c, o->sort, r, row);
	if (!value_known(&c, o->sort))
		return UINT64_MAX;
	if (o->sort->kind == VALUE_GUID)
		return o->reverse ? ~c.guid : c.guid;
	return o->reverse ? row_rank_of(c.num) : ~row_rank_of(c.num);
}

/* All rows of that kind in their natural order, once per fabric. */
static void fields_natural_order(struct row_order *o, const struct rows *r)
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
		rank[i] = fields_place_of(o, r, i);
	}
	row_sort(o->natural, rank, n, tmp);
	free(rank);
	free(tmp);
}

/* A table of all cables of a large fabric is sorted anew with every sample. */
static void fields_select_many(struct row_order *out, const struct rows *r,
			       const struct row_filter *filter, struct order *o)
{
	uint32_t n = rows_count(r);
	uint64_t *rank, *of_row = NULL;

	fields_natural_order(out, r);
	if (o->sort && o->sort->kind == VALUE_TEXT)
		o->text = text_order(&out->by_text, r, o->sort, out->natural);
	/* ranks, and behind them what sorting needs */
	_Static_assert(sizeof(*rank) + 3 * sizeof(struct row_rank) <= KEY_LEN, "room for a rank");
	out->keys = rank = fields_grow(out->keys, &out->keys_cap, n, KEY_LEN);
	/* all of them in the order of memory, before sorting needs that room */
	if (o->sort && !filter) {
		of_row = rank + n;
		for (uint32_t row = 0; row < n; row++)
			of_row[row] = fields_rank_of(r, row, o);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = out->natural[o->sort || !o->reverse ? i : n - 1 - i];

		if (!rows_wanted(r, row) || !row_filter_match(filter, r, row))
			continue;
		if (o->sort)
			rank[out->n] = of_row ? of_row[row] : fields_rank_of(r, row, o);
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
		fields_place_switches(out, r->s->fabric);
	out->row = fields_grow(out->row, &out->cap, n, sizeof(*out->row));
	if (n >= MANY && r->s->fabric) {
		fields_select_many(out, r, filter, &order);
		return;
	}
	_Static_assert(sizeof(*keys) <= KEY_LEN, "room for a key");
	out->keys = keys = fields_grow(out->keys, &out->keys_cap, n, KEY_LEN);
	if (sort && sort->kind == VALUE_TEXT)
		out->texts = fields_grow(out->texts, &out->texts_cap, n, TEXT_LEN);
	for (uint32_t i = 0; i < n; i++) {
		struct key *k = &keys[out->n];

		if (!rows_wanted(r, i) || !row_filter_match(filter, r, i))
			continue;
		fields_make_key(k, out->texts ? out->texts + (size_t)TEXT_LEN * out->n : NULL, r, i,
				sort);
		k->place = fields_place_of(out, r, i);
		out->n++;
	}
	if (out->n)
		qsort_r(keys, out->n, sizeof(*keys), fields_key_cmp, &order);
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
