/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/samples/sample_columns.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define COLUMN_VALID CTR_COUNT
#define COLUMN_TIME  (CTR_COUNT + 1)
#define COLUMNS	     (CTR_COUNT + 2)
#define WIDTH_MAX    8	/* bytes of a number */
#define CHUNK	     64 /* ports that are in the cache together */

/* The first byte of sample_code_encode() is 0 only of a sample from the moment of booting. */
static const uint8_t columns_magic[] = { 0, 'c', 'o', 'l', 1 };

struct columns_head {
	uint8_t magic[sizeof(columns_magic)];
	uint8_t less, width[COLUMNS], zero[6];
	uint64_t time_ns, took_ns, base_ns; /* base_ns: time_ns of what it has to be added to */
	uint32_t nport, asked, answered, zeros;
};

struct columns {
	struct columns_head head;
	const uint8_t *at[COLUMNS]; /* head.width of nport bytes each */
};

static uint64_t columns_zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0);
}

static int64_t columns_zagzig(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

static uint64_t columns_of_time(const struct sample *s, const struct port_counters *p)
{
	int64_t at = (int64_t)(p->time_ns / SAMPLE_COLUMNS_NS);

	return p->time_ns ? columns_zigzag(at - (int64_t)(s->time_ns / SAMPLE_COLUMNS_NS)) + 1 : 0;
}

static uint64_t columns_to_time(uint64_t sample_ns, uint64_t v)
{
	int64_t at = (int64_t)(sample_ns / SAMPLE_COLUMNS_NS);

	return v ? ((uint64_t)at + (uint64_t)columns_zagzig(v - 1)) * SAMPLE_COLUMNS_NS : 0;
}

static uint64_t columns_of_port(const struct sample *s, uint32_t port, int column)
{
	const struct port_counters *p = &s->port[port];

	if (column == COLUMN_VALID)
		return p->valid | (uint64_t)p->wide << 32;
	return column == COLUMN_TIME ? columns_of_time(s, p) : p->v[column];
}

/* --- writing --------------------------------------------------------------------------------- */

/* Appends the bytes that any of n numbers has, and returns how many these are. */
static uint8_t columns_put(uint8_t **to, const uint64_t *v, uint32_t n)
{
	uint64_t any = 0;
	uint8_t width;

	for (uint32_t i = 0; i < n; i++)
		any |= v[i];
	width = any ? (uint8_t)((71 - __builtin_clzll(any)) / 8) : 0;
	for (int k = 0; k < width; k++, *to += n)
		for (uint32_t i = 0; i < n; i++)
			(*to)[i] = (uint8_t)(v[i] >> 8 * k);
	return width;
}

uint8_t *sample_columns_encode(size_t *len, const struct sample *s)
{
	uint64_t *v = xcalloc(s->nport, sizeof(*v));
	uint8_t *out =
		xcalloc(sizeof(struct columns_head) + (size_t)s->nport * COLUMNS * WIDTH_MAX, 1);
	uint8_t *at = out + sizeof(struct columns_head);
	struct columns_head h = { .time_ns = s->time_ns,
				  .took_ns = s->took_ns,
				  .nport = s->nport,
				  .asked = s->asked,
				  .answered = s->answered };

	memcpy(h.magic, columns_magic, sizeof(h.magic));
	for (int c = 0; c < COLUMNS; c++) {
		for (uint32_t i = 0; i < s->nport; i++)
			v[i] = columns_of_port(s, i, c);
		h.width[c] = columns_put(&at, v, s->nport);
	}
	memcpy(out, &h, sizeof(h));
	free(v);
	*len = (size_t)(at - out);
	return xrealloc(out, *len, 1);
}

/* --- reading --------------------------------------------------------------------------------- */

bool sample_columns_are(const uint8_t *code, size_t len)
{
	return len >= sizeof(struct columns_head) &&
	       !memcmp(code, columns_magic, sizeof(columns_magic));
}

bool sample_columns_need_base(const uint8_t *code, size_t len)
{
	return sample_columns_are(code, len) && code[offsetof(struct columns_head, less)];
}

static bool columns_open(struct columns *c, const uint8_t *code, size_t len)
{
	const uint8_t *at = code + sizeof(c->head);
	size_t left = len - sizeof(c->head);

	if (!sample_columns_are(code, len))
		return false;
	memcpy(&c->head, code, sizeof(c->head));
	for (int i = 0; i < COLUMNS; i++) {
		size_t n = (size_t)c->head.nport * c->head.width[i];

		if (c->head.width[i] > WIDTH_MAX || n > left)
			return false;
		c->at[i] = at;
		at += n;
		left -= n;
	}
	return !left;
}

/* Of CHUNK ports: as many as the compiler can count. */
static void columns_get_byte(uint32_t half[CHUNK], const uint8_t *at, uint32_t n, int shift)
{
	if (n == CHUNK)
		for (uint32_t i = 0; i < CHUNK; i++)
			half[i] |= (uint32_t)at[i] << shift;
	else
		for (uint32_t i = 0; i < n; i++)
			half[i] |= (uint32_t)at[i] << shift;
}

/* The numbers of n ports of a column; halves, of which processors take more at a time. */
static void columns_get(uint64_t v[CHUNK], const struct columns *c, int column, uint32_t from,
			uint32_t n)
{
	const uint8_t *at = c->at[column] + from;
	uint32_t low[CHUNK] = { 0 }, high[CHUNK] = { 0 };

	for (int k = 0; k < c->head.width[column]; k++, at += c->head.nport)
		columns_get_byte(k < 4 ? low : high, at, n, k % 4 * 8);
	for (uint32_t i = 0; i < CHUNK; i++)
		v[i] = low[i] | (uint64_t)high[i] << 32;
}

/* Errors are exact, and so is what has hardly moved. */
static bool columns_is_traffic(int column)
{
	return column == CTR_TX_BYTES || column == CTR_RX_BYTES || column == CTR_TX_PKTS ||
	       column == CTR_RX_PKTS || column == CTR_TX_WAIT;
}

/* Without the digits below a part of what was counted since. */
static uint64_t columns_round(uint64_t v, uint64_t counted)
{
	uint64_t part = counted / SAMPLE_COLUMNS_PARTS;

	return part > 1 ? v & ~((1ull << (63 - __builtin_clzll(part))) - 1) : v;
}

struct columns_of_three {
	struct columns now, before, base;
	bool known, less; /* before, base */
};

static void columns_rounded(uint64_t *v, const struct columns_of_three *t, int column)
{
	bool round = t->known && columns_is_traffic(column);

	for (uint32_t from = 0; from < t->now.head.nport; from += CHUNK) {
		uint32_t n = t->now.head.nport - from < CHUNK ? t->now.head.nport - from : CHUNK;
		uint64_t now[CHUNK], before[CHUNK], base[CHUNK] = { 0 };

		columns_get(now, &t->now, column, from, n);
		if (round)
			columns_get(before, &t->before, column, from, n);
		if (t->less)
			columns_get(base, &t->base, column, from, n);
		for (uint32_t i = 0; i < n; i++) {
			uint64_t d = now[i] - base[i];

			if (round && now[i] > before[i] && now[i] >= base[i])
				d = columns_round(d, now[i] - before[i]);
			v[from + i] = t->less ? columns_zigzag((int64_t)d) : d;
		}
	}
}

static bool columns_open_whole(struct columns *c, struct columns_code code, uint32_t nport)
{
	return columns_open(c, code.byte, code.len) && !c->head.less &&
	       (!nport || c->head.nport == nport);
}

uint8_t *sample_columns_rounded(size_t *len, struct columns_code s, struct columns_code before,
				struct columns_code base)
{
	struct columns_of_three t = { .known = before.byte, .less = base.byte };
	struct columns_head h;
	uint8_t *out, *at;
	uint64_t *v;

	if (!columns_open_whole(&t.now, s, 0) ||
	    (t.known && !columns_open_whole(&t.before, before, t.now.head.nport)) ||
	    (t.less && !columns_open_whole(&t.base, base, t.now.head.nport)))
		return NULL;
	h = t.now.head;
	v = xcalloc(h.nport, sizeof(*v));
	out = xcalloc(sizeof(h) + (size_t)h.nport * COLUMNS * WIDTH_MAX, 1);
	at = out + sizeof(h);
	h.less = t.less;
	h.base_ns = t.less ? t.base.head.time_ns : 0;
	for (int c = 0; c < COLUMNS; c++) {
		columns_rounded(v, &t, c);
		h.width[c] = columns_put(&at, v, h.nport);
	}
	memcpy(out, &h, sizeof(h));
	free(v);
	*len = (size_t)(at - out);
	return xrealloc(out, *len, 1);
}

/* Adds the numbers to counters that are those of the base, or 0. */
static void columns_add_counter(struct port_counters *p, const uint64_t *v, int column, uint32_t n,
				bool less)
{
	for (uint32_t i = 0; i < n; i++)
		p[i].v[column] += less ? (uint64_t)columns_zagzig(v[i]) : v[i];
}

static void columns_add_valid(struct port_counters *p, const uint64_t *v, uint32_t n, bool less)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t is = (p[i].valid | (uint64_t)p[i].wide << 32) +
			      (less ? (uint64_t)columns_zagzig(v[i]) : v[i]);

		p[i].valid = (uint32_t)is;
		p[i].wide = (uint32_t)(is >> 32);
	}
}

static void columns_add_time(struct sample *s, const struct sample *base, const uint64_t *v,
			     uint32_t from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t is = base ? columns_of_time(base, &base->port[from + i]) +
					      (uint64_t)columns_zagzig(v[i])
				   : v[i];

		s->port[from + i].time_ns = columns_to_time(s->time_ns, is);
	}
}

static void columns_add(struct sample *s, const struct sample *base, const struct columns *c,
			uint32_t from, uint32_t n)
{
	struct port_counters *p = &s->port[from];

	if (base)
		memcpy(p, &base->port[from], n * sizeof(*p));
	for (int i = 0; i < COLUMNS; i++) {
		uint64_t v[CHUNK];

		if (!c->head.width[i] && i != COLUMN_TIME)
			continue;
		columns_get(v, c, i, from, n);
		if (i == COLUMN_VALID)
			columns_add_valid(p, v, n, base);
		else if (i == COLUMN_TIME)
			columns_add_time(s, base, v, from, n);
		else
			columns_add_counter(p, v, i, n, base);
	}
}

struct sample *sample_columns_decode(const struct fabric *f, const struct sample *base,
				     const uint8_t *code, size_t len)
{
	struct columns c;
	struct sample *s;

	if (!columns_open(&c, code, len) || c.head.nport != f->nport || !c.head.less != !base ||
	    (base && (base->nport != f->nport || base->time_ns != c.head.base_ns)))
		return NULL;
	s = sample_new(f);
	s->time_ns = c.head.time_ns;
	s->took_ns = c.head.took_ns;
	s->asked = c.head.asked;
	s->answered = c.head.answered;
	for (uint32_t from = 0; from < s->nport; from += CHUNK) {
		uint32_t n = s->nport - from < CHUNK ? s->nport - from : CHUNK;

		columns_add(s, base, &c, from, n);
	}
	return s;
}
