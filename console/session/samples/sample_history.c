/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/samples/sample_history.h"

#include "console/session/samples/sample_code.h"
#include "console/session/samples/sample_reading.h"
#include "fabric/base/memory/mem.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A backdrop is shared by neighbouring samples. */
struct scenery {
	struct backdrop b;
	size_t bytes;
	int refs;
};

/* Bytes of a sample; a copy of the history that another thread reads shares them. */
struct shared_code {
	atomic_uint refs;
	uint8_t *byte;
	size_t len;
};

struct slot {
	uint64_t time_ns;
	int64_t time_s;
	struct scenery *scenery;
	struct shared_code *code;
	bool whole;
};

struct sample_history {
	size_t bytes, bytes_max;
	uint32_t max;
	uint64_t first, next; /* serials: first..next-1 are kept */
	struct slot *slot;    /* of a serial: slot[serial % max] */
	const struct sample *last;
	uint32_t since_whole;
	struct mark mark[SAMPLE_HISTORY_MARKS];
	uint32_t nmark, marked;
	struct sample *read; /* decoded last: neighbours are asked for in turn */
	uint64_t read_serial;
};

/* --- shared things ------------------------------------------------------------------------- */

struct metrics_set *metrics_set_new(struct metrics *m, struct verdict *v, const struct jobset *jobs,
				    struct metrics_set *before)
{
	struct metrics_set *f = xcalloc(1, sizeof(*f));

	f->refs = 1;
	f->metrics = m;
	f->verdict = v;
	f->jobs = jobs;
	if (!v && before) {
		f->verdict_of = metrics_set_get(before->verdict_of ? before->verdict_of : before);
		f->verdict = f->verdict_of->verdict;
	}
	return f;
}

struct metrics_set *metrics_set_get(struct metrics_set *f)
{
	if (f)
		f->refs++;
	return f;
}

void metrics_set_put(struct metrics_set *f)
{
	if (!f || --f->refs)
		return;
	metrics_free(f->metrics);
	jobset_put(f->jobs);
	if (f->verdict_of)
		metrics_set_put(f->verdict_of);
	else
		verdict_free(f->verdict);
	free(f);
}

static bool sample_history_same_backdrop(const struct backdrop *a, const struct backdrop *b)
{
	return a->fabric == b->fabric && a->tables == b->tables && a->jobs == b->jobs &&
	       a->sls_known == b->sls_known;
}

static struct backdrop sample_history_backdrop_get(const struct backdrop *b)
{
	struct backdrop c = *b;

	fabric_get(c.fabric);
	if (c.tables)
		tables_get(c.tables);
	if (c.jobs)
		jobset_get(c.jobs);
	metrics_set_get(c.figures);
	return c;
}

static void sample_history_backdrop_put(struct backdrop *b)
{
	metrics_set_put(b->figures);
	jobset_put(b->jobs);
	tables_put(b->tables);
	fabric_put(b->fabric);
	memset(b, 0, sizeof(*b));
}

/* An estimate: tables, jobs and figures that only the history still holds. */
static size_t sample_history_backdrop_bytes(const struct backdrop *b, const struct backdrop *before)
{
	const struct fabric *f = b->fabric;
	size_t n = 0;

	if (b->tables && (!before || before->tables != b->tables))
		n += (size_t)f->nsw * (f->max_lid + 1u);
	for (uint32_t j = 0; b->jobs && j < b->jobs->njob; j++)
		n += 200 + b->jobs->jobs[j].nterm * sizeof(uint32_t) * 2;
	n += b->figures ? (size_t)f->nchan * 16 : 0;
	return n;
}

static void sample_history_scenery_put(struct sample_history *p, struct scenery *s)
{
	if (--s->refs)
		return;
	p->bytes -= s->bytes;
	sample_history_backdrop_put(&s->b);
	free(s);
}

static struct shared_code *sample_history_code_new(uint8_t *byte, size_t len)
{
	struct shared_code *c = xcalloc(1, sizeof(*c));

	atomic_init(&c->refs, 1);
	c->byte = byte;
	c->len = len;
	return c;
}

static void sample_history_code_put(struct shared_code *c)
{
	if (!c || atomic_fetch_sub(&c->refs, 1) != 1)
		return;
	free(c->byte);
	free(c);
}

/* --- the ring ------------------------------------------------------------------------------- */

struct sample_history *sample_history_new(size_t bytes_max, uint32_t samples_max)
{
	struct sample_history *p = xcalloc(1, sizeof(*p));

	p->bytes_max = bytes_max;
	p->max = samples_max > 2 * SAMPLE_HISTORY_GROUP ? samples_max : 2 * SAMPLE_HISTORY_GROUP;
	p->slot = xcalloc(p->max, sizeof(*p->slot));
	p->first = p->next = 1;
	return p;
}

static struct slot *sample_history_slot_of(const struct sample_history *p, uint64_t serial)
{
	return &p->slot[serial % p->max];
}

static void sample_history_drop_first(struct sample_history *p)
{
	struct slot *s = sample_history_slot_of(p, p->first);

	p->bytes -= s->code->len;
	sample_history_scenery_put(p, s->scenery);
	sample_history_code_put(s->code);
	memset(s, 0, sizeof(*s));
	p->first++;
}

/* Up to the next whole one: what follows can only be read from there. */
static void sample_history_drop_group(struct sample_history *p)
{
	do
		sample_history_drop_first(p);
	while (p->first < p->next && !sample_history_slot_of(p, p->first)->whole);
	while (p->nmark && p->mark[0].serial < p->first) {
		memmove(p->mark, p->mark + 1, (p->nmark - 1) * sizeof(*p->mark));
		p->nmark--;
	}
}

void sample_history_free(struct sample_history *p)
{
	if (!p)
		return;
	while (p->first < p->next)
		sample_history_drop_first(p);
	sample_put(p->last);
	sample_put(p->read);
	free(p->slot);
	free(p);
}

static struct scenery *sample_history_scenery_for(struct sample_history *p,
						  const struct backdrop *b)
{
	struct scenery *s =
		p->first < p->next ? sample_history_slot_of(p, p->next - 1)->scenery : NULL;
	struct scenery *n;

	if (s && sample_history_same_backdrop(&s->b, b)) {
		s->refs++;
		return s;
	}
	n = xcalloc(1, sizeof(*n));
	n->refs = 1;
	n->b = sample_history_backdrop_get(b);
	n->bytes = sample_history_backdrop_bytes(b, s ? &s->b : NULL);
	p->bytes += n->bytes;
	return n;
}

struct sample_history *sample_history_copy(const struct sample_history *p)
{
	struct sample_history *c = sample_history_new(p->bytes_max, p->max);

	c->first = c->next = p->first;
	for (; c->next < p->next; c->next++) {
		const struct slot *from = sample_history_slot_of(p, c->next);
		struct slot *to = sample_history_slot_of(c, c->next);
		struct backdrop b = from->scenery->b;

		b.figures = NULL; /* counted without a lock, by the thread that has p */
		*to = *from;
		to->scenery = sample_history_scenery_for(c, &b);
		atomic_fetch_add(&to->code->refs, 1);
		c->bytes += to->code->len;
	}
	memcpy(c->mark, p->mark, sizeof(c->mark));
	c->nmark = p->nmark;
	c->marked = p->marked;
	return c;
}

void sample_history_metrics(struct sample_history *p, const struct backdrop *b)
{
	struct scenery *last = NULL;

	for (uint64_t i = p->next; i-- > p->first;) {
		struct scenery *s = sample_history_slot_of(p, i)->scenery;

		if (s == last || s->b.tables != b->tables || s->b.jobs != b->jobs)
			continue;
		last = s;
		if (s->b.figures == b->figures)
			continue;
		metrics_set_put(s->b.figures);
		s->b.figures = metrics_set_get(b->figures);
	}
}

static bool sample_history_is_new(const struct sample_history *p, const struct sample *s)
{
	return p->first == p->next || sample_history_slot_of(p, p->next - 1)->time_ns < s->time_ns;
}

/* The next must be kept whole. */
static bool sample_history_must_be_whole(const struct sample_history *p, const struct sample *s)
{
	return !p->last || !digest_equal(&p->last->fingerprint, &s->fingerprint) ||
	       p->since_whole >= SAMPLE_HISTORY_GROUP || p->first == p->next;
}

/* Takes code. */
static void sample_history_do_add(struct sample_history *p, const struct backdrop *b,
				  const struct sample *s, int64_t time_s, const struct slot *coded)
{
	struct slot *to = sample_history_slot_of(p, p->next);

	*to = *coded;
	p->since_whole = to->whole ? 1 : p->since_whole + 1;
	to->time_ns = s->time_ns;
	to->time_s = time_s;
	to->scenery = sample_history_scenery_for(p, b);
	p->bytes += to->code->len;
	p->next++;
	sample_put(p->last);
	p->last = sample_get(s);
	while (p->bytes > p->bytes_max && p->next - p->first > 2 * SAMPLE_HISTORY_GROUP)
		sample_history_drop_group(p);
}

void sample_history_add(struct sample_history *p, const struct backdrop *b, const struct sample *s,
			int64_t time_s)
{
	struct slot coded = { 0 };
	uint8_t *byte;
	size_t len;

	if (!sample_history_is_new(p, s))
		return;
	if (p->next - p->first == p->max)
		sample_history_drop_group(p);
	coded.whole = sample_history_must_be_whole(p, s);
	byte = sample_code_encode(&len, coded.whole ? NULL : p->last, s);
	coded.code = sample_history_code_new(byte, len);
	sample_history_do_add(p, b, s, time_s, &coded);
}

void sample_history_add_reading(struct sample_history *p, const struct backdrop *b,
				struct sample_reading *r, int64_t time_s)
{
	struct slot coded = { .whole = r->whole };

	if (!r->code ||
	    (!r->whole && (sample_history_must_be_whole(p, r->sample) || r->before != p->last))) {
		sample_history_add(p, b, r->sample, time_s);
		return;
	}
	if (!sample_history_is_new(p, r->sample))
		return;
	if (p->next - p->first == p->max)
		sample_history_drop_group(p);
	coded.code = sample_history_code_new(r->code, r->len);
	r->code = NULL;
	sample_history_do_add(p, b, r->sample, time_s, &coded);
}

uint64_t sample_history_oldest(const struct sample_history *p)
{
	return p->first < p->next ? p->first : 0;
}

uint64_t sample_history_newest(const struct sample_history *p)
{
	return p->first < p->next ? p->next - 1 : 0;
}

uint32_t sample_history_count(const struct sample_history *p)
{
	return (uint32_t)(p->next - p->first);
}

size_t sample_history_bytes(const struct sample_history *p)
{
	return p->bytes;
}

uint64_t sample_history_find(const struct sample_history *p, uint64_t time_ns)
{
	for (uint64_t i = p->next; i-- > p->first;)
		if (sample_history_slot_of(p, i)->time_ns == time_ns)
			return i;
	return 0;
}

int64_t sample_history_time(const struct sample_history *p, uint64_t serial)
{
	return sample_history_slot_of(p, serial)->time_s;
}

/* The sample of a serial, from the whole one before it or from the one decoded last. */
static const struct sample *sample_history_do_decode(struct sample_history *p, uint64_t serial)
{
	uint64_t at = serial;
	struct sample *s = NULL;

	while (!sample_history_slot_of(p, at)->whole && at != p->read_serial)
		at--;
	if (p->read && at == p->read_serial) {
		s = p->read;
		p->read = NULL;
		p->read_serial = 0;
		at++;
	}
	for (; at <= serial; at++) {
		const struct slot *slot = sample_history_slot_of(p, at);
		struct sample *n =
			sample_code_decode(slot->scenery->b.fabric, slot->whole ? NULL : s,
					   slot->code->byte, slot->code->len);

		sample_put(s);
		s = n;
		if (!s)
			return NULL;
	}
	sample_put(p->read);
	p->read = s;
	p->read_serial = serial;
	return sample_get(s);
}

bool sample_history_get(struct snapshot_at *out, struct sample_history *p, uint64_t serial)
{
	const struct sample *before = NULL;
	const struct slot *s;

	memset(out, 0, sizeof(*out));
	if (serial < p->first || serial >= p->next)
		return false;
	s = sample_history_slot_of(p, serial);
	if (serial > p->first)
		before = sample_history_do_decode(p, serial - 1);
	out->sample = sample_history_do_decode(p, serial);
	if (!out->sample) {
		sample_put(before);
		return false;
	}
	out->serial = serial;
	out->time_s = s->time_s;
	out->was = sample_history_backdrop_get(&s->scenery->b);
	out->rates = rates_new(out->was.fabric, before, out->sample);
	sample_put(before);
	return true;
}

void snapshot_at_done(struct snapshot_at *m)
{
	rates_put(m->rates);
	sample_put(m->sample);
	sample_history_backdrop_put(&m->was);
	memset(m, 0, sizeof(*m));
}

/* --- bookmarks ------------------------------------------------------------------------------ */

bool sample_history_mark(struct sample_history *p, uint64_t serial, int64_t time_s,
			 const char *name)
{
	uint32_t at = p->nmark;
	struct mark m = { .serial = serial, .time_s = time_s };

	if (p->nmark == SAMPLE_HISTORY_MARKS)
		return false;
	if (name[0])
		snprintf(m.name, sizeof(m.name), "%s", name);
	else
		snprintf(m.name, sizeof(m.name), "%u", ++p->marked);
	while (at && p->mark[at - 1].serial > serial) {
		p->mark[at] = p->mark[at - 1];
		at--;
	}
	p->mark[at] = m;
	p->nmark++;
	return true;
}

uint32_t sample_history_marks(const struct sample_history *p, const struct mark **out)
{
	*out = p->mark;
	return p->nmark;
}

const char *sample_history_mark_name(const struct sample_history *p, uint64_t serial)
{
	const struct mark *mark;
	uint32_t n = sample_history_marks(p, &mark);

	for (uint32_t i = 0; i < n; i++)
		if (mark[i].serial == serial)
			return mark[i].name;
	return "";
}
