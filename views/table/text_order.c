/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/table/text_order.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/text/natural.h"

#include <stdlib.h>
#include <string.h>

#define ALWAYS UINT64_MAX /* version of what may be another text with every sample */

/* While it is the same, so are the texts of that field of one fabric. */
static uint64_t text_order_version_of(const struct rows *r, const struct field *field)
{
	static const char *const of_fabric[] = { "link", "port",  "a",	   "b",		  "kind",
						 "tier", "state", "speed", "description", "level" };
	static const char *const of_usage[] = { "lane_use", "jobs" };
	const struct link_usage *u = state_usage(r->s);

	if (r->kind == ROWS_SWITCHES && !strcmp(field->name, "name"))
		return 0;
	for (size_t i = 0; i < sizeof(of_fabric) / sizeof(*of_fabric); i++)
		if (!strcmp(field->name, of_fabric[i]))
			return 0;
	for (size_t i = 0; i < sizeof(of_usage) / sizeof(*of_usage); i++)
		if (!strcmp(field->name, of_usage[i]))
			return u ? u->serial : 0;
	return ALWAYS;
}

struct entry {
	uint32_t hash;
	char text[TEXT_ORDER_LEN];
};

/* Different texts, numbered as they come. */
struct words {
	struct entry *entry;
	uint32_t n, cap;
	uint32_t *slot; /* hash table of entries, + 1; size is a power of two */
	uint32_t size;
	uint32_t last;	       /* entry found last ... */
	const char *last_text; /* ... and its constant text */
};

/* FNV-1a; len: as much of the text as counts. */
static uint32_t text_order_hash(const char *text, size_t *len)
{
	uint32_t h = 2166136261u;
	size_t i;

	for (i = 0; text[i] && i < TEXT_ORDER_LEN - 1; i++)
		h = (h ^ (unsigned char)text[i]) * 16777619u;
	*len = i;
	return h;
}

static void text_order_grow(struct words *w)
{
	w->size = w->size ? w->size * 4 : 1024;
	free(w->slot);
	w->slot = xcalloc(w->size, sizeof(*w->slot));
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t at = w->entry[i].hash & (w->size - 1);

		while (w->slot[at])
			at = (at + 1) & (w->size - 1);
		w->slot[at] = i + 1;
	}
}

static uint32_t text_order_add(struct words *w, const char *text, size_t len, uint32_t h)
{
	struct entry *e;

	if (w->n == w->cap) {
		w->cap = w->cap ? w->cap * 4 : 256;
		w->entry = xrealloc(w->entry, w->cap, sizeof(*w->entry));
	}
	e = &w->entry[w->n++];
	e->hash = h;
	memcpy(e->text, text, len);
	e->text[len] = '\0';
	return w->n - 1;
}

static uint32_t text_order_word(struct words *w, const char *text)
{
	size_t len;
	uint32_t h = text_order_hash(text, &len), at;

	if (2 * w->n >= w->size)
		text_order_grow(w);
	at = h & (w->size - 1);
	for (; w->slot[at]; at = (at + 1) & (w->size - 1)) {
		const struct entry *e = &w->entry[w->slot[at] - 1];

		if (e->hash == h && !strncmp(e->text, text, TEXT_ORDER_LEN - 1))
			return w->slot[at] - 1;
	}
	w->slot[at] = w->n + 1;
	return text_order_add(w, text, len, h);
}

static uint32_t text_order_word_of(struct words *w, const struct value *c)
{
	if (c->text != c->buf && c->text == w->last_text)
		return w->last;
	w->last = text_order_word(w, c->text);
	w->last_text = c->text != c->buf ? c->text : NULL;
	return w->last;
}

static int text_order_number_cmp(const void *pa, const void *pb, void *ctx)
{
	const struct entry *e = ctx;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return natural_cmp(e[a].text, e[b].text);
}

/* Ranks of words that came in ascending order; false: they did not. */
static bool text_order_rank_ascending(uint32_t *rank, const struct words *w)
{
	for (uint32_t i = 1; i < w->n; i++) {
		int cmp = natural_cmp(w->entry[i - 1].text, w->entry[i].text);

		if (cmp > 0)
			return false;
		rank[i] = rank[i - 1] + (cmp != 0);
	}
	return true;
}

/* Ranks of words; those that compare as equal (n1, n01) share theirs. */
static uint32_t *text_order_ranks(const struct words *w)
{
	uint32_t *rank = xcalloc(w->n + 1ull, sizeof(*rank)), *by;

	if (text_order_rank_ascending(rank, w))
		return rank;
	by = xcalloc(w->n, sizeof(*by));
	for (uint32_t i = 0; i < w->n; i++)
		by[i] = i;
	qsort_r(by, w->n, sizeof(*by), text_order_number_cmp, w->entry);
	rank[by[0]] = 0;
	for (uint32_t i = 1; i < w->n; i++)
		rank[by[i]] = rank[by[i - 1]] +
			      (text_order_number_cmp(&by[i - 1], &by[i], w->entry) != 0);
	free(by);
	return rank;
}

static void text_order_read_texts(struct text_order *o, const struct rows *r,
				  const struct field *field, const uint32_t *natural)
{
	struct words w = { 0 };
	uint32_t *rank;
	struct value c;

	for (uint32_t i = 0; i < o->n; i++) {
		field_get(&c, field, r, natural[i]);
		o->rank[natural[i]] = c.text ? text_order_word_of(&w, &c) : TEXT_ORDER_NONE;
	}
	rank = text_order_ranks(&w);
	for (uint32_t i = 0; i < o->n; i++)
		if (o->rank[i] != TEXT_ORDER_NONE)
			o->rank[i] = rank[o->rank[i]];
	free(rank);
	free(w.entry);
	free(w.slot);
}

const uint32_t *text_order(struct text_order *o, const struct rows *r, uint32_t n,
			   const struct field *field, const uint32_t *natural)
{
	uint64_t version = text_order_version_of(r, field);

	if (o->field == field && o->n == n && o->version == version && version != ALWAYS)
		return o->rank;
	o->field = field;
	o->version = version;
	o->n = n;
	o->rank = xrealloc(o->rank, n + 1ull, sizeof(*o->rank));
	text_order_read_texts(o, r, field, natural);
	return o->rank;
}

void text_order_done(struct text_order *o)
{
	free(o->rank);
	memset(o, 0, sizeof(*o));
}
