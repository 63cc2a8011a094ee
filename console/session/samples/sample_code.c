/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/samples/sample_code.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

/* Bits of what is different in a port, beside one for each counter. */
#define DIFF_VALID (1u << CTR_COUNT)
#define DIFF_TIME  (1u << (CTR_COUNT + 1))

static void sample_code_room(struct bytes *b, size_t n)
{
	if (b->n + n <= b->cap)
		return;
	b->cap = (b->n + n) * 2;
	b->p = xrealloc(b->p, b->cap, 1);
}

void bytes_put_uint(struct bytes *b, uint64_t v)
{
	sample_code_room(b, 10);
	while (v >= 0x80) {
		b->p[b->n++] = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	b->p[b->n++] = (uint8_t)v;
}

void bytes_put_int(struct bytes *b, int64_t v)
{
	bytes_put_uint(b, ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0));
}

void bytes_put_raw(struct bytes *b, const void *p, size_t n)
{
	sample_code_room(b, n);
	memcpy(b->p + b->n, p, n);
	b->n += n;
}

uint64_t reader_get_uint(struct reader *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte;

		if (r->p == r->end)
			break;
		byte = *r->p++;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	r->bad = true;
	return 0;
}

int64_t reader_get_int(struct reader *r)
{
	uint64_t v = reader_get_uint(r);

	return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

bool reader_get_raw(struct reader *r, void *p, size_t n)
{
	if ((size_t)(r->end - r->p) < n) {
		r->bad = true;
		return false;
	}
	memcpy(p, r->p, n);
	r->p += n;
	return true;
}

static unsigned sample_code_differs(const struct port_counters *a, const struct port_counters *b,
				    uint64_t passed)
{
	unsigned mask = 0;

	for (int c = 0; c < CTR_COUNT; c++)
		mask |= (unsigned)(a->v[c] != b->v[c]) << c;
	if (a->valid != b->valid || a->wide != b->wide)
		mask |= DIFF_VALID;
	if (b->time_ns != a->time_ns + passed)
		mask |= DIFF_TIME;
	return mask;
}

static void sample_code_put_port(struct bytes *b, const struct port_counters *was,
				 const struct port_counters *p, unsigned mask, uint64_t passed)
{
	bytes_put_uint(b, mask);
	if (mask & DIFF_VALID) {
		bytes_put_uint(b, p->valid);
		bytes_put_uint(b, p->wide);
	}
	if (mask & DIFF_TIME)
		bytes_put_int(b, (int64_t)(p->time_ns - was->time_ns - passed));
	for (int c = 0; c < CTR_COUNT; c++)
		if (mask & 1u << c)
			bytes_put_int(b, (int64_t)(p->v[c] - was->v[c]));
}

uint8_t *sample_code_encode(size_t *len, const struct sample *before, const struct sample *s)
{
	static const struct port_counters none;
	uint64_t passed = before ? s->time_ns - before->time_ns : 0, same = 0;
	struct bytes b = { 0 };

	bytes_put_uint(&b, s->time_ns);
	bytes_put_uint(&b, s->took_ns);
	bytes_put_uint(&b, s->asked);
	bytes_put_uint(&b, s->answered);
	for (uint32_t i = 0; i < s->nport; i++) {
		const struct port_counters *was = before ? &before->port[i] : &none;
		unsigned mask = sample_code_differs(was, &s->port[i], passed);

		if (!mask) {
			same++;
			continue;
		}
		bytes_put_uint(&b, same);
		sample_code_put_port(&b, was, &s->port[i], mask, passed);
		same = 0;
	}
	*len = b.n;
	return xrealloc(b.p, b.n, 1);
}

static void sample_code_get_port(struct reader *r, struct port_counters *p)
{
	unsigned mask = (unsigned)reader_get_uint(r);

	if (mask & DIFF_VALID) {
		p->valid = (uint32_t)reader_get_uint(r);
		p->wide = (uint32_t)reader_get_uint(r);
	}
	if (mask & DIFF_TIME)
		p->time_ns += (uint64_t)reader_get_int(r);
	for (int c = 0; c < CTR_COUNT; c++)
		if (mask & 1u << c)
			p->v[c] += (uint64_t)reader_get_int(r);
}

struct sample *sample_code_decode(const struct fabric *f, const struct sample *before,
				  const uint8_t *code, size_t len)
{
	struct reader r = { code, code + len, false };
	struct sample *s = sample_new(f);
	uint64_t passed, at = 0;

	s->time_ns = reader_get_uint(&r);
	s->took_ns = reader_get_uint(&r);
	s->asked = (uint32_t)reader_get_uint(&r);
	s->answered = (uint32_t)reader_get_uint(&r);
	passed = before ? s->time_ns - before->time_ns : 0;
	for (uint32_t i = 0; before && i < s->nport; i++) {
		s->port[i] = before->port[i];
		s->port[i].time_ns += passed;
	}
	while (r.p < r.end && !r.bad) {
		at += reader_get_uint(&r);
		if (at >= s->nport)
			r.bad = true;
		else
			sample_code_get_port(&r, &s->port[at++]);
	}
	if (!r.bad)
		return s;
	sample_put(s);
	return NULL;
}
